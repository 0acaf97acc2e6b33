"""The first line after a pause is read at once; the lines of a stream are read together."""

import math

import pytest

from flowd.daemon.reading.queue import ReaderQueue
from flowd.daemon.reading.scheduler import MAX_RESTING, ReaderScheduler
from flowd.daemon.timer import Timer

PATH = "/projects/p/s1.jsonl"


class Scheduled:
    """A scheduler with its queue; time passes when ``let_rest_end`` is called."""

    def __init__(self, min_rest_s: float = 60.0) -> None:
        self.queue, self.timer = ReaderQueue(), Timer()
        self.scheduler = ReaderScheduler(self.queue, self.timer, min_rest_s)

    def read(self) -> list[str]:
        """Take what is urgent and let it rest, as the reader does."""
        urgent = self.queue.take().urgent
        self.scheduler.start_rest(urgent)
        return urgent

    def let_rest_end(self) -> None:
        self.timer.run_due(math.inf)


@pytest.fixture
def scheduled() -> Scheduled:
    return Scheduled()


def test_the_first_change_is_queued_at_once(scheduled: Scheduled) -> None:
    scheduled.scheduler.put(PATH)
    assert scheduled.read() == [PATH]


def test_a_transcript_that_was_just_read_waits_for_the_end_of_its_rest(scheduled: Scheduled) -> None:
    scheduled.scheduler.put(PATH)
    scheduled.read()
    for _ in range(3):
        scheduled.scheduler.put(PATH)
    assert (scheduled.queue.waiting, scheduled.scheduler.held) == (0, 1)
    scheduled.let_rest_end()
    assert (scheduled.read(), scheduled.scheduler.held) == ([PATH], 0)


def test_other_transcripts_do_not_wait_for_it(scheduled: Scheduled) -> None:
    scheduled.scheduler.put(PATH)
    scheduled.read()
    scheduled.scheduler.put("/projects/p/s2.jsonl")
    assert scheduled.read() == ["/projects/p/s2.jsonl"]


def test_what_is_no_transcript_never_rests(scheduled: Scheduled) -> None:
    for _ in range(2):
        scheduled.scheduler.put("/work/p/.git/HEAD")
        assert scheduled.read() == ["/work/p/.git/HEAD"]


def test_after_its_rest_a_transcript_is_queued_at_once_again() -> None:
    scheduled = Scheduled(min_rest_s=0.0)
    for _ in range(2):
        scheduled.scheduler.put(PATH)
        assert scheduled.read() == [PATH]


def test_the_rest_is_longer_the_more_reading_costs() -> None:
    scheduled = Scheduled(min_rest_s=0.0)
    scheduled.scheduler.spent(3600.0, 1)
    scheduled.scheduler.put(PATH)
    scheduled.read()
    scheduled.scheduler.put(PATH)
    assert scheduled.scheduler.held == 1


def test_thousands_of_transcripts_that_have_rested_are_forgotten() -> None:
    scheduled = Scheduled(min_rest_s=0.0)
    for number in range(MAX_RESTING + 2):
        scheduled.scheduler.start_rest([f"/p/{number}.jsonl"])
    assert len(scheduled.scheduler._rests_until) <= 2


def test_a_path_may_be_queued_after_a_delay(scheduled: Scheduled) -> None:
    scheduled.scheduler.put_later(PATH, 1.0)
    scheduled.scheduler.put_later(PATH, 1.0)
    assert scheduled.queue.is_empty
    scheduled.let_rest_end()
    assert scheduled.read() == [PATH]


def test_a_delayed_task_is_submitted_once(scheduled: Scheduled) -> None:
    def task() -> None:
        """Do nothing."""

    scheduled.scheduler.submit_later(task, 1.0)
    scheduled.scheduler.submit_later(task, 1.0)
    scheduled.let_rest_end()
    assert scheduled.queue.take().tasks == [task]
