"""Delayed calls on a thread, and pauses that limit recurring work."""

import math
import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from flowd.daemon.timing import SLOT_S, Pace, Timer

DEADLINE_S = 30.0


@pytest.fixture
def running() -> Iterator[Timer]:
    timer = Timer()
    thread = threading.Thread(target=timer.run)
    thread.start()
    yield timer
    timer.close()
    thread.join(DEADLINE_S)
    assert not thread.is_alive()


def test_nothing_is_called_before_it_is_due() -> None:
    timer, called = Timer(), []
    timer.call_later(60.0, "key", lambda: called.append("later"))
    timer.run_due(time.monotonic())
    assert (called, timer.pending) == ([], 1)
    timer.run_due(time.monotonic() + 60.0 + SLOT_S)
    assert (called, timer.pending) == (["later"], 0)


def test_a_pending_key_is_called_once_and_may_be_used_again_afterwards() -> None:
    timer = Timer()
    called: list[int] = []
    for number in range(3):
        timer.call_later(1.0, "key", partial(called.append, number))
    timer.run_due(math.inf)
    timer.call_later(1.0, "key", lambda: called.append(9))
    timer.run_due(math.inf)
    assert called == [0, 9]


def test_calls_of_one_slot_become_due_together() -> None:
    timer = Timer()
    called: list[str] = []
    # The last possible due time of the first is the end of the next slot.
    for key in ("a", "b"):
        timer.call_later(0.0, key, partial(called.append, key))
    timer.run_due(time.monotonic() + 2 * SLOT_S)
    assert called == ["a", "b"]


def test_a_function_may_schedule_itself_again() -> None:
    timer, called = Timer(), []

    def again() -> None:
        called.append(1)
        timer.call_later(1.0, "key", again)

    timer.call_later(1.0, "key", again)
    timer.run_due(math.inf)
    assert (len(called), timer.pending) == (1, 1)


def test_the_thread_wakes_for_an_earlier_call_than_the_one_it_waits_for(running: Timer) -> None:
    called = threading.Event()
    running.call_later(3600.0, "late", lambda: None)
    running.call_later(0.01, "soon", called.set)
    assert called.wait(DEADLINE_S)
    assert running.pending == 1


def test_the_thread_sleeps_without_calls_and_wakes_for_the_first(running: Timer) -> None:
    for _ in range(3):
        called = threading.Event()
        running.call_later(0.0, "key", called.set)
        assert called.wait(DEADLINE_S)


def test_without_any_cost_a_key_rests_only_the_minimum() -> None:
    assert Pace(share=0.1, max_rest_s=5.0).rest_s(0.2, keys=1000) == 0.2


def test_the_rest_grows_with_the_cost_and_the_number_of_keys() -> None:
    pace = Pace(share=0.1, max_rest_s=100.0)
    for _ in range(100):  # until the smoothed cost is the real one
        pace.spent(0.02, turns=2)
    assert pace.rest_s(0.0, keys=10) == pytest.approx(0.01 * 10 / 0.1)
    assert pace.rest_s(0.0, keys=20) == pytest.approx(2 * pace.rest_s(0.0, keys=10))


def test_no_key_rests_longer_than_the_maximum() -> None:
    pace = Pace(share=0.01, max_rest_s=3.0)
    pace.spent(10.0, turns=1)
    assert pace.rest_s(0.2, keys=100) == 3.0


def test_one_expensive_turn_does_not_set_the_pace_for_good() -> None:
    pace = Pace(share=0.5, max_rest_s=100.0)
    pace.spent(1.0, turns=1)
    slow = pace.rest_s(0.0, keys=1)
    for _ in range(50):
        pace.spent(0.0, turns=1)
    assert pace.rest_s(0.0, keys=1) < slow / 100
