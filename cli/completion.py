"""``flowd completion``: print a script that completes the verbs and options of ``flowd`` and ``flow``."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flowd.cli import parser as cli_parser
from flowd.cli.parser import add_from, add_verb


class Word(NamedTuple):
    """A verb, an option or a fixed value, with its help."""

    text: str
    about: str = ""


class Verb(NamedTuple):
    """A command or verb with the words that may follow it."""

    word: Word
    options: tuple[Word, ...]
    values: tuple[Word, ...]
    verbs: tuple["Verb", ...]

    def walk(self, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], "Verb"]]:
        """Yield this verb and all below it, each with the words that lead to it."""
        path = (*before, self.word.text)
        yield path, self
        for verb in self.verbs:
            yield from verb.walk(path)


def words_of(prog: str, verbs: Mapping[str, cli_parser.Verb]) -> Verb:
    """Return the words of the command *prog*; *verbs* is its table of verbs."""
    parser = argparse.ArgumentParser(prog=prog)
    parser.add_argument("--version", action="version", help="the version")
    subparsers = parser.add_subparsers()
    for verb in verbs.values():
        add_from(verb.place, subparsers)
    return _verb(Word(prog), parser)


def _verb(word: Word, parser: argparse.ArgumentParser) -> Verb:
    options: list[Word] = []
    values: list[Word] = []
    verbs: list[Verb] = []
    for action in parser._actions:  # noqa: SLF001 argparse has no public way to list them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 same
            verbs += _verbs(action)
        else:
            options += [Word(option, action.help or "") for option in action.option_strings]
            values += [Word(str(choice)) for choice in action.choices or ()]
    return Verb(word, tuple(options), tuple(values), tuple(verbs))


def _verbs(action: "argparse._SubParsersAction[argparse.ArgumentParser]") -> list[Verb]:
    about = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001 same
    return [_verb(Word(name, about.get(name, "")), parser) for name, parser in action.choices.items()]


BASH = """\
# TAB completion for flowd and flow, printed by `flowd completion bash`.
_flowd_words() {{
    case "$1" in
{cases}
    esac
}}
_flowd() {{
    local path="${{COMP_WORDS[0]##*/}}" word i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${{COMP_WORDS[i]}}"
        case "$word" in
        -*) ;;
        *) [ -n "$(_flowd_words "$path $word")" ] && path="$path $word" ;;
        esac
    done
    COMPREPLY=($(compgen -W "$(_flowd_words "$path")" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _flowd flowd flow
"""
ZSH = """\
# TAB completion for flowd and flow, printed by `flowd completion zsh`.
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
autoload -Uz bashcompinit && bashcompinit
{bash}"""


def bash(commands: Sequence[Verb]) -> str:
    """Return a script for bash 3.2, as on macOS, and newer."""
    cases = [
        f"    '{' '.join(path)}') echo '{' '.join(_following(verb))}' ;;"
        for command in commands
        for path, verb in command.walk()
    ]
    return BASH.format(cases="\n".join(cases))


def zsh(commands: Sequence[Verb]) -> str:
    """Return the bash script, wrapped for zsh."""
    return ZSH.format(bash=bash(commands))


def fish(commands: Sequence[Verb]) -> str:
    """Return one ``complete`` line per word, with its help."""
    lines = ["# TAB completion for flowd and flow, printed by `flowd completion fish`."]
    for command in commands:
        lines.append(f"complete -c {command.word.text} -f")
        for path, verb in command.walk():
            lines += _fish_lines(path, verb)
    return "\n".join(lines) + "\n"


SCRIPTS: dict[str, Callable[[Sequence[Verb]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _following(verb: Verb) -> list[str]:
    words = [*(below.word for below in verb.verbs), *verb.values, *verb.options]
    return list(dict.fromkeys(word.text for word in words))


def _fish_lines(path: tuple[str, ...], verb: Verb) -> list[str]:
    start = f"complete -c {path[0]} -n '{_fish_condition(path, verb)}'"
    words = [*(below.word for below in verb.verbs), *verb.values]
    lines = [f"{start} -a {word.text}{_fish_about(word.about)}" for word in words]
    for option in verb.options:
        kind = f"-l {option.text[2:]}" if option.text.startswith("--") else f"-s {option.text[1:]}"
        lines.append(f"{start} {kind}{_fish_about(option.about)}")
    return lines


def _fish_condition(path: tuple[str, ...], verb: Verb) -> str:
    seen = [f"__fish_seen_subcommand_from {word}" for word in path[1:]]
    below = " ".join(deeper.word.text for deeper in verb.verbs)
    unseen = [f"not __fish_seen_subcommand_from {below}"] if below else []
    return "; and ".join(seen + unseen)


def _fish_about(about: str) -> str:
    plain = about.replace("%%", "%").replace("\\", "\\\\").replace("'", "\\'")
    return f" -d '{plain}'" if plain else ""


EXAMPLES = """\
  flowd completion bash > ~/.local/share/bash-completion/completions/flowd
  echo 'source <(flowd completion bash)' >> ~/.bashrc
  echo 'source <(flowd completion zsh)' >> ~/.zshrc
  flowd completion fish > ~/.config/fish/completions/flowd.fish
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flowd completion``."""
    parser = add_verb(
        subparsers,
        "completion",
        "print a shell completion script",
        "Print a script that makes TAB complete the verbs and options of flowd and flow.",
        run,
        examples=EXAMPLES,
    )
    parser.add_argument("shell", choices=list(SCRIPTS), help="your shell")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    from flowd.cli import flow, flowd

    commands = [words_of("flowd", flowd.VERBS), words_of("flow", flow.VERBS)]
    print(SCRIPTS[arguments.shell](commands), end="")
    return 0
