"""Answer the requests of the control socket; ``status`` from what other threads have published."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flowd import __version__
from flowd.actions.summarise import model_status
from flowd.config.settings import LiveSettings
from flowd.daemon.control import status as snapshots
from flowd.daemon.delivery.dispatcher import Dispatcher
from flowd.daemon.delivery.sink_worker import SinkStatus, SinkWorker
from flowd.daemon.projects.documents import HandoffFiles
from flowd.daemon.reading.failures import Failures
from flowd.daemon.reading.pipeline import count_by_name, is_unknown_type
from flowd.daemon.reading.progress import ReaderStatus
from flowd.daemon.reading.watcher import Watcher
from flowd.daemon.store_gate import StoreGate
from flowd.daemon.supervised_thread import SupervisedThread
from flowd.model.summary import ModelStatus
from flowd.store.conditions import sentence
from flowd.store.summaries import Summaries
from flowd.store.threads.threads import counts as thread_counts
from flowd.system.errors import FlowdError, StoreError
from flowd.workspace.clients import gone_sessions

# What costs system calls or SQL is cached (benchmark rows: status round trip, status during catch-up).
MEASURED_FOR_S = 1.0
# Status answers at once, so it looks at a few directories only.
MAX_EXAMINED = 5
GONE_FOR_S = 5.0
# Every other counter of the reader counts something that went wrong.
PLAIN_COUNTERS = frozenset({"lines", "records", "bytes", "facts"})


class StatusSources(NamedTuple):
    """Where the figures of status come from."""

    settings: LiveSettings
    gate: StoreGate
    reader: ReaderStatus
    handoffs: HandoffFiles
    failures: Failures
    dispatcher: Dispatcher
    threads: Mapping[str, SupervisedThread]
    watcher: Callable[[], Watcher]
    waiting_files: Callable[[], int]
    children: Callable[[], int]
    settings_error: Callable[[], str]
    problems: Callable[[], list[str]]
    started_at: float


class StatusReporter:
    """Builds ``Status``; used by the control thread only."""

    def __init__(self, sources: StatusSources) -> None:
        self._sources = sources
        self._measured: tuple[float, snapshots.ProcessStatus, int] | None = None
        self._counted: tuple[float, tuple[object, ...], _Counted] | None = None
        self._gone: tuple[float, frozenset[str]] | None = None
        self._sinks: dict[str, tuple[SinkStatus, snapshots.SinkLine]] = {}

    def report(self) -> snapshots.Status:
        """Return the status of the daemon."""
        sources, progress, totals = self._sources, self._sources.reader.progress, self._sources.reader.totals
        sinks = [self._sink_line(worker) for worker in sources.dispatcher.workers.values()]
        threads = [thread.line() for thread in sources.threads.values()]
        failures = sources.failures.listed
        reasons = self._reasons(sinks, threads)
        counted = self._from_store()
        process, store_bytes = self._measure()
        idle_after_s = sources.settings.current.idle.after_minutes * 60
        return snapshots.Status(
            schema_version=snapshots.SCHEMA_VERSION,
            running=True,
            healthy=not reasons,
            reasons=reasons,
            pid=os.getpid(),
            version=__version__,
            started_at=sources.started_at,
            uptime_s=round(time.time() - sources.started_at, 1),
            last_progress_at=progress.last_commit_at,
            catching_up=progress.catching_up,
            waiting_files=sources.waiting_files(),
            reconcile_s=round(progress.scan_s, 4),
            sessions_tracked=progress.sessions,
            extractions_count=totals.get("facts", 0),
            sessions=sources.reader.recent.lines(idle_after_s, self._gone_sessions()),  # type: ignore[arg-type]  # encoded already
            sinks=sinks,
            parts=threads,
            counts=_counts(totals, sinks, progress.transcripts),
            watches=_watches(sources.watcher()),
            store=snapshots.StoreStatus(
                path=str(sources.gate.database.path),
                size_bytes=store_bytes,
                condition=sources.gate.condition,
            ),
            process=process,
            settings_error=sources.settings_error(),
            threads_active=counted.active,
            threads_unread=counted.unread,
            escalations=list(sources.handoffs.escalations),
            model=counted.model,
            failures=list(failures),
        )

    def _reasons(self, sinks: list[snapshots.SinkLine], threads: list[snapshots.ThreadLine]) -> list[str]:
        """Return why the daemon is not healthy."""
        sources, unwatched = self._sources, list(self._sources.watcher().unwatched)
        reasons = []
        if sources.gate.condition:
            reasons.append(f"{sentence(sources.gate.condition)} (run `flowd doctor`)")
        if unwatched:
            reasons += _polled(unwatched)
        if sources.settings_error():
            reasons.append(f"settings not reloaded: {sources.settings_error()}")
        reasons += sources.problems()
        failed = len(sources.failures.listed)
        if failed:
            what = "file is" if failed == 1 else "files are"
            reasons.append(f"{failed} {what} left out (listed below; run `flowd retry` to try again)")
        reasons += [
            f"{thread.name} is {thread.state}: {thread.last_error}"
            for thread in threads
            if thread.state != "running"
        ]
        for sink in sinks:
            if sink.retrying:
                reasons.append(f"{sink.name}: {sink.retrying} deliveries retried: {sink.last_error}")
            if sink.quarantined:
                reasons.append(f"{sink.name}: {sink.quarantined} facts quarantined (run `flowd retry`)")
        return reasons

    def _sink_line(self, worker: SinkWorker) -> snapshots.SinkLine:
        """Return the line of a sink, the same object while nothing has changed.

        Building it each time makes the status round trip 13 % slower.
        """
        status, queue = worker.status, worker.queue
        shown, line = self._sinks.get(worker.name, (None, None))
        if line is None or shown is not status or line.queue != queue:
            line = snapshots.SinkLine(queue=queue, **status._asdict())
            self._sinks[worker.name] = status, line
        return line

    def _measure(self) -> tuple[snapshots.ProcessStatus, int]:
        """Return the figures of the process and the size of core.db, measured at most once a second."""
        now = time.monotonic()
        if self._measured is None or self._measured[0] < now:
            process = snapshots.measure_process(self._sources.children(), threading.active_count())
            self._measured = (now + MEASURED_FOR_S, process, self._store_bytes())
        return self._measured[1:]

    def _store_bytes(self) -> int:
        try:
            return self._sources.gate.database.path.stat().st_size
        except OSError:
            return 0

    def _gone_sessions(self) -> frozenset[str]:
        """Return the sessions whose client was killed, looked up at most every 5 s."""
        now = time.monotonic()
        if self._gone is None or self._gone[0] < now:
            found = gone_sessions(self._sources.settings.current.claude.config_dir)
            self._gone = (now + GONE_FOR_S, found)
        return self._gone[1]

    def _from_store(self) -> "_Counted":
        """Return the counts of threads and of model calls; zeros while core.db is unavailable."""
        gate = self._sources.gate
        if gate.condition or not gate.is_open:
            return _Counted()
        try:
            return self._count()
        except StoreError:
            gate.database.drop_connection()
            return _Counted()

    def _count(self) -> "_Counted":
        """Count only if core.db or the settings have changed; while catching up at most once a second."""
        now, database, counted = time.monotonic(), self._sources.gate.database, self._counted
        if counted is not None and counted[0] > now and self._sources.reader.progress.catching_up:
            return counted[2]
        version, settings = database.version(), self._sources.settings.current.model
        if counted is None or counted[1] != (version, settings, time.localtime().tm_yday):
            found = thread_counts(database)
            unread = {"chat": found.unread_chat, "code": found.unread_code}
            model = model_status(Summaries(database), settings)
            since = version, settings, time.localtime().tm_yday
            counted = self._counted = (now + MEASURED_FOR_S, since, _Counted(found.active, unread, model))
        return counted[2]


class _Counted(NamedTuple):
    """What core.db knows of threads and of model calls."""

    active: int = 0
    unread: dict[str, int] = {}  # noqa: RUF012 never changed
    model: ModelStatus = ModelStatus()


def _polled(directories: list[str]) -> list[str]:
    """Return why *directories* are polled instead of watched."""
    closed = [each for each in directories[:MAX_EXAMINED] if not os.access(each, os.R_OK | os.X_OK)]
    left = len(directories) - len(closed)
    reasons = [f"{each} cannot be read: Permission denied (run `flowd doctor`)" for each in closed]
    noun = "directory is" if left == 1 else "directories are"
    return reasons + ([f"{left} {noun} polled: no watches left"] if left else [])


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
        troubles={name: value for name, value in totals.items() if value and _is_trouble(name)},
        unknown_types=count_by_name(totals),
    )


def _is_trouble(counter: str) -> bool:
    return counter not in PLAIN_COUNTERS and not is_unknown_type(counter)


def _watches(watcher: Watcher) -> snapshots.WatchStatus:
    return snapshots.WatchStatus(asked=watcher.asked, held=watcher.held, polled=len(watcher.unwatched))


class ControlHandlers:
    """Answers requests from what other threads have published; never does slow work."""

    def __init__(
        self,
        reporter: StatusReporter,
        dispatcher: Dispatcher,
        reload_settings: Callable[[], str],
        collect_external: Callable[[], None],
        retry_files: Callable[[], None],
    ) -> None:
        self._retry_files = retry_files
        self._reporter = reporter
        self._dispatcher = dispatcher
        self._reload_settings = reload_settings
        self._collect_external = collect_external

    def handlers(self) -> Mapping[str, Callable[[Mapping[str, Any]], Any]]:
        """Return the function of each verb."""
        return {
            "ping": lambda _: {"pid": os.getpid(), "version": __version__},
            "status": lambda _: self._reporter.report(),
            "retry": self._retry,
            "reload": lambda _: self._reload_settings(),
            "poke": self._poke,
        }

    def _retry(self, request: Mapping[str, Any]) -> list[str]:
        wanted = request.get("sink")
        workers = self._dispatcher.workers
        if wanted is not None and wanted not in workers:
            raise FlowdError(f"there is no sink {wanted!r}", hint=f"sinks: {', '.join(workers)}")
        names = [wanted] if wanted else list(workers)
        for name in names:
            workers[name].retry()
        if wanted is None:
            self._retry_files()
        return names

    def _poke(self, _: Mapping[str, Any]) -> bool:
        """Collect what another process has left."""
        self._collect_external()
        return True
