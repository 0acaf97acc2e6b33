"""What changes while a backlog is read: threads switch more often, and memory is released afterwards."""

import sys

from flowd.daemon.reading.follower import Follower
from flowd.daemon.reading.pipeline import Pipeline
from flowd.daemon.reading.progress import ReaderStatus
from flowd.store.database import Database

# Other threads must get the interpreter soon (benchmark row: status during catch-up).
CATCHING_UP_SWITCH_S = 0.0001
USUAL_SWITCH_S = 0.005
# Records of known files that stay unpacked: live transcripts are looked up again and again (benchmark row:
# 200 sessions x 20 lines/s; packing all of them takes 5 % more CPU).
MAX_UNPACKED = 256


class CatchUp:
    """Switches the reader between following live sessions and reading a backlog."""

    def __init__(
        self, status: ReaderStatus, follower: Follower, pipeline: Pipeline, database: Database
    ) -> None:
        self._status = status
        self._follower = follower
        self._pipeline = pipeline
        self._database = database

    def begin(self) -> None:
        """Record that a backlog is being read."""
        if not self._status.progress.catching_up:
            sys.setswitchinterval(CATCHING_UP_SWITCH_S)
            self._status.set_catching_up(True)

    def release_memory(self, *, done: bool) -> None:
        """Release what only reading needed; everything must be stored. *done*: the backlog is empty."""
        catching_up = self._status.progress.catching_up
        self._follower.known.pack(0 if catching_up else MAX_UNPACKED)
        if not catching_up:
            return
        had_inactive = self._pipeline.release_memory()
        if done:
            sys.setswitchinterval(USUAL_SWITCH_S)
            self._status.set_catching_up(False)
            if had_inactive:
                self._database.shrink()
