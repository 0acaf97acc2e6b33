"""The pages that ``flowd status`` prints for people: short, and with all figures."""

from flowd.cli.output import (
    ago,
    and_more_line,
    home_relative,
    paint,
    size,
    table,
    terminal_width,
    text_width,
    wrapped,
)
from flowd.daemon.control.status import (
    FailureLine,
    ProcessStatus,
    RecordCounts,
    Status,
    StoreStatus,
    WatchStatus,
)
from flowd.system.text import one_line

MAX_LISTED = 10
# What reading a transcript can recover from, by the name of its counter: singular and plural.
TROUBLES = {
    "glued_lines": ("concatenated line", "concatenated lines"),
    "bad_lines": ("unparseable line", "unparseable lines"),
}


class Running(Status, frozen=True, kw_only=True):
    """The output while flowd runs: the daemon's answer, and the version of this command."""

    cli_version: str


def page(status: Running) -> list[str]:
    """Return what a person wants to know: health, what needs them, the sessions at work."""
    failures = ["", *_failures(status.failures)] if status.failures else []
    model = wrapped(status.model.line, first="", rest="  ") if status.model.is_on else []
    return [*_head(status), *failures, "", *_sessions(status), "", *_sinks_in_short(status), *model]


def verbose_page(status: Running) -> list[str]:
    """Return everything: also the figures of each session and sink, and of the process."""
    failures = [*_failures(status.failures), ""] if status.failures else []
    return [*_head(status), "", *_lags(status), "", *_sinks(status), "", *failures, *_foot(status)]


def _head(status: Running) -> list[str]:
    word = paint("healthy", "green") if status.healthy else paint("degraded", "yellow")
    lines = [f"flowd {status.version}  {word}  pid {status.pid}  started {ago(status.started_at)}"]
    progress = f"last progress {ago(status.last_progress_at)}"
    if text_width(lines[0]) + 2 + len(progress) <= terminal_width():
        lines[0] += f"  {progress}"
    for reason in status.reasons:
        lines += wrapped(reason, first="  ! ", rest="    ")
    for escalation in status.escalations:
        text = f"needs a person: {escalation}; run `flow handoff ack` after reviewing it"
        lines += wrapped(text, first="  ! ", rest="    ")
    if status.cli_version != status.version:
        text = f"this command is version {status.cli_version}: run `flowd restart`"
        lines += wrapped(text, first="  ! ", rest="    ")
    if status.catching_up:
        lines.append(f"  catching up: {status.waiting_files} files left")
    return lines


def _sessions(status: Running) -> list[str]:
    if not status.sessions:
        return ["no sessions seen yet: start Claude Code in a project (was there one? `flowd doctor`)"]
    rows = [("SESSION", "STATE", "ACTIVE", "PROJECT", "TITLE")]
    rows += [
        (
            line.session_id[:8],
            line.phase,
            ago(line.last_activity_at),
            home_relative(line.project) or "-",
            one_line(line.title) or "-",
        )
        for line in status.sessions[:MAX_LISTED]
    ]
    return [*table(rows, shrink={3: 14, 4: 16}), *_more_sessions(status)]


def _more_sessions(status: Running) -> list[str]:
    shown = min(len(status.sessions), MAX_LISTED)
    return and_more_line(shown, status.sessions_tracked, "flow sessions --all")


def _sinks_in_short(status: Running) -> list[str]:
    """Return a line for each sink that has trouble or something to say, and one for all others."""
    lines: list[str] = []
    fine = 0
    for sink in status.sinks:
        is_fine = not (sink.retrying or sink.quarantined)
        fine += is_fine
        if not is_fine:
            text = f"{sink.name}: {one_line(sink.last_error)}"
            lines += wrapped(text, first="! ", rest="  ")
        elif sink.detail:
            lines += wrapped(f"{sink.name}: {sink.detail}", first="", rest="  ")
    word = "sink is" if fine == 1 else "sinks are"
    return [*lines, f"{fine} {word} fine; `flowd status --verbose` has the figures"]


def _lags(status: Running) -> list[str]:
    sessions = status.sessions
    if not sessions:
        return ["no sessions seen yet"]
    rows = [("SESSION", "STATE", "ACTIVE", "LAG", "PROJECT")]
    rows += [
        (
            line.session_id[:8],
            line.phase,
            ago(line.last_activity_at),
            size(line.lag_bytes),
            home_relative(line.project) or "-",
        )
        for line in sessions[:MAX_LISTED]
    ]
    return [*table(rows, shrink={4: 8}), *_more_sessions(status)]


def _sinks(status: Running) -> list[str]:
    rows = [("SINK", "CURSOR", "QUEUE", "DELIVERED", "LAST SUCCESS", "LAST ERROR")]
    rows += [
        (
            sink.name,
            str(sink.cursor),
            str(sink.queue),
            str(sink.delivered),
            ago(sink.last_success_at) if sink.last_success_at else "not since start",
            one_line(sink.last_error) or "-",
        )
        for sink in status.sinks
    ]
    details = [f"{sink.name}: {sink.detail}" for sink in status.sinks if sink.detail]
    lines = [line for detail in details for line in wrapped(detail, first="  ", rest="    ")]
    return [*table(rows, shrink={5: 8}), *lines]


def _failures(failures: list[FailureLine]) -> list[str]:
    rows = [("LEFT OUT", "SINCE", "TRIES", "ERROR")]
    rows += [
        (home_relative(failure.path), ago(failure.since), str(failure.times), failure.error)
        for failure in failures[:MAX_LISTED]
    ]
    more = and_more_line(len(rows) - 1, len(failures), "flowd status --json")
    return [*table(rows, shrink={0: 8, 3: 12}), *more]


def _foot(status: Running) -> list[str]:
    lines = [
        _ledger(status.counts),
        _recovered(status.counts.troubles),
        f"{_watches(status.watches)}  |  {_threads(status)}",
        f"{_process(status.process)}  |  {_store(status.store)}",
        status.model.line,
    ]
    return [part for line in lines for part in wrapped(line, first="", rest="  ")]


def _ledger(counts: RecordCounts) -> str:
    read = f"captured {counts.captured} records of {counts.transcripts} transcripts"
    return f"{read} ({size(counts.bytes)}), stored {counts.stored} facts"


def _recovered(troubles: dict[str, int]) -> str:
    named = ", ".join(_describe(name, count) for name, count in troubles.items())
    return f"recovered: {named or 'nothing'}"


def _describe(name: str, count: int) -> str:
    singular, plural = TROUBLES.get(name, (name.replace("_", " "),) * 2)
    return f"{count} {singular if count == 1 else plural}"


def _watches(watches: WatchStatus) -> str:
    return f"watches {watches.held} of {watches.asked} held, {watches.polled} polled"


def _threads(status: Running) -> str:
    unread = status.threads_unread
    waiting = f"unread {unread.get('chat', 0)} chat, {unread.get('code', 0)} code"
    return f"threads {status.threads_active} active, {waiting}"


def _process(process: ProcessStatus) -> str:
    memory = f"memory {size(process.rss_bytes)}"
    return f"{memory}, {process.open_files} files, {process.children} children"


def _store(store: StoreStatus) -> str:
    return f"core.db {size(store.size_bytes)} {store.condition}".rstrip()
