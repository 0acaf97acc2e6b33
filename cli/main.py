"""Run a command: describe its verbs, find the one given, run it, report every error in one clear line."""

import argparse
import importlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from flowd import __version__
from flowd.cli.output import visible_output
from flowd.system.errors import FlowdError

Run = Callable[[argparse.Namespace], int]


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
    if run is not None:
        parser.set_defaults(run=run)
    return parser


EXIT_COULD_NOT = 1
EXIT_USAGE = 2
EXIT_NOT_RUNNING = 3
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """argparse whose errors end with what to run next."""

    def error(self, message: str) -> NoReturn:
        """Print the error and a hint, and exit 2."""
        self.exit(EXIT_USAGE, f"{self.prog}: {message}\n  try: {self.prog} --help\n")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Print each verb and its help on one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=20)
        # argparse ignores the indentation of verbs when it looks for the longest one.
        self._action_max_length = 18


def run_command(
    prog: str, about: str, epilog: str, verbs: Mapping[str, str], argv: Sequence[str] | None
) -> int:
    """Run ``prog`` with *argv*, and return the exit code; import only the module of the given verb."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with visible_output():
        return _run(prog, about, epilog, verbs, arguments)


def _run(prog: str, about: str, epilog: str, verbs: Mapping[str, str], arguments: list[str]) -> int:
    try:
        parser = _parser(prog, about, epilog, verbs, arguments)
        chosen = parser.parse_args(arguments)
        code: int = chosen.run(chosen)
        sys.stdout.flush()
    except FlowdError as error:
        return _could_not(prog, error)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`), which is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 the top of the process: the error is reported
        return _bug(prog, arguments, error)
    return code


def _parser(
    prog: str, about: str, epilog: str, verbs: Mapping[str, str], arguments: list[str]
) -> argparse.ArgumentParser:
    parser = Parser(prog=prog, description=about, epilog=epilog, formatter_class=_Help)
    parser.add_argument("--version", action="version", version=f"{prog} {__version__}")
    subparsers = parser.add_subparsers(metavar="VERB", required=True)
    known = arguments[:1] if arguments and arguments[0] in verbs else list(verbs)
    for verb in known:
        add_from(verbs[verb], subparsers)
    return parser


def add_from(place: str, subparsers: Any) -> None:
    """Add the verb at *place*, ``module`` or ``module:function``, importing its module."""
    module, _, function = place.partition(":")
    getattr(importlib.import_module(module), function or "add_parser")(subparsers)


def _could_not(prog: str, error: FlowdError) -> int:
    sys.stderr.write(f"{prog}: {error}\n")
    if error.hint:
        sys.stderr.write(f"  {error.hint}\n")
    return EXIT_COULD_NOT


def _bug(prog: str, arguments: list[str], error: Exception) -> int:
    from flowd.actions.context import Context
    from flowd.config.paths import make_private_dir
    from flowd.system.files import atomic_write

    context = Context()
    redact = context.lenient_redact
    report = redact(
        f"{prog} {__version__}, Python {sys.version.split()[0]}, {sys.platform}\n"
        f"arguments: {arguments[:1]}\n\n{''.join(traceback.format_exception(error))}"
    )
    try:
        directory = context.paths.log_dir
        make_private_dir(directory)
        file = directory / f"bug-{time.strftime('%Y%m%dT%H%M%S')}.txt"
        atomic_write(file, report)
        where = f"a report was written to {file}"
    except OSError:
        where = report
    sys.stderr.write(f"{prog}: this is a bug: {type(error).__name__}: {redact(str(error))}\n  {where}\n")
    return EXIT_BUG
