"""Access to core.db for all threads: closed while the file is unusable, reopened by the reader."""

import threading

from flowd.config.logs import log
from flowd.store.backups import daily_backups
from flowd.store.database import Database
from flowd.store.schema import ensure_current, note_recovery
from flowd.system.backoff import backoff_s
from flowd.system.errors import StoreError

FIRST_WAIT_S = 0.5
MAX_WAIT_S = 60.0


class StoreGate:
    """Opens core.db and migrates it if needed; the threads that only use it wait until it is open."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.condition = ""
        self.times_opened = 0
        self.failures = 0
        self.new_database = ""
        self._opened = threading.Event()

    @property
    def is_open(self) -> bool:
        """Whether core.db has been opened since the start."""
        return self._opened.is_set()

    def open(self, stop: threading.Event) -> bool:
        """Open core.db, retrying with back-off; return False when *stop* was set before it opened."""
        while not stop.is_set():
            if self.failures and stop.wait(self._wait_s()):
                return False
            was_there = self.database.path.exists()
            try:
                ensure_current(self.database)
                if self.failures:
                    note_recovery(self.database)
            except StoreError as error:
                self.failed(error)
                continue
            if not was_there and (self.times_opened or daily_backups(self.database.path)):
                self._note_new_database()
            self.condition = ""
            self.times_opened += 1
            self._opened.set()
            return True
        return False

    def _note_new_database(self) -> None:
        """Say loudly that what flowd knew is gone: the file was there before."""
        path = self.database.path
        self.new_database = (
            f"core.db was gone, a new one was made: {path} (`flowd restore-backup` lists earlier copies)"
        )
        log.error("database_made_anew", path=str(path), hint="flowd restore-backup")

    def passed(self) -> None:
        """Record a successful write: the next failure starts again with a short wait."""
        self.failures = 0
        self.condition = ""

    def failed(self, error: StoreError) -> None:
        """Record that core.db is unusable; status shows the condition."""
        self.failures += 1
        if self.condition != error.condition:
            log.error("store_unavailable", condition=error.condition, error=str(error), hint=error.hint)
        self.condition = error.condition
        self.database.drop_connection()

    def wait_open(self, timeout_s: float) -> bool:
        """Wait until core.db has been opened once; return False after *timeout_s*."""
        return self._opened.wait(timeout_s)

    def _wait_s(self) -> float:
        return backoff_s(self.failures, first_s=FIRST_WAIT_S, max_s=MAX_WAIT_S)
