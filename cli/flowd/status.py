"""``flowd status``: print health, sessions and sinks of the daemon, for people or as JSON."""

import argparse
import sys
import time
from typing import Any, Literal

import msgspec

from flowd import __version__
from flowd.actions.daemon_client import ask_running
from flowd.cli.flowd.status_page import Running, page, verbose_page
from flowd.cli.main import EXIT_COULD_NOT, EXIT_NOT_RUNNING
from flowd.cli.output import print_json
from flowd.cli.parser import add_verb
from flowd.config.paths import resolve_paths
from flowd.system.errors import FlowdError, NotRunningError


class NotRunning(msgspec.Struct, frozen=True, kw_only=True):
    """The output while flowd does not run: the error, and what to do."""

    running: Literal[False]
    error: str
    hint: str


def schema() -> str:
    """Return the JSON schema of ``--json``."""
    answers, components = msgspec.json.schema_components([Running, NotRunning], ref_template="#/$defs/{name}")
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "flowd status --json",
        "anyOf": list(answers),
        "$defs": components,
    }
    return msgspec.json.format(msgspec.json.encode(whole, order="sorted")).decode()


EXAMPLES = """\
  flowd status                  health, what needs you, sessions
  flowd status --verbose        every sink and figure
  flowd status --watch          the same, refreshed every two seconds
  flowd status --json | jq .sinks

exit code: 0 healthy, 1 degraded (the page shows why), 3 not running
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flowd status``."""
    parser = add_verb(
        subparsers,
        "status",
        "show health, sessions and sinks",
        "Print the health, sessions and sinks of the running daemon.",
        run,
        examples=EXAMPLES,
        json="print the whole answer as JSON",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="with the figures of everything")
    parser.add_argument("--schema", action="store_true", help="print the JSON schema of --json, and exit")
    parser.add_argument("--watch", action="store_true", help="refresh until Ctrl-C")
    parser.add_argument("--interval", type=float, default=2.0, metavar="S", help="seconds between refreshes")


def run(arguments: argparse.Namespace) -> int:
    """Print the status once, or repeatedly with ``--watch``."""
    if arguments.schema:
        print(schema())
        return 0
    while True:
        status = _ask()
        _print(status, arguments)
        if not arguments.watch:
            return _exit_code(status)
        time.sleep(max(0.1, arguments.interval))


def _ask() -> Running | NotRunning:
    try:
        answer = ask_running(resolve_paths(), "status")
    except NotRunningError as error:
        return NotRunning(running=False, error=str(error), hint=error.hint)
    try:
        return msgspec.convert(answer | {"cli_version": __version__}, Running)
    except msgspec.ValidationError as error:
        raise FlowdError(
            f"the daemon is version {answer.get('version')}, this command {__version__}: {error}",
            hint="run `flowd restart`",
        ) from error


def _exit_code(status: Running | NotRunning) -> int:
    if isinstance(status, NotRunning):
        return EXIT_NOT_RUNNING
    return 0 if status.healthy else EXIT_COULD_NOT


def _print(status: Running | NotRunning, arguments: argparse.Namespace) -> None:
    if arguments.watch and sys.stdout.isatty():
        sys.stdout.write("\x1b[H\x1b[2J")
    if arguments.json:
        print_json(status, as_it_is=True)
    elif isinstance(status, Running):
        print("\n".join(verbose_page(status) if arguments.verbose else page(status)))
    else:
        print(f"flowd: {status.error}\n  {status.hint}", file=sys.stderr)
    sys.stdout.flush()
