"""Tells the sinks what was stored: those that somebody watches at once, the others together."""

from collections.abc import Sequence

from flowd.daemon.delivery.sink_worker import SinkWorker
from flowd.daemon.reading.queue import ReaderQueue
from flowd.model.facts import Fact

# Ten threads that wake for every line would keep the one that somebody waits for from its work.
PATIENCE_S = 0.1


class Dispatcher:
    """Knows the worker of each sink."""

    def __init__(self, hints: ReaderQueue) -> None:
        self._hints = hints
        self.workers: dict[str, SinkWorker] = {}

    def tell(self, newest: int, facts: Sequence[Fact] = ()) -> None:
        """Say that the journal now reaches to *newest*; *facts* are what it got, as far as at hand."""
        workers = tuple(self.workers.values())  # the main thread may just be adding one
        for worker in workers:
            worker.note(newest, facts)
        self._hints.put_task_later(self._wake_others, PATIENCE_S)
        for worker in workers:
            if worker.low_latency:
                worker.wake()

    def _wake_others(self) -> None:
        for worker in tuple(self.workers.values()):
            if not worker.low_latency:
                worker.wake()
