"""The step of ``flowd install`` that makes TAB complete both commands in the person's shell."""

import argparse
import os
from pathlib import Path

from flowd.cli.completion import MARK, script_for
from flowd.config.paths import Paths, make_private_dir
from flowd.system.errors import FlowdError
from flowd.system.files import atomic_write

COMMANDS = ("flowd", "flow")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option that selects this step."""
    parser.add_argument(
        "--completion", action="store_true", help="have TAB complete both commands in your shell"
    )


def install(_: Paths, arguments: argparse.Namespace) -> None:
    """Write the files that bash and fish load by themselves; print the line that zsh needs."""
    if not arguments.completion:
        return
    shell = shell_name()
    if shell not in ("bash", "fish"):
        print(f"for {shell}, add this to its start file:  source <(flowd completion zsh)")
        return
    for file in files_of(shell):
        if file.exists() and MARK not in _text_of(file):
            raise FlowdError(f"{file} is not flowd's", hint="move it away, then run the command again")
        print(f"{'would write' if arguments.dry_run else 'wrote'}  {file}")
        if not arguments.dry_run:
            make_private_dir(file.parent)
            atomic_write(file, script_for(shell), mode=0o644)


def uninstall(_: Paths, arguments: argparse.Namespace) -> None:
    """Remove the files that flowd wrote."""
    for file in (file for shell in ("bash", "fish") for file in files_of(shell)):
        if file.is_file() and MARK in _text_of(file):
            print(f"{'would remove' if arguments.dry_run else 'removed'}  {file}")
            if not arguments.dry_run:
                file.unlink()


def shell_name() -> str:
    """Return the name of the person's shell."""
    return os.path.basename(os.environ.get("SHELL", "")) or "bash"


def files_of(shell: str) -> list[Path]:
    """Return the file of each command that *shell* loads when TAB is pressed after it."""
    data, config = os.environ.get("XDG_DATA_HOME"), os.environ.get("XDG_CONFIG_HOME")
    if shell == "fish":
        root = (Path(config) if config else Path.home() / ".config") / "fish" / "completions"
        return [root / f"{name}.fish" for name in COMMANDS]
    root = (Path(data) if data else Path.home() / ".local/share") / "bash-completion" / "completions"
    return [root / name for name in COMMANDS]


def _text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
