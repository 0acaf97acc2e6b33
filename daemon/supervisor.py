"""The life of the daemon: its threads and their order, signals, periodic work, shutdown."""

import os
import queue
import signal
import time
from collections.abc import Callable
from functools import partial
from types import FrameType

from flowd import __version__
from flowd.actions.context import Context
from flowd.actions.daemon_client import Holder
from flowd.actions.summary_engine import own_sessions_name
from flowd.config.logs import log, set_level
from flowd.config.paths import Paths, claude_config_dir
from flowd.config.settings import LiveSettings
from flowd.daemon.child import Child
from flowd.daemon.control.handlers import ControlHandlers, StatusReporter, StatusSources
from flowd.daemon.control.server import ControlServer
from flowd.daemon.delivery.dispatcher import Dispatcher
from flowd.daemon.delivery.sink_worker import SinkWorker
from flowd.daemon.delivery.summary_sink import SummarySink
from flowd.daemon.health import Health
from flowd.daemon.hooks.handler import HookHandler, Spool
from flowd.daemon.process import InstanceLocks, limit_arenas, notify, watchdog_interval_s
from flowd.daemon.reading.queue import ReaderQueue, ReaderScheduler
from flowd.daemon.reading.reader import Reader, ReaderPaths
from flowd.daemon.reading.watcher import Watcher, make_watcher
from flowd.daemon.store_gate import StoreGate
from flowd.daemon.supervised_thread import Runnable, SupervisedThread
from flowd.daemon.timing import TICK_S, Clocks, IdleWatch, Timer
from flowd.handoff.markdown.directory import handoffs_dir
from flowd.sinks.protocol import Sink
from flowd.sinks.registry import make_sinks
from flowd.store.database import Database
from flowd.store.journal import Journal
from flowd.system.errors import SettingsError
from flowd.system.processes import end_programs, python_command, running_programs

LAST_JOIN_S = 0.5
INBOX_SLICE_S = 0.02
NOTHING_TO_POLL_S = 30.0
LOCK_CHECK_S = 5.0
SETTINGS_CHECK_S = 3.0


class Supervisor:
    """Owns everything that lives as long as the daemon; its main loop never does slow work."""

    def __init__(self, paths: Paths, settings: LiveSettings, locks: InstanceLocks) -> None:
        limit_arenas()
        self._paths = paths
        self._settings = settings
        self._settings_error = ""
        self._locks = locks
        self._started_at = time.time()
        self._inbox: queue.SimpleQueue[int | str] = queue.SimpleQueue()
        self._threads: dict[str, SupervisedThread] = {}
        self._clocks = Clocks()
        self._timer = Timer()
        self._dispatcher = Dispatcher(self._timer)
        self._queue = ReaderQueue()
        self._scheduler = ReaderScheduler(self._queue, self._timer)
        self._gate = StoreGate(Database(paths.database_at(settings.current.store.path), durable=False))
        self._context = Context(paths, settings, self._gate.database)
        self._watcher = self._new_watcher()
        self._reader = self._new_reader()
        self._hooks = HookHandler(self._gate, self._context, self._reader.submit_hook)
        self._spool = Spool(paths.spool_dir)
        self._control: ControlServer | None = None
        self._serve: Child | None = None
        self._second_signal = False
        self._health = Health(self._threads, self._gate, locks, lambda: self._inbox.put(signal.SIGTERM))

    def run(self) -> None:
        """Run until a signal ends the daemon. The caller holds the lock."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        self._locks.describe(Holder(os.getpid(), __version__, str(self._paths.socket), self._started_at))
        self._start_threads()
        self._start_clocks()
        notify("READY=1")
        self._queue.submit(self._drain_spool)
        log.info("started", version=__version__, pid=os.getpid(), database=str(self._gate.database.path))
        self._main_loop()
        self._stop()

    def _new_watcher(self) -> Watcher:
        return make_watcher(
            self._scheduler.put,
            lambda: self._queue.submit(self._after_overflow),
            lambda: self._inbox.put("unwatched"),
            self._settings.current.watch.most_watches,
        )

    def _new_reader(self) -> Reader:
        settings = self._settings.current
        projects_dir = os.path.realpath(claude_config_dir(settings.claude.config_dir) / "projects")
        handoffs, own = handoffs_dir(settings.claude.config_dir), own_sessions_name(self._paths)
        paths = ReaderPaths(projects_dir, handoffs, settings.tasks.globs, own)
        announce = self._dispatcher.announce
        redact = self._context.redact
        return Reader(paths, self._gate, self._queue, self._scheduler, self._watcher, announce, redact)

    # Threads.

    def _start_threads(self) -> None:
        self._start_thread("timer", lambda: self._timer)
        self._start_thread("reader", lambda: self._reader)
        sinks = make_sinks(self._gate.database, self._settings, self._context.redact)
        for sink in (*sinks, SummarySink(self._context, self._dispatcher.announce)):
            self._start_thread(sink.name, partial(self._new_worker, sink))
        self._start_thread("hooks", lambda: self._hooks)
        self._start_thread("control", self._new_control)
        self._update_serve()

    def _start_thread(self, name: str, make: Callable[[], Runnable]) -> None:
        thread = SupervisedThread(name, make, self._inbox.put)
        self._threads[name] = thread
        thread.start()

    def _new_worker(self, sink: Sink) -> SinkWorker:
        worker = SinkWorker(sink, self._gate, self._settings)
        self._dispatcher.workers[sink.name] = worker
        return worker

    def _new_control(self) -> ControlServer:
        sources = StatusSources(
            settings=self._settings,
            gate=self._gate,
            reader=self._reader.status,
            handoffs=self._reader.handoffs,
            failures=self._reader.failures,
            dispatcher=self._dispatcher,
            threads=self._threads,
            watcher=lambda: self._watcher,
            waiting_files=lambda: self._queue.waiting + self._scheduler.held,
            children=lambda: int(self._serve is not None and self._serve.is_running) + running_programs(),
            settings_error=lambda: self._settings_error,
            problems=lambda: self._health.problems,
            started_at=self._started_at,
        )
        handlers = ControlHandlers(
            StatusReporter(sources),
            self._dispatcher,
            self._reload_settings,
            self._collect_external,
            lambda: self._queue.submit(self._reader.retry),
        )
        self._control = ControlServer(
            self._paths.socket, handlers.handlers(), deferred={"hook": self._hooks.handle}
        )
        return self._control

    def _update_serve(self) -> None:
        """Start or stop ``flowd serve`` according to the settings."""
        wanted = self._settings.current.serve.enabled
        if wanted and "serve" not in self._threads:
            self._start_thread("serve", self._new_serve)
        elif not wanted and "serve" in self._threads and self._serve is not None:
            self._serve.close()
            self._threads.pop("serve").join(LAST_JOIN_S)

    def _new_serve(self) -> Child:
        command = python_command("flowd", "serve")
        self._serve = Child(command, self._paths.log_dir / "serve.log")
        return self._serve

    # The main loop.

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self._inbox.put(number)

    def _main_loop(self) -> None:
        while True:
            try:
                event = self._inbox.get(timeout=self._until_next_s())
            except queue.Empty:
                event = ""
            if event in (signal.SIGTERM, signal.SIGINT):
                log.info("stopping", signal=signal.Signals(int(event)).name)
                return
            if event == signal.SIGHUP:
                self._reload_settings()
            self._restart_crashed_threads()
            self._clocks.run_due()

    def _until_next_s(self) -> float:
        restarts = [thread.restart_at for thread in self._threads.values() if thread.restart_at is not None]
        until_restart_s = min(restarts, default=float("inf")) - time.monotonic()
        return max(0.0, min(until_restart_s, self._clocks.until_next_s()))

    def _restart_crashed_threads(self) -> None:
        for thread in self._threads.values():
            if thread.restart_at is not None and thread.restart_at <= time.monotonic():
                log.warning("thread_restarted", thread=thread.name)
                thread.start()

    def _reload_changed_settings(self) -> None:
        if self._settings.is_outdated():
            self._reload_settings()

    def _reload_settings(self) -> str:
        """Read config.yaml again; keep the current settings and return the error if it is invalid."""
        try:
            self._settings.reload()
            self._settings_error = ""
            set_level(self._settings.current.log)
            self._update_serve()
            log.info("settings_reloaded", file=str(self._settings.config_file))
        except SettingsError as error:
            self._settings_error = str(error)
            log.error("settings_not_reloaded", error=str(error), hint=error.hint)
        return self._settings_error

    # Periodic work. What needs the reader is submitted to its queue.

    def _start_clocks(self) -> None:
        every, submit = self._clocks.every, self._queue.submit
        every(lambda: self._settings.current.watch.reconcile_s, lambda: submit(self._reader.reconcile))
        every(self._poll_interval_s, self._poll)
        record_idle = self._reader.record_idle
        idle = IdleWatch(self._gate, self._settings, lambda pause: submit(partial(record_idle, pause)))
        for check in (idle.check, self._replace_dead_watcher, self._health.request_beats):
            every(lambda: TICK_S, check)
        every(lambda: LOCK_CHECK_S, self._health.check_locks)
        every(self._health.backups.interval_s, self._health.backups.start)
        every(lambda: SETTINGS_CHECK_S, self._reload_changed_settings)
        if interval_s := watchdog_interval_s():
            every(lambda: interval_s, self._health.notify_watchdog)

    def _after_overflow(self) -> None:
        log.warning("events_lost", action="compare everything with the disk")
        self._reader.reconcile()

    def _poll_interval_s(self) -> float:
        return self._settings.current.watch.poll_s if self._watcher.unwatched else NOTHING_TO_POLL_S

    def _poll(self) -> None:
        if self._watcher.unwatched:
            self._queue.submit(self._reader.poll)

    def _replace_dead_watcher(self) -> None:
        if not self._watcher.alive:
            log.error("watcher_died", action="start a new one")
            self._watcher.close()
            self._watcher = self._new_watcher()
            self._queue.submit(partial(self._reader.use_watcher, self._watcher))

    def _collect_external(self) -> None:
        """Collect what other processes have left: facts in the journal, hooks in the spool."""
        self._dispatcher.announce(Journal(self._gate.database).newest())
        self._queue.submit(self._drain_spool)
        self._queue.submit(self._reader.handoffs.refresh)

    def _drain_spool(self) -> None:
        for event in self._spool.events():
            self._reader.record_hook(event)

    # Shutdown.

    def _stop(self) -> None:
        """Stop the reader, the sinks until the deadline, then the rest; a second signal ends the wait."""
        notify("STOPPING=1")
        deadline = time.monotonic() + self._settings.current.sinks.drain_s
        self._watcher.close()
        self._queue.close()
        hung = self._join(["reader"], deadline)
        for worker in self._dispatcher.workers.values():
            worker.close(deadline)
        self._hooks.close()
        self._timer.close()
        hung += self._join([*self._dispatcher.workers, "hooks", "timer"], deadline)
        end_programs()
        if self._serve is not None:
            self._serve.close()
        if self._control is not None:
            self._control.close()
        hung += self._join(["control"], time.monotonic() + LAST_JOIN_S)
        log.info("stopped", unfinished=hung)
        self._locks.release()
        if hung:
            os._exit(0)  # a thread that never returns would keep the process alive
        self._gate.database.close()

    def _join(self, names: list[str], deadline: float) -> list[str]:
        """Wait for threads to end; return the names of those that have not."""
        left = list(names)
        while left:
            left = [name for name in left if not self._threads[name].join(INBOX_SLICE_S / len(left))]
            if time.monotonic() >= deadline or self._is_hurried():
                break
        return left

    def _is_hurried(self) -> bool:
        """Return True if a second signal has arrived; other events no longer matter."""
        while not self._inbox.empty():
            self._second_signal |= self._inbox.get() in (signal.SIGTERM, signal.SIGINT)
        return self._second_signal
