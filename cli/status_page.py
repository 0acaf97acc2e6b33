"""The daemon's status as a page of 80 columns."""

from typing import Any

from flowd.cli.tables import ago, home_relative, paint, size, table, wrapped

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
