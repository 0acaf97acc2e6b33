"""The daemon's own health: heartbeats of its threads, its lock, and the daily check and copy of core.db."""

import threading
import time
from collections.abc import Callable, Mapping

from flowd.config.logs import log
from flowd.daemon.process import InstanceLocks, notify
from flowd.daemon.store_gate import StoreGate
from flowd.daemon.supervised_thread import SupervisedThread
from flowd.system.errors import FlowdError
from flowd.system.processes import NEUTRAL_DIRECTORY, python_command, run_program, scrubbed_environment
from flowd.system.text import cut, one_line

# A thread that has not answered for so long is named in status...
SILENT_S = 60.0
# ...and, if the daemon cannot do without it, systemd is no longer told that flowd is alive.
WATCHDOG_SILENT_S = 300.0
ESSENTIAL = frozenset({"reader", "control", "timer", "hooks"})
BACKUP_DEADLINE_S = 1800.0
FIRST_BACKUP_S = 60.0
MAX_CHARACTERS = 300
BACKUP_CHECK_S = 6 * 3600.0


class Health:
    """Watches what the daemon depends on; its methods are called by the main thread's clocks."""

    def __init__(
        self,
        threads: Mapping[str, SupervisedThread],
        gate: StoreGate,
        locks: InstanceLocks,
        end: Callable[[], None],
    ) -> None:
        self._threads = threads
        self._gate = gate
        self._locks = locks
        self._end = end
        self.backups = BackupRunner(gate)

    @property
    def problems(self) -> list[str]:
        """What is wrong, one sentence each."""
        found = [
            f"{name} has not answered for {seconds:.0f} s" for name, seconds in self.silent(SILENT_S).items()
        ]
        return found + [text for text in (self._gate.new_database, self.backups.problem) if text]

    def request_beats(self) -> None:
        """Ask every thread for a sign of life."""
        for thread in self._threads.values():
            thread.request_beat()

    def silent(self, limit_s: float) -> dict[str, float]:
        """Return the running threads that have not answered for *limit_s*, and for how long.

        While core.db is unavailable its users wait for it, and status names that.
        """
        if not self._gate.is_open or self._gate.condition:
            return {}
        return {
            name: seconds
            for name, thread in list(self._threads.items())
            if (seconds := thread.silent_s) > limit_s
        }

    def notify_watchdog(self) -> None:
        """Tell systemd that flowd is alive, unless a thread that it cannot do without is stuck."""
        stuck = ESSENTIAL & self.silent(WATCHDOG_SILENT_S).keys()
        if stuck:
            log.error("watchdog_withheld", threads=sorted(stuck))
        else:
            notify("WATCHDOG=1")

    def check_locks(self) -> None:
        """Make a lock file again if it was removed; end if another daemon has taken its place."""
        if not self._locks.keep():
            log.error("lock_lost", reason="another flowd holds it", action="stop")
            self._end()


class BackupRunner:
    """Has core.db checked and copied once a day, in a child process and a thread that waits for it."""

    def __init__(self, gate: StoreGate) -> None:
        self._gate = gate
        self._thread: threading.Thread | None = None
        self._started = False
        self.problem = ""

    def interval_s(self) -> float:
        """Return how long to wait for the next ``start``: soon after the daemon's, then a few times a day."""
        return BACKUP_CHECK_S if self._started else FIRST_BACKUP_S

    def start(self) -> None:
        """Check core.db, and copy it if the newest copy is a day old; return at once."""
        self._started = True
        if self._gate.is_open and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self._run, name="flowd-backup", daemon=True)
            self._thread.start()

    def join(self) -> None:
        """Wait for the child to end."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        command = python_command("flowd.store.backups", str(self._gate.database.path.absolute()))
        started = time.monotonic()
        try:
            result = run_program(
                command, cwd=NEUTRAL_DIRECTORY, env=scrubbed_environment(), timeout_s=BACKUP_DEADLINE_S
            )
        except (OSError, FlowdError) as error:
            self._report(f"core.db was not copied: {error}")
            return
        if result.code:
            reason = result.stdout or result.stderr[-MAX_CHARACTERS:]
            self._report(cut(one_line(reason), MAX_CHARACTERS) or "core.db was not copied")
        else:
            self.problem = ""
            log.info("database_checked", copied=result.stdout, seconds=round(time.monotonic() - started, 2))

    def _report(self, problem: str) -> None:
        if problem != self.problem:
            log.error("database_check_failed", error=problem, hint="flowd restore-backup")
        self.problem = problem
