"""``flowd status``: how the daemon is, in 80 columns or as JSON."""

import argparse
import sys
import time
from typing import Any, Literal

import msgspec

from flowd import __version__
from flowd.actions.daemon_client import ask, control_socket, running_holder
from flowd.cli.main import EXIT_COULD_NOT, EXIT_NOT_RUNNING
from flowd.cli.output import ago, home_relative, paint, size, table, wrapped
from flowd.config.paths import resolve_paths
from flowd.daemon.control.status import Status
from flowd.system.errors import NotRunningError

SESSIONS_SHOWN = 10


def page(status: dict[str, Any]) -> list[str]:
    """Return the status as lines for people."""
    return [*_head(status), "", *_sessions(status), "", *_sinks(status), "", *_foot(status)]


def _head(status: dict[str, Any]) -> list[str]:
    word = paint("healthy", "green") if status["healthy"] else paint("degraded", "yellow")
    lines = [f"flowd {status['version']}  {word}  pid {status['pid']}  started {ago(status['started_at'])}"]
    lines[0] += f"  last progress {ago(status['last_progress_at'])}"
    for reason in status["reasons"]:
        lines += wrapped(reason, first="  ! ", rest="    ")
    for escalation in status.get("escalations", ()):
        lines += wrapped(
            f"a person is asked for: {escalation}; `flow handoff ack`", first="  ! ", rest="    "
        )
    if status["cli_version"] != status["version"]:
        lines.append(f"  ! this command is {status['cli_version']}: run `flowd restart`")
    if status["catching_up"]:
        lines.append(f"  catching up: {status['waiting_files']} files to go")
    return lines


def _sessions(status: dict[str, Any]) -> list[str]:
    sessions = status["sessions"]
    if not sessions:
        return ["no session seen yet"]
    rows = [("SESSION", "STATE", "ACTIVE", "LAG", "PROJECT")]
    rows += [
        (
            line["session_id"][:8],
            line["phase"],
            ago(line["last_activity_at"]),
            size(line["lag_bytes"]),
            home_relative(line["project"]) or "-",
        )
        for line in sessions[:SESSIONS_SHOWN]
    ]
    more = status["sessions_tracked"] - min(len(sessions), SESSIONS_SHOWN)
    return [*table(rows, shrink=4), *([f"and {more} more"] if more > 0 else [])]


def _sinks(status: dict[str, Any]) -> list[str]:
    rows = [("SINK", "CURSOR", "QUEUE", "DELIVERED", "LAST SUCCESS", "LAST ERROR")]
    rows += [
        (
            sink["name"],
            str(sink["cursor"]),
            str(sink["queue"]),
            str(sink["delivered"]),
            ago(sink["last_success_at"]),
            " ".join(sink["last_error"].split()) or "-",
        )
        for sink in status["sinks"]
    ]
    details = [f"{sink['name']}: {sink['detail']}" for sink in status["sinks"] if sink["detail"]]
    lines = [line for detail in details for line in wrapped(detail, first="  ", rest="    ")]
    return [*table(rows, shrink=5), *lines]


def _foot(status: dict[str, Any]) -> list[str]:
    lines = [
        _ledger(status["counts"]),
        _troubles(status["counts"]["troubles"]),
        f"{_watches(status['watches'])}  |  {_threads(status)}",
        f"{_process(status['process'])}  |  {_store(status['store'])}",
    ]
    return [part for line in lines for part in wrapped(line, first="", rest="  ")]


def _ledger(counts: dict[str, Any]) -> str:
    read = f"captured {counts['captured']} records of {counts['transcripts']} transcripts"
    return f"{read} ({size(counts['bytes'])}), stored {counts['stored']} facts"


def _troubles(troubles: dict[str, int]) -> str:
    named = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in troubles.items())
    return f"troubles survived: {named or 'none'}"


def _watches(watches: dict[str, int]) -> str:
    return f"watches {watches['held']} of {watches['asked']} held, {watches['polled']} polled"


def _threads(status: dict[str, Any]) -> str:
    unread = status["threads_unread"]
    waiting = f"unread {unread.get('chat', 0)} chat, {unread.get('code', 0)} code"
    return f"threads {status['threads_active']} active, {waiting}"


def _process(process: dict[str, Any]) -> str:
    memory = f"memory {size(process['rss_bytes'])}"
    return f"{memory}, {process['open_files']} files, {process['children']} children"


def _store(store: dict[str, Any]) -> str:
    return f"core.db {size(store['size_bytes'])} {store['condition']}".rstrip()


class Running(Status, frozen=True, kw_only=True):
    """What is printed while flowd runs: the daemon's answer and the version of the command that asked."""

    cli_version: str


class NotRunning(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed while it does not: why, and what to do."""

    running: Literal[False]
    error: str
    hint: str


def schema() -> str:
    """Return the schema as text."""
    answers, components = msgspec.json.schema_components([Running, NotRunning], ref_template="#/$defs/{name}")
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "flowd status --json",
        "anyOf": list(answers),
        "$defs": components,
    }
    return msgspec.json.format(msgspec.json.encode(whole, order="sorted")).decode()


EXAMPLES = """\
examples:
  flowd status                  a page for people
  flowd status --watch          the same, refreshed every two seconds
  flowd status --json | jq .sinks

exit code: 0 healthy, 1 degraded (the page says why), 3 not running
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "status",
        help="how it is",
        description="Ask the running daemon how it is.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="the whole answer as JSON")
    parser.add_argument("--schema", action="store_true", help="the JSON schema of --json, and nothing else")
    parser.add_argument("--watch", action="store_true", help="refresh until Ctrl-C")
    parser.add_argument("--interval", type=float, default=2.0, metavar="S", help="seconds between refreshes")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the status once, or again and again."""
    if arguments.schema:
        from flowd.cli.flowd.status import schema

        print(schema())
        return 0
    while True:
        status = _ask()
        _print(status, as_json=arguments.json, clear=arguments.watch)
        if not arguments.watch:
            return _exit_code(status)
        time.sleep(max(0.1, arguments.interval))


def _ask() -> dict[str, Any]:
    paths = resolve_paths()
    try:
        status: dict[str, Any] = ask(control_socket(paths), "status")
    except NotRunningError as error:
        holder = running_holder(paths.lock)
        what = f"{error} (pid {holder.pid} holds the lock)" if holder else str(error)
        return {"running": False, "error": what, "hint": error.hint}
    return status | {"cli_version": __version__}


def _exit_code(status: dict[str, Any]) -> int:
    if not status["running"]:
        return EXIT_NOT_RUNNING
    return 0 if status["healthy"] else EXIT_COULD_NOT


def _print(status: dict[str, Any], *, as_json: bool, clear: bool) -> None:
    if clear and sys.stdout.isatty():
        sys.stdout.write("\x1b[H\x1b[2J")
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(status)).decode())
    elif status["running"]:
        print("\n".join(page(status)))
    else:
        print(f"flowd: {status['error']}\n  {status['hint']}", file=sys.stderr)
    sys.stdout.flush()
