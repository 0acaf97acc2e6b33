"""``flowd completion``: print a script that completes the verbs and options of ``flowd`` and ``flow``."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flowd.cli.parser import UsageError, add_from, add_verb
from flowd.cli.parser import Verb as CommandVerb


class Word(NamedTuple):
    """A verb, an option or a fixed value, with its help."""

    text: str
    about: str = ""
    values: tuple[str, ...] = ()


class CompletedVerb(NamedTuple):
    """A command or verb with the words that may follow it."""

    word: Word
    options: tuple[Word, ...]
    values: tuple[Word, ...]
    verbs: tuple["CompletedVerb", ...]

    def walk(self, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], "CompletedVerb"]]:
        """Yield this verb and all below it, each with the words that lead to it."""
        path = (*before, self.word.text)
        yield path, self
        for verb in self.verbs:
            yield from verb.walk(path)


def words_of(prog: str, verbs: Mapping[str, CommandVerb]) -> CompletedVerb:
    """Return the words of the command *prog*; *verbs* is its table of verbs."""
    parser = argparse.ArgumentParser(prog=prog)
    parser.add_argument("--version", action="version", help="the version")
    subparsers = parser.add_subparsers()
    for verb in verbs.values():
        add_from(verb.place, subparsers)
    return _verb(Word(prog), parser)


def _verb(word: Word, parser: argparse.ArgumentParser) -> CompletedVerb:
    options: list[Word] = []
    values: list[Word] = []
    verbs: list[CompletedVerb] = []
    for action in parser._actions:  # noqa: SLF001 argparse has no public way to list them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 same
            verbs += _verbs(action)
        elif action.help != argparse.SUPPRESS:
            choices = tuple(str(choice) for choice in action.choices or ())
            options += [Word(option, action.help or "", choices) for option in action.option_strings]
            values += [] if action.option_strings else map(Word, choices)
    return CompletedVerb(word, tuple(options), tuple(values), tuple(verbs))


def _verbs(action: "argparse._SubParsersAction[argparse.ArgumentParser]") -> list[CompletedVerb]:
    about = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001 same
    return [_verb(Word(name, about.get(name, "")), parser) for name, parser in action.choices.items()]


BASH = """\
# TAB completion for flowd and flow, printed by `flowd completion bash`.
_flowd_words() {{
    case "$1" in
{cases}
    esac
}}
_flowd_option_values() {{
    case "$1" in
{option_cases}
    esac
}}
_flowd_ids() {{
    case "$1" in
{id_cases}
    esac
}}
_flowd() {{
    local path="${{COMP_WORDS[0]##*/}}" flowd="${{COMP_WORDS[0]%flow*}}flowd" word i words kind
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${{COMP_WORDS[i]}}"
        case "$word" in
        -*) ;;
        *) [ -n "$(_flowd_words "$path $word")" ] && path="$path $word" ;;
        esac
    done
    words="$(_flowd_option_values "$path ${{COMP_WORDS[COMP_CWORD - 1]}}")"
    kind="$(_flowd_ids "$path")"
    [ -z "$words" ] && words="$(_flowd_words "$path")"
    case "${{COMP_WORDS[COMP_CWORD]}}" in
    -*) ;;
    *) [ -n "$kind" ] && words="$words $("$flowd" completion --ids "$kind" 2>/dev/null)" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _flowd flowd flow
"""
ZSH = """\
# TAB completion for flowd and flow, printed by `flowd completion zsh`.
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
autoload -Uz bashcompinit && bashcompinit
{bash}"""


def bash(commands: Sequence[CompletedVerb]) -> str:
    """Return a script for bash 3.2, as on macOS, and newer."""
    found = [(" ".join(path), verb) for command in commands for path, verb in command.walk()]
    cases = {path: " ".join(_following(verb)) for path, verb in found}
    option_cases = {
        f"{path} {option.text}": " ".join(option.values)
        for path, verb in found
        for option in verb.options
        if option.values
    }
    parts = {"cases": cases, "option_cases": option_cases, "id_cases": IDS}
    return BASH.format(**{name: _bash_cases(part) for name, part in parts.items()})


def _bash_cases(cases: Mapping[str, str]) -> str:
    return "\n".join(f"    '{words}') echo '{answer}' ;;" for words, answer in cases.items())


def zsh(commands: Sequence[CompletedVerb]) -> str:
    """Return the bash script, wrapped for zsh."""
    return ZSH.format(bash=bash(commands))


def fish(commands: Sequence[CompletedVerb]) -> str:
    """Return one ``complete`` line per word, with its help."""
    lines = ["# TAB completion for flowd and flow, printed by `flowd completion fish`."]
    for command in commands:
        lines.append(f"complete -c {command.word.text} -f")
        for path, verb in command.walk():
            lines += _fish_lines(path, verb)
    return "\n".join(lines) + "\n"


SCRIPTS: dict[str, Callable[[Sequence[CompletedVerb]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _following(verb: CompletedVerb) -> list[str]:
    words = [*(below.word for below in verb.verbs), *verb.values, *verb.options]
    return list(dict.fromkeys(word.text for word in words))


def _fish_lines(path: tuple[str, ...], verb: CompletedVerb) -> list[str]:
    start = f"complete -c {path[0]} -n '{_fish_condition(path, verb)}'"
    words = [*(below.word for below in verb.verbs), *verb.values]
    lines = [f"{start} -a {word.text}{_fish_about(word.about)}" for word in words]
    for option in verb.options:
        kind = f"-l {option.text[2:]}" if option.text.startswith("--") else f"-s {option.text[1:]}"
        values = f" -x -a '{' '.join(option.values)}'" if option.values else ""
        lines.append(f"{start} {kind}{values}{_fish_about(option.about)}")
    if known := IDS.get(" ".join(path)):
        lines.append(f"{start} -a '(flowd completion --ids {known} 2>/dev/null)'")
    return lines


def _fish_condition(path: tuple[str, ...], verb: CompletedVerb) -> str:
    seen = [f"__fish_seen_subcommand_from {word}" for word in path[1:]]
    below = " ".join(deeper.word.text for deeper in verb.verbs)
    unseen = [f"not __fish_seen_subcommand_from {below}"] if below else []
    return "; and ".join(seen + unseen)


def _fish_about(about: str) -> str:
    plain = about.replace("%%", "%").replace("\\", "\\\\").replace("'", "\\'")
    return f" -d '{plain}'" if plain else ""


def script_for(shell: str) -> str:
    """Return the script for *shell*."""
    from flowd.cli import flow, flowd

    return SCRIPTS[shell]([words_of("flowd", flowd.VERBS), words_of("flow", flow.VERBS)])


# Which ids follow a verb, by a name that `flowd completion --ids` knows.
IDS = {
    "flow thread get": "threads",
    "flow thread add": "threads",
    "flow thread read": "threads",
    "flow thread close": "threads",
    "flow extract": "sessions",
    "flow knowledge show": "nodes",
    "flow knowledge pin": "nodes",
    "flow knowledge forget": "nodes",
    "flowd retry": "sinks",
    "flowd config set": "settings",
    "flowd config unset": "settings",
}
MAX_IDS = 50


def ids(kind: str) -> list[str]:
    """Return the ids of *kind*, the latest first."""
    from flowd.actions.context import Context
    from flowd.config.settings import dotted_items
    from flowd.sinks.registry import make_sinks
    from flowd.store.knowledge.search import NodeQuery, search
    from flowd.store.threads.threads import Threads

    with Context() as context:
        match kind:
            case "threads":
                return [row.id for row in Threads(context.database, wait_s=0).listed()]
            case "sessions":
                return [state.session_id for state in context.journal.latest_states(MAX_IDS)]
            case "nodes":
                return [node.id for node in search(context.database, NodeQuery(most=MAX_IDS))]
            case "sinks":
                sinks = make_sinks(context.database, context.live_settings, context.redact)
                return [sink.name for sink in sinks]
            case _:
                return [key for key, _ in dotted_items(context.settings)]


MARK = "printed by `flowd completion"
EXAMPLES = """\
  flowd install --completion                   in the right place for your shell
  flowd completion bash > ~/.local/share/bash-completion/completions/flowd
  flowd completion bash > ~/.local/share/bash-completion/completions/flow
  echo 'source <(flowd completion bash)' >> ~/.bashrc
  echo 'source <(flowd completion zsh)' >> ~/.zshrc
  flowd completion fish > ~/.config/fish/completions/flowd.fish
  flowd completion fish > ~/.config/fish/completions/flow.fish
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
    parser.add_argument("shell", nargs="?", choices=list(SCRIPTS), help="your shell")
    parser.add_argument("--ids", choices=sorted(set(IDS.values())), help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Print the script, or ids for it."""
    if arguments.ids:
        print("\n".join(ids(arguments.ids)))
        return 0
    if arguments.shell is None:
        raise UsageError(f"name your shell: {', '.join(SCRIPTS)}", hint="try: flowd completion bash")
    print(script_for(arguments.shell), end="")
    return 0
