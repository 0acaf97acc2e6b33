"""A sink follows the journal at its own pace: nothing is skipped, nothing blocks another sink."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flowd.config.settings import LiveSettings
from flowd.daemon.delivery.sink_worker import SinkStatus, SinkWorker
from flowd.daemon.store_gate import StoreGate
from flowd.model.facts import Fact, Titled, state_fact
from flowd.model.session import SessionState
from flowd.sinks.protocol import PermanentFailureError, RetryLaterError
from flowd.store.database import Database
from flowd.store.deliveries import Deliveries
from flowd.store.journal import Batch, Journal
from flowd.store.schema import ensure_current

DEADLINE_S = 30.0
QUICK = "sinks: {retry_first_s: 0.001, retry_most_s: 0.002, quarantine_after: 3}\n"
PATIENT = "sinks: {retry_first_s: 3600, retry_most_s: 3600, quarantine_after: 3}\n"


class Shelf:
    """A sink that takes facts into a list, and does as told with those of some sessions."""

    debounce_s = 0.0
    low_latency = True

    def __init__(self, name: str = "shelf") -> None:
        self.name = name
        self.taken: list[Fact] = []
        self.tried: list[str] = []
        self.errors: dict[str, Exception] = {}
        self.on_flush: Exception | None = None
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def key(self, fact: Fact) -> str | None:
        return fact.session_id if fact.session_id != "not-mine" else None

    def accept(self, fact: Fact) -> None:
        self.tried.append(fact.session_id)
        assert self.may_go_on.wait(DEADLINE_S)
        if fact.session_id in self.errors:
            raise self.errors[fact.session_id]
        self.taken.append(fact)

    def flush(self) -> None:
        if self.on_flush:
            raise self.on_flush


class Bench:
    """A journal to write into, and workers that follow it in threads of their own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.database = Database(path / "core.db")
        ensure_current(self.database)
        self.gate = StoreGate(self.database)
        assert self.gate.open(threading.Event())
        self.workers: list[SinkWorker] = []
        self._threads: list[threading.Thread] = []
        self.set(QUICK)

    def set(self, text: str) -> None:
        (self._path / "config.yaml").write_text(text)
        self.settings = LiveSettings(self._path / "config.yaml")

    def work(self, sink: Shelf) -> SinkWorker:
        worker = SinkWorker(sink, self.gate, self.settings)
        thread = threading.Thread(target=worker.run)
        thread.start()
        self.workers.append(worker)
        self._threads.append(thread)
        return worker

    def write(self, *sessions: str, title: str = "t") -> int:
        """Add one state per session; return the newest sequence number."""
        batch = Batch()
        for session in sessions:
            batch.facts.append(state_fact(SessionState(session_id=session, project="/p", title=title)))
        newest = Journal(self.database).commit(batch)
        for worker in self.workers:
            worker.announce(newest)
        return newest

    def end(self, drain_s: float = DEADLINE_S) -> None:
        """Close all workers and see them end."""
        for worker in self.workers:
            worker.close(time.monotonic() + drain_s)
        for thread in self._threads:
            thread.join(DEADLINE_S)
            assert not thread.is_alive()
        self.workers, self._threads = [], []

    def cursor(self, sink: str = "shelf") -> int:
        return Deliveries(self.database).cursor(sink)[0]

    def aside(self) -> list[str]:
        return [item.key for item in Deliveries(self.database).quarantined("shelf")]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.end(0.0)
    made.database.close()


def until(worker: SinkWorker, holds: Callable[[SinkStatus], object]) -> SinkStatus:
    deadline = time.monotonic() + DEADLINE_S
    while not holds(worker.status):
        assert time.monotonic() < deadline, worker.status
        time.sleep(0.002)
    return worker.status


def test_facts_arrive_in_order_and_the_cursor_follows(bench: Bench) -> None:
    shelf = Shelf()
    bench.write("a", "b")
    worker = bench.work(shelf)
    newest = bench.write("c", "not-mine")
    until(worker, lambda status: status.cursor == newest)
    assert [fact.session_id for fact in shelf.taken] == ["a", "b", "c"]
    assert bench.cursor() == newest


def test_the_cursor_stays_before_a_fact_that_is_not_delivered_yet(bench: Bench) -> None:
    """Whatever came after it, a restart begins with it."""
    bench.set(PATIENT)
    shelf = Shelf()
    shelf.errors["b"] = shelf.errors["d"] = OSError("not now")
    worker = bench.work(shelf)
    bench.write("a", "b", "c", "d")
    until(worker, lambda status: status.delivered == 2 and status.retrying == 2)
    bench.end()
    assert bench.cursor() == 1
    again = Shelf()
    bench.work(again)
    bench.end()
    assert [fact.session_id for fact in again.taken] == ["b", "c", "d"]
    assert bench.cursor() == 4


def test_a_failed_delivery_is_tried_again_and_the_error_is_shown(bench: Bench) -> None:
    shelf = Shelf()
    shelf.errors["a"] = OSError("the disk is away")
    bench.set(QUICK.replace("3}", "1000000}"))
    worker = bench.work(shelf)
    bench.write("a")
    until(worker, lambda status: shelf.tried.count("a") > 3)
    assert worker.status.last_error == "the disk is away"
    del shelf.errors["a"]
    until(worker, lambda status: (status.delivered, status.retrying, worker.queue) == (1, 0, 0))
    assert len(shelf.taken) == 1


def test_a_failing_flush_delivers_nothing(bench: Bench) -> None:
    bench.set(PATIENT)
    shelf = Shelf()
    shelf.on_flush = OSError("no sync")
    worker = bench.work(shelf)
    bench.write("a")
    status = until(worker, lambda status: status.retrying)
    assert (status.delivered, bench.cursor()) == (0, 0)
    shelf.on_flush = None
    worker.retry()
    until(worker, lambda status: status.delivered == 1 and status.retrying == 0)


def test_after_so_many_failures_a_fact_is_put_aside_and_the_rest_goes_on(bench: Bench) -> None:
    shelf = Shelf()
    shelf.errors["a"] = OSError("never")
    worker = bench.work(shelf)
    newest = bench.write("a", "b")
    until(worker, lambda status: status.quarantined == 1 and status.cursor == newest)
    assert shelf.tried.count("a") == 3
    assert bench.aside() == ["a"]


def test_a_refused_fact_is_put_aside_at_once(bench: Bench) -> None:
    shelf = Shelf()
    shelf.errors["a"] = PermanentFailureError("a link leads out")
    worker = bench.work(shelf)
    bench.write("a")
    until(worker, lambda status: status.quarantined == 1)
    assert shelf.tried == ["a"]
    (item,) = Deliveries(bench.database).quarantined("shelf")
    assert (item.error, item.fact.session_id, item.tries) == ("a link leads out", "a", 1)


def test_what_only_has_to_wait_is_tried_until_it_can_be_taken(bench: Bench) -> None:
    shelf = Shelf()
    shelf.errors["a"] = RetryLaterError("locked")
    worker = bench.work(shelf)
    bench.write("a")
    until(worker, lambda status: shelf.tried.count("a") > 10)
    assert bench.aside() == []
    shelf.errors.clear()
    until(worker, lambda status: status.delivered == 1)


def test_retry_brings_back_what_was_put_aside(bench: Bench) -> None:
    shelf = Shelf()
    shelf.errors["a"] = PermanentFailureError("no")
    bench.work(shelf)
    bench.write("a")
    until(bench.workers[0], lambda status: status.quarantined == 1)
    bench.end()
    mended = Shelf()
    worker = bench.work(mended)
    until(worker, lambda status: status.quarantined == 1)
    worker.retry()
    until(worker, lambda status: status.quarantined == 0)
    assert [fact.session_id for fact in mended.taken] == ["a"]
    assert bench.aside() == []


def test_a_retry_that_fails_again_leaves_the_fact_aside_and_the_cursor_where_it_was(bench: Bench) -> None:
    shelf = Shelf()
    shelf.errors["a"] = PermanentFailureError("no")
    worker = bench.work(shelf)
    newest = bench.write("a", "b")
    until(worker, lambda status: status.quarantined == 1 and status.cursor == newest)
    worker.retry()
    until(worker, lambda status: shelf.tried.count("a") == 2)
    bench.end()
    assert bench.aside() == ["a"]
    assert bench.cursor() == newest


def test_a_newer_fact_of_the_same_key_releases_the_one_put_aside(bench: Bench) -> None:
    shelf = Shelf()
    shelf.errors["a"] = PermanentFailureError("no")
    worker = bench.work(shelf)
    bench.write("a", title="old")
    until(worker, lambda status: status.quarantined == 1)
    del shelf.errors["a"]
    bench.write("a", title="new")
    until(worker, lambda status: status.delivered == 1 and status.quarantined == 0)
    assert bench.aside() == []
    worker.retry()
    bench.end()
    assert len(shelf.taken) == 1


def test_of_several_waiting_facts_with_one_key_only_the_newest_arrives(bench: Bench) -> None:
    shelf = Shelf()
    shelf.may_go_on.clear()
    worker = bench.work(shelf)
    bench.write("busy")
    until(worker, lambda status: shelf.tried)
    for title in ("1", "2", "3"):
        newest = bench.write("a", title=title)
    shelf.may_go_on.set()
    until(worker, lambda status: status.cursor == newest)
    assert [fact.body.state.title for fact in shelf.taken[1:]] == ["3"]  # type: ignore[union-attr]  # states only


def test_a_debounced_key_waits_but_closing_delivers_it(bench: Bench) -> None:
    shelf = Shelf()
    shelf.debounce_s = 3600.0
    worker = bench.work(shelf)
    bench.write("a", title="first")
    until(worker, lambda status: status.delivered == 1)
    newest = bench.write("a", title="second")
    until(worker, lambda _: worker.queue == 1)
    assert len(shelf.taken) == 1
    bench.end()
    assert len(shelf.taken) == 2
    assert bench.cursor() == newest


def test_a_hung_sink_does_not_stop_the_others_and_its_facts_wait_for_the_next_start(bench: Bench) -> None:
    hung, other = Shelf(), Shelf("other")
    hung.may_go_on.clear()
    bench.work(hung)
    worker = bench.work(other)
    newest = bench.write("a", "b")
    until(worker, lambda status: status.cursor == newest)
    assert bench.cursor() == 0
    hung.may_go_on.set()


def test_the_queue_is_told_as_it_is_while_a_delivery_takes_its_time(bench: Bench) -> None:
    shelf = Shelf()
    worker = bench.work(shelf)
    shelf.may_go_on.clear()
    bench.write("a", "b")
    until(worker, lambda status: shelf.tried)
    bench.write("c")
    assert worker.queue == 3
    shelf.may_go_on.set()
    until(worker, lambda _: worker.queue == 0)
    assert [fact.session_id for fact in shelf.taken] == ["a", "b", "c"]


def test_a_locked_core_db_costs_no_fact_its_place(bench: Bench) -> None:
    """It is nobody's fault, so nothing is counted as a failure of the fact or put aside."""
    shelf = Shelf()
    worker = bench.work(shelf)
    bench.write("a")
    until(worker, lambda status: status.delivered == 1)
    worker._gate.database.connection()
    with pytest.MonkeyPatch.context() as patch:
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        failures = []

        def refuse(*_: object) -> None:
            failures.append(1)
            with bench.database.errors_named():
                raise error

        patch.setattr(worker._deliveries, "advance", refuse)
        patch.setattr("flowd.daemon.delivery.sink_worker.STORE_RETRY_S", 0.01)
        newest = bench.write("b")
        until(worker, lambda status: len(failures) > 3)
    until(worker, lambda status: status.cursor == newest)
    assert {fact.session_id for fact in shelf.taken} == {"a", "b"}
    assert bench.aside() == []


def test_a_worker_starts_over_when_core_db_has_become_another_one(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sequence numbers begin anew there; the old cursor must not hide the new facts."""
    monkeypatch.setattr("flowd.daemon.delivery.sink_worker.STORE_RETRY_S", 0.01)
    shelf = Shelf()
    worker = bench.work(shelf)
    newest = bench.write(*(f"s{number}" for number in range(9)))
    until(worker, lambda status: status.cursor == newest)
    bench.database.drop_connection()
    for file in bench.database.path.parent.glob("core.db*"):
        file.unlink()
    assert bench.gate.open(threading.Event())
    bench.write("fresh")
    until(worker, lambda status: any(fact.session_id == "fresh" for fact in shelf.taken))
    assert until(worker, lambda status: status.cursor == 1)


def test_discrete_facts_are_delivered_like_states(bench: Bench) -> None:
    shelf = Shelf()
    worker = bench.work(shelf)
    batch = Batch()
    batch.facts.append(Fact("k", "a", "/p", 1.0, Titled("T")))
    worker.announce(Journal(bench.database).commit(batch))
    until(worker, lambda status: status.delivered == 1)
    assert shelf.taken[0].body == Titled("T")
