"""The reader takes urgent work first and the backlog one path at a time."""

import threading

from flowd.daemon.reading.queue import ReaderQueue, Work

DEADLINE_S = 30.0


def no_task() -> None:
    """Do nothing."""


def test_a_path_is_taken_once_however_often_it_was_put() -> None:
    queue = ReaderQueue()
    for path in ("/a", "/b", "/a"):
        queue.put(path)
    assert queue.waiting == 2
    assert queue.take() == Work([], ["/a", "/b"])
    assert queue.is_empty


def test_tasks_and_urgent_paths_go_before_the_backlog() -> None:
    queue = ReaderQueue()
    queue.put_backlog(["/old1", "/old2"])
    queue.put("/new")
    queue.submit(no_task)
    assert queue.take() == Work([no_task], ["/new"])
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
    assert taken == [Work([], ["/a"])]


def test_closing_ends_the_wait_and_leaves_the_rest_untaken() -> None:
    queue, taken = ReaderQueue(), []
    thread = threading.Thread(target=lambda: taken.append(queue.take()))
    thread.start()
    queue.close()
    thread.join(DEADLINE_S)
    queue.put("/a")
    assert [*taken, queue.take()] == [Work([], []), Work([], [])]
    assert queue.waiting == 1
