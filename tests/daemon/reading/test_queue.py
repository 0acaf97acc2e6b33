"""What the reader does next: tasks, urgent paths, the backlog; and when a changed path is due."""

import math
import threading

import pytest

from flowd.daemon.reading.queue import MAX_RESTING, QueuedWork, ReaderQueue, ReaderScheduler
from flowd.daemon.timing import Timer

DEADLINE_S = 30.0


def no_task() -> None:
    """Do nothing."""


def test_a_path_is_taken_once_however_often_it_was_put() -> None:
    queue = ReaderQueue()
    for path in ("/a", "/b", "/a"):
        queue.put(path)
    assert queue.waiting == 2
    assert queue.take() == QueuedWork([], ["/a", "/b"])
    assert queue.is_empty


def test_tasks_and_urgent_paths_go_before_the_backlog() -> None:
    queue = ReaderQueue()
    queue.put_backlog(["/old1", "/old2"])
    queue.put("/new")
    queue.submit(no_task)
    assert queue.take() == QueuedWork([no_task], ["/new"])
    assert [queue.take().backlog, queue.take().backlog] == ["/old1", "/old2"]


def test_what_is_put_while_the_backlog_is_read_goes_before_the_rest_of_it() -> None:
    queue = ReaderQueue()
    queue.put_backlog(["/old1", "/old2"])
    assert queue.take().backlog == "/old1"
    queue.put("/new")
    assert queue.take().urgent == ["/new"]
    assert queue.take().backlog == "/old2"


def test_the_rest_of_a_long_file_goes_before_other_files_of_the_backlog() -> None:
    queue = ReaderQueue()
    queue.put_backlog(["/long", "/other"])
    long = queue.take().backlog
    assert long is not None
    queue.put_next(long)
    assert [queue.take().backlog, queue.take().backlog] == ["/long", "/other"]


def test_a_task_that_is_submitted_twice_runs_twice() -> None:
    queue = ReaderQueue()
    queue.submit(no_task)
    queue.submit(no_task)
    assert queue.take().tasks == [no_task, no_task]


def test_taking_waits_for_another_thread() -> None:
    queue, taken = ReaderQueue(), []
    thread = threading.Thread(target=lambda: taken.append(queue.take()))
    thread.start()
    queue.put("/a")
    thread.join(DEADLINE_S)
    assert taken == [QueuedWork([], ["/a"])]


def test_closing_ends_the_wait_and_leaves_the_rest_untaken() -> None:
    queue, taken = ReaderQueue(), []
    thread = threading.Thread(target=lambda: taken.append(queue.take()))
    thread.start()
    queue.close()
    thread.join(DEADLINE_S)
    queue.put("/a")
    assert [*taken, queue.take()] == [QueuedWork([], []), QueuedWork([], [])]
    assert queue.waiting == 1


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
