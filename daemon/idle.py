"""Noticing that a session has gone quiet: by the wall clock, so that a suspended laptop counts."""

import time
from collections.abc import Callable

from flowd.config.errors import StoreError
from flowd.config.live import LiveSettings
from flowd.daemon.store_gate import StoreGate
from flowd.store.idle import IdleTable, Pause
from flowd.store.schema import made_at

MINUTE_S = 60


class IdleWatch:
    """Tells each pause once, also across restarts; sessions older than core.db are history."""

    def __init__(self, gate: StoreGate, settings: LiveSettings, tell: Callable[[Pause], None]) -> None:
        self._gate = gate
        self._settings = settings
        self._tell = tell
        self._table = IdleTable(gate.database)
        self._version: int | None = None
        self._untold: list[Pause] = []

    def check(self) -> None:
        """Tell the pauses that have become longer than the setting allows."""
        after_minutes = self._settings.current.idle.after_minutes
        if not after_minutes or not self._gate.is_open or self._gate.condition:
            return
        try:
            self._look()
        except StoreError:
            self._version = None
            # The reader owns the gate and reports it; the next check comes in a moment.
            self._gate.database.drop_connection()
            return
        now = time.time()
        for pause in self._untold:
            if is_idle(pause.last_activity_at, now, after_minutes):
                self._tell(pause)

    def _look(self) -> None:
        """Ask for the pauses anew only when core.db has changed: thousands of sessions may be known."""
        version = self._gate.database.version()
        if version != self._version:
            self._untold = self._table.untold(since=made_at(self._gate.database))
            self._version = version


def is_idle(last_activity_at: float, now: float, after_minutes: float) -> bool:
    """Say whether the gap, in whole minutes, is strictly longer than *after_minutes*."""
    return (now - last_activity_at) // MINUTE_S > after_minutes
