"""The life of the daemon: its parts, their order, the signals, the clocks, the end."""

import os
import queue
import signal
import time
from collections.abc import Callable
from functools import partial
from types import FrameType

from flowd import __version__
from flowd.actions.daemon_client import Holder
from flowd.config.live import LiveSettings
from flowd.config.logs import log, set_level
from flowd.config.paths import Paths, claude_config_dir
from flowd.daemon import memory as heap
from flowd.daemon.child import Child
from flowd.daemon.clocks import TICK_S, Clocks, IdleWatch
from flowd.daemon.control.handlers import ControlHandlers
from flowd.daemon.control.server import ControlServer
from flowd.daemon.delivery.dispatcher import Dispatcher
from flowd.daemon.delivery.sink_worker import SinkWorker
from flowd.daemon.hooks.handler import HookHandler
from flowd.daemon.hooks.spool import Spool
from flowd.daemon.lock import InstanceLock
from flowd.daemon.reading.queue import ReaderQueue
from flowd.daemon.reading.reader import Reader
from flowd.daemon.reading.watcher import Watcher, make_watcher
from flowd.daemon.sd_notify import notify, watchdog_interval_s
from flowd.daemon.store_gate import StoreGate
from flowd.daemon.supervised_thread import Runnable, SupervisedThread
from flowd.handoff.markdown.directory import handoffs_dir
from flowd.redaction.redactor import use_patterns
from flowd.sinks.protocol import Sink
from flowd.sinks.registry import make_sinks
from flowd.store.database import Database
from flowd.store.idle import Pause
from flowd.store.journal import Journal
from flowd.system.errors import SettingsError
from flowd.system.processes import end_programs, python_command, running_programs

LAST_JOIN_S = 0.5
INBOX_SLICE_S = 0.02
NOTHING_TO_POLL_S = 30.0


class Supervisor:
    """Owns everything that lives as long as the daemon; its main loop decides and never works."""

    def __init__(self, paths: Paths, settings: LiveSettings, lock: InstanceLock) -> None:
        heap.limit_arenas()
        self.settings = settings
        use_patterns(settings.current.redaction.patterns)
        self.settings_error = ""
        self.started_at = time.time()
        self._served: Child | None = None
        self.hints = ReaderQueue()
        self.dispatcher = Dispatcher(self.hints)
        self.gate = StoreGate(Database(paths.database_at(settings.current.store.path), durable=False))
        self._inbox: queue.SimpleQueue[int | str] = queue.SimpleQueue()
        self.watcher = self._new_watcher()
        self.reader = self._new_reader()
        self.parts: dict[str, SupervisedThread] = {}
        self._paths = paths
        self._spool = Spool(paths.spool_dir)
        self._lock = lock
        self._clocks = Clocks()
        self._control: ControlServer | None = None
        self._hurried = False
        self._desk: HookHandler

    def run(self) -> None:
        """Live from ready to stopped. The caller holds the lock."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        self._lock.describe(Holder(os.getpid(), __version__, str(self._paths.socket), self.started_at))
        self._start_parts()
        self._start_clocks()
        notify("READY=1")
        self._take_spooled()
        log.info("started", version=__version__, pid=os.getpid(), database=str(self.gate.database.path))
        self._follow_events()
        self._stop()

    def reload_settings(self) -> str:
        """Read config.yaml again; keep what is in force when it is wrong. Return what is wrong with it."""
        try:
            self.settings.reload()
            self.settings_error = ""
            use_patterns(self.settings.current.redaction.patterns)
            set_level(self.settings.current.log)
            self._keep_serving()
            log.info("settings_reloaded", file=str(self.settings.config_file))
        except SettingsError as error:
            self.settings_error = str(error)
            log.error("settings_kept", error=str(error), hint=error.hint)
        return self.settings_error

    def look_around(self) -> None:
        """Take in what other processes left: facts in the journal, hooks in the spool."""
        self.dispatcher.tell(Journal(self.gate.database).newest())
        self._take_spooled()
        self.hints.put_task(lambda: self.reader.handoffs.refresh())

    def _take_spooled(self) -> None:
        take = partial(self.reader.on_hook, done=lambda: None)
        self.hints.put_task(partial(self._spool.drain, take))

    @property
    def children(self) -> int:
        """How many processes the daemon keeps."""
        return int(self._served is not None and self._served.is_running) + running_programs()

    def _keep_serving(self) -> None:
        """Start or end ``flowd serve`` as the settings say."""
        wanted = self.settings.current.serve.enabled
        if wanted and "serve" not in self.parts:
            self._start_part("serve", self._new_serve)
        elif not wanted and "serve" in self.parts and self._served is not None:
            self._served.close()
            self.parts.pop("serve").join(LAST_JOIN_S)

    def _new_serve(self) -> Child:
        command = python_command("flowd", "serve")
        self._served = Child(command, self._paths.log_dir / "serve.log")
        return self._served

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self._inbox.put(number)

    def _start_parts(self) -> None:
        self._start_part("reader", self._new_reader)
        for sink in make_sinks(self.gate.database, self.settings):
            self._start_part(sink.name, partial(self._new_worker, sink))
        self._start_part("hooks", self._new_desk)
        self._start_part("control", self._new_control)
        self._keep_serving()

    def _start_part(self, name: str, make: Callable[[], Runnable]) -> None:
        part = SupervisedThread(name, make, self._inbox.put)
        self.parts[name] = part
        part.start()

    def _start_clocks(self) -> None:
        every = self._clocks.every
        every(lambda: self.settings.current.watch.reconcile_s, self._reconcile)
        every(self._poll_interval_s, self._poll)
        every(lambda: TICK_S, IdleWatch(self.gate, self.settings, self._tell_idle).check)
        every(lambda: TICK_S, self._mend_watcher)
        interval_s = watchdog_interval_s()
        if interval_s:
            every(lambda: interval_s, lambda: notify("WATCHDOG=1"))

    def _follow_events(self) -> None:
        while True:
            try:
                event = self._inbox.get(timeout=self._until_next_s())
            except queue.Empty:
                event = ""
            if event in (signal.SIGTERM, signal.SIGINT):
                log.info("stopping", signal=signal.Signals(int(event)).name)
                return
            if event == signal.SIGHUP:
                self.reload_settings()
            self._restart_dead_parts()
            self._clocks.run_due()

    def _until_next_s(self) -> float:
        restarts = [part.restart_at for part in self.parts.values() if part.restart_at is not None]
        restart_s = min(restarts) - time.monotonic() if restarts else self._clocks.until_next_s()
        return max(0.0, min(restart_s, self._clocks.until_next_s()))

    def _restart_dead_parts(self) -> None:
        for part in self.parts.values():
            if part.restart_at is not None and part.restart_at <= time.monotonic():
                log.warning("part_restarted", part=part.name)
                part.start()

    def _new_watcher(self) -> Watcher:
        most = self.settings.current.watch.most_watches
        return make_watcher(
            self.hints.put,
            lambda: self.hints.put_task(self._after_overflow),
            lambda: self._inbox.put("unheld"),
            most,
        )

    def _new_reader(self) -> Reader:
        claude = self.settings.current.claude.config_dir
        projects = os.path.realpath(claude_config_dir(claude) / "projects")
        self.reader = Reader(
            projects,
            self.gate,
            self.hints,
            self.watcher,
            self.dispatcher.tell,
            self.settings.current.tasks.globs,
            handoffs_dir(claude),
        )
        return self.reader

    def _new_worker(self, sink: Sink) -> SinkWorker:
        worker = SinkWorker(sink, self.gate, self.settings)
        self.dispatcher.workers[sink.name] = worker
        return worker

    def _new_desk(self) -> HookHandler:
        self._desk = HookHandler(self.gate, self.settings, self.hints, lambda: self.reader)
        return self._desk

    def _new_control(self) -> ControlServer:
        # The desk is looked up for each hook: it may have been restarted since.
        deferred = {"hook": lambda request, answer: self._desk.take(request, answer)}
        self._control = ControlServer(self._paths.socket, ControlHandlers(self).handlers(), deferred)
        return self._control

    # What is put into the hints asks for the reader when it runs: by then it may be another one.

    def _reconcile(self) -> None:
        heap.trim()
        self.hints.put_task(lambda: self.reader.reconcile())

    def _after_overflow(self) -> None:
        log.warning("events_lost", remedy="everything is compared with the disk")
        self.reader.reconcile()

    def _poll_interval_s(self) -> float:
        return self.settings.current.watch.poll_s if self.watcher.unheld else NOTHING_TO_POLL_S

    def _poll(self) -> None:
        if self.watcher.unheld:
            self.hints.put_task(lambda: self.reader.poll())

    def _tell_idle(self, pause: Pause) -> None:
        self.hints.put_task(lambda: self.reader.tell_idle(pause))

    def _mend_watcher(self) -> None:
        if not self.watcher.alive:
            log.error("watcher_died", remedy="a new one is started")
            self.watcher.close()
            self.watcher = self._new_watcher()
            self.hints.put_task(lambda: self.reader.use_watcher(self.watcher))

    def _stop(self) -> None:
        """Reader first, then sinks until the deadline, then the rest; a second signal cuts it short."""
        notify("STOPPING=1")
        deadline = time.monotonic() + self.settings.current.sinks.drain_s
        self.watcher.close()
        self.hints.close()
        hung = self._join(["reader"], deadline)
        for worker in self.dispatcher.workers.values():
            worker.close(deadline)
        self._desk.close()
        hung += self._join([*self.dispatcher.workers, "hooks"], deadline)
        end_programs()
        if self._served is not None:
            self._served.close()
        if self._control is not None:
            self._control.close()
        hung += self._join(["control"], time.monotonic() + LAST_JOIN_S)
        log.info("stopped", unfinished=hung)
        self._lock.release()
        if hung:
            os._exit(0)  # a thread that never returns would keep the process for ever
        self.gate.database.close()

    def _join(self, names: list[str], deadline: float) -> list[str]:
        """Wait for parts to end; return the names of those that have not."""
        left = list(names)
        while left:
            left = [name for name in left if not self.parts[name].join(INBOX_SLICE_S / len(left))]
            if time.monotonic() >= deadline or self._is_hurried():
                break
        return left

    def _is_hurried(self) -> bool:
        """Say whether a second signal came; other news is of no interest any more."""
        while not self._inbox.empty():
            self._hurried = self._inbox.get() in (signal.SIGTERM, signal.SIGINT) or self._hurried
        return self._hurried
