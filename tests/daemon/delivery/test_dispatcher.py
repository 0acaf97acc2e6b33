"""New facts are announced to every sink; only those with low latency are woken at once."""

import math
from collections.abc import Sequence

from flowd.daemon.delivery.dispatcher import Dispatcher
from flowd.daemon.timing import Timer
from flowd.model.facts import Fact, Titled

FACT = Fact("k", "s", "", 1.0, Titled("t"), seq=7)


class Worker:
    """Notes what a SinkWorker would be told."""

    def __init__(self, low_latency: bool) -> None:
        self.low_latency = low_latency
        self.announced: list[tuple[int, list[Fact]]] = []
        self.woken = 0

    def announce(self, newest: int, facts: Sequence[Fact] = ()) -> None:
        self.announced.append((newest, list(facts)))

    def wake(self) -> None:
        self.woken += 1


def dispatcher_of(timer: Timer, **workers: Worker) -> Dispatcher:
    dispatcher = Dispatcher(timer)
    dispatcher.workers.update(workers)  # type: ignore[arg-type]  # stand-ins
    return dispatcher


def test_every_worker_gets_the_facts_and_their_newest_number() -> None:
    fast, slow = Worker(low_latency=True), Worker(low_latency=False)
    dispatcher_of(Timer(), fast=fast, slow=slow).announce(7, [FACT])
    assert fast.announced == slow.announced == [(7, [FACT])]


def test_workers_without_low_latency_are_woken_together_a_moment_later() -> None:
    timer, fast, slow = Timer(), Worker(low_latency=True), Worker(low_latency=False)
    dispatcher = dispatcher_of(timer, fast=fast, slow=slow)
    for newest in (7, 8, 9):
        dispatcher.announce(newest)
    assert slow.woken == 0
    timer.run_due(math.inf)
    assert (fast.woken, slow.woken) == (0, 1)  # a fast worker wakes itself when it is announced to


def test_a_worker_that_was_restarted_meanwhile_is_the_one_that_is_woken() -> None:
    timer, before, after = Timer(), Worker(low_latency=False), Worker(low_latency=False)
    dispatcher = dispatcher_of(timer, sink=before)
    dispatcher.announce(7)
    dispatcher.workers["sink"] = after  # type: ignore[assignment]  # stand-in
    timer.run_due(math.inf)
    assert (before.woken, after.woken) == (0, 1)
