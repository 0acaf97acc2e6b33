"""The commands as their parsers describe them: the source of docs/commands.md and of the man pages."""

import argparse
import importlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from flowd.cli import flow, flowd


class Argument(NamedTuple):
    """An argument or an option: how it is written, and its help."""

    written: str
    about: str
    is_option: bool


class Verb(NamedTuple):
    """A verb, or a verb below one: the words that lead to it and everything its parser knows."""

    words: tuple[str, ...]
    about: str
    description: str
    arguments: tuple[Argument, ...]
    examples: str

    @property
    def synopsis(self) -> str:
        """The command line in one line."""
        options = ["[options]"] if any(each.is_option for each in self.arguments) else []
        positional = [each.written for each in self.arguments if not each.is_option]
        return " ".join([*self.words, *options, *positional])


class Command(NamedTuple):
    """``flow`` or ``flowd`` with all its verbs."""

    name: str
    about: str
    examples: str
    verbs: tuple[Verb, ...]


def commands() -> tuple[Command, ...]:
    """Return both commands."""
    return _command("flowd", flowd), _command("flow", flow)


def _command(name: str, module: Any) -> Command:
    parser = argparse.ArgumentParser(prog=name)
    subparsers = parser.add_subparsers()
    verbs: Mapping[str, Any] = module.VERBS
    for verb in verbs.values():
        place, _, function = str(getattr(verb, "place", verb)).partition(":")
        getattr(importlib.import_module(place), function or "add_parser")(subparsers)
    _, _, about = (
        module.ABOUT.partition(": ") if module.ABOUT.startswith(f"{name}: ") else ("", "", module.ABOUT)
    )
    return Command(name, about.strip(), _examples(module.EXAMPLES), tuple(_verbs((name,), subparsers)))


def _verbs(words: tuple[str, ...], subparsers: Any) -> Iterator[Verb]:
    helps = {choice.dest: choice.help or "" for choice in subparsers._choices_actions}
    for name, parser in subparsers.choices.items():
        path = (*words, name)
        below = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
        shown = [each for each in parser._actions if _is_shown(each)]
        yield Verb(
            path,
            helps.get(name, ""),
            (parser.description or helps.get(name, "")).strip(),
            tuple(_argument(parser, action) for action in shown),
            _examples(parser.epilog or ""),
        )
        for each in below:
            yield from _verbs(path, each)


def _is_shown(action: argparse.Action) -> bool:
    hidden = isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
    return not hidden and action.help != argparse.SUPPRESS


def _argument(parser: argparse.ArgumentParser, action: argparse.Action) -> Argument:
    values = {**vars(action), "prog": parser.prog}
    about = (action.help or "") % values if action.help else ""
    if not action.option_strings:
        return Argument(_repeated(action, _value(action)), about, is_option=False)
    value = f" {_repeated(action, _value(action))}" if action.nargs != 0 else ""
    return Argument(", ".join(action.option_strings) + value, about, is_option=True)


def _value(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None:
        return "|".join(str(choice) for choice in action.choices)
    return action.dest.upper().replace("_", "-")


def _repeated(action: argparse.Action, value: str) -> str:
    return {"?": f"[{value}]", "*": f"[{value} ...]", "+": f"{value} ..."}.get(str(action.nargs), value)


def _examples(text: str) -> str:
    _, _, examples = text.partition("examples:\n") if "examples:\n" in text else ("", "", text)
    return examples.strip("\n")
