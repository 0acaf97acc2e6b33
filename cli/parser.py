"""Describe commands to argparse: verbs that are imported when used, and errors that say what was meant."""

import argparse
import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from flowd import __version__
from flowd.system.errors import FlowdError

Run = Callable[[argparse.Namespace], int]
MAX_COUNT = 1_000_000
HELP_COLUMN = 20


class UsageError(FlowdError):
    """A command line that the command does not understand."""


class Verb(NamedTuple):
    """A verb: where it is (``module`` or ``module:function``, default ``add_parser``), and its help."""

    place: str
    help: str


class Command(NamedTuple):
    """A command: its name, its texts, its verbs, and the verb that runs when none is given."""

    prog: str
    about: str
    examples: str
    verbs: Mapping[str, Verb]
    default: str = ""


class Parser(argparse.ArgumentParser):
    """argparse that raises UsageError, with the nearest word and what to run next."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with a hint."""
        what, _, meant = message.partition("\n")
        raise UsageError(what, hint=f"{meant}try: {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = None if action.choices is None else [str(choice) for choice in action.choices]
        if choices is not None and str(value) not in choices:
            meant = f"\n{did_you_mean(str(value), choices)}"
            listed = ", ".join(choices)
            raise argparse.ArgumentError(action, f"{value!r} is not one of {listed}{meant}")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Print each verb and its help on one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=HELP_COLUMN)
        # argparse ignores the indentation of verbs when it looks for the longest one.
        self._action_max_length = HELP_COLUMN - 2


def add_verb(
    subparsers: Any,
    name: str,
    help: str,  # noqa: A002 argparse's own word
    description: str,
    run: Run | None = None,
    *,
    examples: str = "",
    json: str = "",
) -> argparse.ArgumentParser:
    """Add the verb *name*, executed by *run*; *json* is the help of its ``--json``, if it has one."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=help,
        description=description,
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if json:
        parser.add_argument("--json", action="store_true", help=json)
    parser.set_defaults(verb_parser=parser)
    if run is not None:
        parser.set_defaults(run=run)
    return parser


def examples_of(examples: str, operation: str) -> str:
    """Return those lines of the *examples* of a verb that show its *operation*."""
    return "".join(f"{line}\n" for line in examples.splitlines() if line.split()[2:3] == [operation])


def count_of(text: str) -> int:
    """Return *text* as a number of at least 1, for ``type=`` of an option."""
    number = int(text) if text.lstrip("+-").isdecimal() else 0
    if not 1 <= number <= MAX_COUNT:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {MAX_COUNT:,}")
    return number


def add_from(place: str, subparsers: Any) -> None:
    """Add the verb at *place*, importing its module."""
    module, _, function = place.partition(":")
    getattr(importlib.import_module(module), function or "add_parser")(subparsers)


def parse(command: Command, arguments: list[str]) -> argparse.Namespace:
    """Return the parsed arguments; the module of the given verb is the only one imported."""
    parser = _parser(command, arguments[:1])
    chosen, extra = parser.parse_known_args(arguments)
    if extra:
        used: argparse.ArgumentParser = getattr(chosen, "verb_parser", parser)
        meant = did_you_mean(extra[0], used._option_string_actions)  # noqa: SLF001 there is no public list
        used.error(f"unrecognized arguments: {' '.join(extra)}\n{meant}")
    return chosen


def _parser(command: Command, first: list[str]) -> Parser:
    parser = Parser(
        prog=command.prog,
        usage=f"{command.prog} [-h] [-V] [-C DIR] VERB ...",
        description=command.about,
        epilog=f"{command.examples}\n`{command.prog} help VERB` has the options and examples of a verb.",
        formatter_class=_Help,
    )
    version = f"{command.prog} {__version__}"
    parser.add_argument("-V", "--version", action="version", version=version, help="print the version")
    parser.add_argument("-C", metavar="DIR", help="run as if started in DIR")
    subparsers = parser.add_subparsers(prog=command.prog, metavar="VERB", title="commands")
    if first and first[0] in command.verbs:
        add_from(command.verbs[first[0]].place, subparsers)
    else:
        for name, verb in command.verbs.items():
            subparsers.add_parser(name, help=verb.help, add_help=False)
    return parser


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean ...? `` with the words of *known* that are like *word*, empty without any."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=2, cutoff=0.6)
    return f"did you mean {' or '.join(near)}? " if near else ""
