"""Completion scripts for bash, zsh and fish, made from the words of the commands."""

from collections.abc import Callable, Sequence

from flowd.cli.completion_words import Verb

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
    """Return a script for bash 3.2 (the Mac's own) and newer."""
    cases = [
        f"    '{' '.join(path)}') echo '{' '.join(_following(verb))}' ;;"
        for command in commands
        for path, verb in command.walk()
    ]
    return BASH.format(cases="\n".join(cases))


def zsh(commands: Sequence[Verb]) -> str:
    """Return the bash script in zsh's own wrapping for such."""
    return ZSH.format(bash=bash(commands))


def fish(commands: Sequence[Verb]) -> str:
    """Return one ``complete`` line per word, with its help beside it."""
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
