"""What the control socket answers: put together from snapshots that other threads publish."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from flowd import __version__
from flowd.daemon.control import status as snapshots
from flowd.daemon.delivery.sink_worker import SinkStatus, SinkWorker
from flowd.store.threads.threads import counts as thread_counts
from flowd.system.errors import FlowdError, StoreError
from flowd.workspace.clients import gone_sessions

if TYPE_CHECKING:
    from flowd.daemon.supervisor import Supervisor

MEASURED_FOR_S = 1.0
GONE_FOR_S = 5.0
# Ordinary numbers; every other counter of the reader names a trouble.
PLAIN_COUNTERS = frozenset({"lines", "records", "bytes", "facts"})
_SINK_FIELDS = tuple(name for name in snapshots.SinkLine.__struct_fields__ if name != "queue")


class ControlHandlers:
    """The verbs of the control socket."""

    def __init__(self, daemon: "Supervisor") -> None:
        self._daemon = daemon
        self._measured: tuple[float, snapshots.ProcessStatus, snapshots.StoreStatus] | None = None
        self._counted: tuple[float, int, int, dict[str, int]] | None = None
        self._killed: tuple[float, frozenset[str]] | None = None
        self._sinks: dict[str, tuple[SinkStatus, snapshots.SinkLine]] = {}

    def handlers(self) -> Mapping[str, Callable[[Mapping[str, Any]], Any]]:
        """Return the function for each verb."""
        return {
            "ping": self._ping,
            "status": self._status,
            "retry": self._retry,
            "reload": self._reload,
            "poke": self._poke,
        }

    def _ping(self, _: Mapping[str, Any]) -> dict[str, object]:
        return {"pid": os.getpid(), "version": __version__}

    def _retry(self, request: Mapping[str, Any]) -> list[str]:
        wanted = request.get("sink")
        workers = self._daemon.dispatcher.workers
        if wanted is not None and wanted not in workers:
            raise FlowdError(f"there is no sink {wanted!r}", hint=f"sinks: {', '.join(workers)}")
        names = [wanted] if wanted else list(workers)
        for name in names:
            workers[name].retry()
        return names

    def _poke(self, _: Mapping[str, Any]) -> bool:
        """Take in what another process left."""
        self._daemon.look_around()
        return True

    def _reload(self, _: Mapping[str, Any]) -> str:
        return self._daemon.reload_settings()

    def _status(self, _: Mapping[str, Any]) -> snapshots.Status:
        daemon, now = self._daemon, time.time()
        sinks = [self._sink_line(worker) for worker in daemon.dispatcher.workers.values()]
        parts = [part.status for part in daemon.parts.values()]
        reasons = _reasons(daemon, sinks, parts)
        totals = daemon.reader.totals
        active, unread = self._threads()
        process, store = self._measure()
        idle_after_s = daemon.settings.current.idle.after_minutes * 60
        return snapshots.Status(
            schema_version=snapshots.SCHEMA_VERSION,
            running=True,
            healthy=not reasons,
            reasons=reasons,
            pid=os.getpid(),
            version=__version__,
            started_at=daemon.started_at,
            uptime_s=round(now - daemon.started_at, 1),
            last_progress_at=daemon.reader.progress.last_commit_at,
            catching_up=daemon.reader.progress.catching_up,
            waiting_files=daemon.hints.waiting,
            reconcile_s=round(daemon.reader.progress.scan_s, 4),
            sessions_tracked=daemon.reader.progress.sessions,
            extractions_count=totals.get("facts", 0),
            sessions=daemon.reader.recent.lines(idle_after_s, self._gone()),  # type: ignore[arg-type]  # encoded already
            sinks=sinks,
            parts=parts,
            counts=_counts(totals, sinks, daemon.reader.progress.transcripts),
            watches=_watches(daemon),
            store=store,
            process=process,
            settings_error=daemon.settings_error,
            threads_active=active,
            threads_unread=unread,
            escalations=list(daemon.reader.handoffs.escalations),
        )

    def _sink_line(self, worker: SinkWorker) -> snapshots.SinkLine:
        """Return the line of a sink; the last one, while nothing is new of it."""
        status, queue = worker.status, worker.queue
        told, line = self._sinks.get(worker.name, (None, None))
        if line is None or told is not status or line.queue != queue:
            line = snapshots.SinkLine(queue=queue, **{name: getattr(status, name) for name in _SINK_FIELDS})
            self._sinks[worker.name] = status, line
        return line

    def _measure(self) -> tuple[snapshots.ProcessStatus, snapshots.StoreStatus]:
        """Return sizes, measured once a second at the most: each look at them costs system calls."""
        now = time.monotonic()
        if self._measured is None or self._measured[0] < now:
            process = snapshots.measure_process(self._daemon.children, threading.active_count())
            self._measured = (now + MEASURED_FOR_S, process, _store(self._daemon))
        _, process, store = self._measured
        return process, msgspec.structs.replace(store, condition=self._daemon.gate.condition)

    def _gone(self) -> frozenset[str]:
        """Return the sessions whose client was killed, looked up a few times a minute at the most."""
        now = time.monotonic()
        if self._killed is None or self._killed[0] < now:
            found = gone_sessions(self._daemon.settings.current.claude.config_dir)
            self._killed = (now + GONE_FOR_S, found)
        return self._killed[1]

    def _threads(self) -> tuple[int, dict[str, int]]:
        """Return active threads and unread counts; zeros while core.db cannot say."""
        if self._daemon.gate.condition or not self._daemon.gate.is_open:
            return 0, {}
        try:
            return self._count_threads()
        except StoreError:
            self._daemon.gate.database.drop_connection()
            return 0, {}

    def _count_threads(self) -> tuple[int, dict[str, int]]:
        """Count anew only when core.db has changed, and while catching up once a second."""
        now, database, known = time.monotonic(), self._daemon.gate.database, self._counted
        if known is not None and known[0] > now and self._daemon.reader.progress.catching_up:
            return known[2], known[3]
        version = database.version()
        if known is None or known[1] != version:
            found = thread_counts(database)
            unread = {"chat": found.unread_chat, "code": found.unread_code}
            known = self._counted = (now + MEASURED_FOR_S, version, found.active, unread)
        return known[2], known[3]


def _reasons(
    daemon: "Supervisor", sinks: list[snapshots.SinkLine], parts: list[snapshots.ThreadLine]
) -> list[str]:
    reasons = []
    if daemon.gate.condition:
        reasons.append(f"core.db is {daemon.gate.condition}")
    if daemon.watcher.unheld:
        reasons.append(f"{len(daemon.watcher.unheld)} directories are polled: no watches left")
    if daemon.settings_error:
        reasons.append(f"settings not reloaded: {daemon.settings_error}")
    reasons += [
        f"{part.name} is {part.state}: {part.last_error}" for part in parts if part.state != "running"
    ]
    for sink in sinks:
        if sink.retrying:
            reasons.append(f"{sink.name}: {sink.retrying} deliveries retried: {sink.last_error}")
        if sink.quarantined:
            reasons.append(f"{sink.name}: {sink.quarantined} facts put aside (flowd retry)")
    return reasons


def _counts(
    totals: Mapping[str, int], sinks: list[snapshots.SinkLine], transcripts: int
) -> snapshots.RecordCounts:
    return snapshots.RecordCounts(
        captured=totals.get("records", 0),
        stored=totals.get("facts", 0),
        delivered=sum(sink.delivered for sink in sinks),
        transcripts=transcripts,
        lines=totals.get("lines", 0),
        bytes=totals.get("bytes", 0),
        troubles={name: value for name, value in totals.items() if name not in PLAIN_COUNTERS and value},
    )


def _watches(daemon: "Supervisor") -> snapshots.WatchStatus:
    watcher = daemon.watcher
    return snapshots.WatchStatus(asked=watcher.asked, held=watcher.held, polled=len(watcher.unheld))


def _store(daemon: "Supervisor") -> snapshots.StoreStatus:
    path = daemon.gate.database.path
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    return snapshots.StoreStatus(path=str(path), size_bytes=size, condition=daemon.gate.condition)
