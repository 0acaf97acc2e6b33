"""The one way to core.db for all parts: closed while the file cannot serve, tried again by itself."""

import random
import threading

from flowd.config.logs import log
from flowd.daemon.reading.queue import ReaderQueue
from flowd.store.database import Database
from flowd.store.schema import ensure_current, note_recovery
from flowd.system.errors import StoreError

FIRST_WAIT_S = 0.5
MAX_WAIT_S = 60.0


class StoreGate:
    """Opens core.db, migrating it if need be; parts that only use it wait until it is open."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.condition = ""
        self.times_opened = 0
        self._failures = 0
        self._opened = threading.Event()

    @property
    def is_open(self) -> bool:
        """Whether core.db has been opened since the start."""
        return self._opened.is_set()

    def open(self, hints: ReaderQueue) -> bool:
        """Try until core.db serves; False when the hints were closed before that."""
        while not hints.closed:
            if self._failures and hints.wait_closed(self._wait_s()):
                return False
            try:
                ensure_current(self.database)
                if self._failures:
                    note_recovery(self.database)
            except StoreError as error:
                self.failed(error)
                continue
            self.condition = ""
            self.times_opened += 1
            self._opened.set()
            return True
        return False

    def passed(self) -> None:
        """Say that a write went through: the next failure starts with a short wait again."""
        self._failures = 0
        self.condition = ""

    def failed(self, error: StoreError) -> None:
        """Close the gate for now; status names the condition."""
        self._failures += 1
        if self.condition != error.condition:
            log.error("store_unavailable", condition=error.condition, error=str(error), hint=error.hint)
        self.condition = error.condition
        self.database.drop_connection()

    def wait_open(self, timeout_s: float) -> bool:
        """Wait until core.db has been opened once."""
        return self._opened.wait(timeout_s)

    def _wait_s(self) -> float:
        doubled = FIRST_WAIT_S * float(1 << min(self._failures - 1, 10))
        return min(MAX_WAIT_S, doubled) * random.uniform(0.8, 1.2)  # noqa: S311 jitter, not a secret
