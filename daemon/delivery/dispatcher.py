"""Announce new facts to the sink workers."""

from collections.abc import Sequence

from flowd.daemon.delivery.sink_worker import SinkWorker
from flowd.daemon.timing import Timer
from flowd.model.facts import Fact

# Ten threads that wake for every line would compete with the one that somebody waits for.
WAKE_DELAY_S = 0.1


class Dispatcher:
    """Knows the worker of each sink. Low-latency workers are woken at once, the others together later."""

    def __init__(self, timer: Timer) -> None:
        self._timer = timer
        self.workers: dict[str, SinkWorker] = {}

    def announce(self, newest: int, facts: Sequence[Fact] = ()) -> None:
        """Announce that the journal reaches *newest*; *facts* are what was just stored, if at hand."""
        for worker in tuple(self.workers.values()):  # the main thread may be adding one
            worker.announce(newest, facts)
        self._timer.call_later(WAKE_DELAY_S, self, self._wake_others)

    def _wake_others(self) -> None:
        for worker in tuple(self.workers.values()):
            if not worker.low_latency:
                worker.wake()
