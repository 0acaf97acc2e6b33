"""``flowd completion``: verbs and options of ``flowd`` and ``flow`` for the shell's TAB key."""

import argparse
from typing import Any

from flowd.cli.completion_scripts import SCRIPTS

EXAMPLES = """\
examples:
  flowd completion bash > ~/.local/share/bash-completion/completions/flowd
  echo 'source <(flowd completion bash)' >> ~/.bashrc
  echo 'source <(flowd completion zsh)' >> ~/.zshrc
  flowd completion fish > ~/.config/fish/completions/flowd.fish
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "completion",
        help="make TAB complete flowd and flow",
        description="Print a script that teaches your shell the words of flowd and flow.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=list(SCRIPTS), help="your shell")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script; the words come from the parsers themselves."""
    from flowd.cli import flow, flowd
    from flowd.cli.completion_words import words_of

    commands = [words_of("flowd", flowd.VERBS), words_of("flow", flow.VERBS)]
    print(SCRIPTS[arguments.shell](commands), end="")
    return 0
