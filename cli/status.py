"""``flowd status``: how the daemon is, in 80 columns or as JSON."""

import argparse
import sys
import time
from typing import Any

import msgspec

from flowd import __version__
from flowd.cli.funnel import EXIT_COULD_NOT, EXIT_NOT_RUNNING
from flowd.cli.tables import ago, home_relative, paint, size, table
from flowd.config.errors import NotRunningError
from flowd.config.paths import resolve_paths
from flowd.daemon.control_client import ask
from flowd.daemon.lock import control_socket, running_holder

SESSIONS_SHOWN = 10
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
    parser.add_argument(
        "--json", action="store_true", help="the whole answer as JSON (docs/status.schema.json)"
    )
    parser.add_argument("--watch", action="store_true", help="refresh until Ctrl-C")
    parser.add_argument("--interval", type=float, default=2.0, metavar="S", help="seconds between refreshes")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the status once, or again and again."""
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


def page(status: dict[str, Any]) -> list[str]:
    """Return the status as lines for people."""
    return [*_head(status), "", *_sessions(status), "", *_sinks(status), "", *_foot(status)]


def _head(status: dict[str, Any]) -> list[str]:
    word = paint("healthy", "green") if status["healthy"] else paint("degraded", "yellow")
    lines = [
        f"flowd {status['version']}  {word}  pid {status['pid']}  up since {ago(status['started_at'])}"
        f"  last progress {ago(status['last_progress_at'])}"
    ]
    lines += [f"  ! {reason}" for reason in status["reasons"]]
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
            sink["last_error"] or "-",
        )
        for sink in status["sinks"]
    ]
    return table(rows, shrink=5)


def _foot(status: dict[str, Any]) -> list[str]:
    counts, watches, process, store = (status[key] for key in ("counts", "watches", "process", "store"))
    troubles = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in counts["troubles"].items())
    unread = status["threads_unread"]
    return [
        f"captured {counts['captured']} records of {counts['transcripts']} transcripts"
        f" ({size(counts['bytes'])}), stored {counts['stored']} facts",
        f"troubles survived: {troubles or 'none'}",
        f"watches {watches['held']} of {watches['asked']} held, {watches['polled']} polled"
        f"  |  threads {status['threads_active']} active,"
        f" unread {unread.get('chat', 0)} chat, {unread.get('code', 0)} code",
        f"memory {size(process['rss_bytes'])}, {process['open_files']} files,"
        f" {process['children']} children  |  core.db {size(store['size_bytes'])} {store['condition']}".rstrip(),
    ]
