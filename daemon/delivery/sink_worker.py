"""One thread per sink: follows the journal at its own pace, tries again, puts aside, never skips."""

import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from flowd.config.live import LiveSettings
from flowd.config.logs import log
from flowd.daemon import memory as heap
from flowd.daemon.delivery.outbox import Outbox
from flowd.daemon.reading.queue import Pace
from flowd.daemon.store_gate import StoreGate
from flowd.model.facts import Fact
from flowd.sinks.protocol import PermanentFailureError, RetryLaterError, Sink
from flowd.store.deliveries import Deliveries
from flowd.store.journal import Journal
from flowd.system.errors import StoreError

FETCH_MOST = 500
# What many sessions keep changing is delivered so rarely that a sink takes no more than this of a core...
SHARE_OF_CORE = 0.02
# ...but not more rarely than this.
MAX_REST_S = 5.0
SAVE_CURSOR_S = 0.25
STORE_RETRY_S = 1.0
CLOSING_PAUSE_S = 0.05


class SinkStatus(NamedTuple):
    """What status tells of a sink: replaced as a whole, never changed."""

    name: str
    cursor: int = 0
    delivered: int = 0
    quarantined: int = 0
    retrying: int = 0
    last_success_at: float = 0.0
    last_error: str = ""
    last_error_at: float = 0.0
    busy_since: float = 0.0
    detail: str = ""


class SinkWorker:
    """Delivers facts to one sink. ``run`` is the thread's whole life."""

    def __init__(self, sink: Sink, gate: StoreGate, settings: LiveSettings) -> None:
        self.name = sink.name
        self._sink = sink
        self._gate = gate
        self._journal = Journal(gate.database)
        self._deliveries = Deliveries(gate.database)
        self._settings = settings
        self._outbox = Outbox()
        self._pace = Pace(SHARE_OF_CORE, MAX_REST_S)
        self._news = threading.Condition()
        self._head = 0
        self._fetched = 0
        self._at_hand: list[Fact] = []
        self._saved_cursor = -1
        self._opened = 0
        self._saved_at = 0.0
        self._aside: set[str] = set()
        self._wants_retry = False
        self._closing_at: float | None = None
        self.status = SinkStatus(sink.name)

    @property
    def low_latency(self) -> bool:
        """Whether it wants to be woken at every news."""
        return self._sink.low_latency

    @property
    def queue(self) -> int:
        """How many facts wait, those that are just being delivered among them."""
        return len(self._outbox) + max(0, self._head - self._fetched)

    def note(self, newest: int, facts: Sequence[Fact] = ()) -> None:
        """Take it that the journal now reaches to *newest*; *facts* are what it got, as far as at hand."""
        with self._news:
            last = self._at_hand[-1].seq if self._at_hand else self._head
            if facts and facts[0].seq == last + 1 and len(self._at_hand) < FETCH_MOST:
                self._at_hand.extend(facts)
            self._head = max(self._head, newest)

    def wake(self) -> None:
        """Have the worker look at what was noted."""
        with self._news:
            self._news.notify()

    def retry(self) -> None:
        """Have everything that failed or was put aside tried again now."""
        with self._news:
            self._wants_retry = True
            self._news.notify()

    def close(self, deadline: float) -> None:
        """Let the worker finish what was never tried until *deadline* (monotonic), then stop."""
        with self._news:
            self._closing_at = deadline
            self._news.notify()

    def run(self) -> None:
        """Follow the journal until closed."""
        while not self._gate.wait_open(STORE_RETRY_S):
            if self._closing_at is not None:
                return
        try:
            while not self._finished():
                self._live()
        finally:
            self._gate.database.drop_connection()

    def _live(self) -> None:
        try:
            self._start_if_new()
            self._round()
        except StoreError as error:
            # The reader owns the gate and says what is wrong with core.db; here only patience is needed.
            # What is stored may differ from what is remembered, so the start is made again from there.
            self._note_error(error)
            self._gate.database.drop_connection()
            self._saved_cursor = -1
            self._rest(STORE_RETRY_S)

    def _start_if_new(self) -> None:
        opened = self._gate.times_opened
        if self._saved_cursor >= 0 and self._opened == opened:
            return
        with self._news:
            self._head = 0  # core.db may be another one, which has not come so far
            self._at_hand = []
        cursor, delivered = self._deliveries.cursor(self.name)
        self._aside = {item.key for item in self._deliveries.quarantined(self.name)}
        self._outbox = Outbox()
        self.note(self._journal.newest())
        self._fetched = self._saved_cursor = cursor
        self._opened = opened
        self.status = self.status._replace(cursor=cursor, delivered=delivered)

    def _round(self) -> None:
        if self._wants_retry:
            self._take_back()
        self._fetch()
        due = self._outbox.due(closing=self._closing_at is not None)
        if due:
            self._deliver(due)
        self._save_cursor(force=not due or self._closing_at is not None)
        self._publish()
        if not due:
            self._release_memory()
            self._pause(self._outbox.until_next())

    def _fetch(self) -> None:
        head = self._head
        if self._fetched >= head or len(self._outbox) >= FETCH_MOST:
            return
        facts = self._take_at_hand() or self._journal.facts_after(self._fetched, FETCH_MOST)
        for fact in facts:
            key = self._sink.key(fact)
            if key is not None:
                rest_s = self._pace.rest_s(self._sink.debounce_s, len(self._outbox))
                self._outbox.put(key, fact, rest_s)
        # A short answer means that nothing is left up to the head, even where rows were replaced since.
        self._fetched = facts[-1].seq if facts else head

    def _take_at_hand(self) -> list[Fact]:
        """Return what the reader handed over, if nothing is missing between it and what was fetched."""
        with self._news:
            facts, self._at_hand = self._at_hand, []
        return facts if facts and facts[0].seq == self._fetched + 1 else []

    def _deliver(self, due: list[tuple[str, Fact]]) -> None:
        self.status = self.status._replace(busy_since=time.time())
        started_s = time.thread_time()
        accepted = [key for key, fact in due if self._accept(key, fact)]
        try:
            self._sink.flush()
        except StoreError:  # no fault of these facts: they wait until core.db serves again
            raise
        except Exception as error:  # noqa: BLE001 whatever a sink raises, its facts must stay queued
            for key in accepted:
                self._postpone(key, error)
            accepted = []
        for key in accepted:
            self._delivered(key)
        self._pace.spent(time.thread_time() - started_s, len(due))
        self.status = self.status._replace(busy_since=0.0)

    def _accept(self, key: str, fact: Fact) -> bool:
        try:
            self._sink.accept(fact)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 same
            self._postpone(key, error)
            return False
        return True

    def _delivered(self, key: str) -> None:
        self._outbox.delivered(key)
        if key in self._aside:
            self._deliveries.release(self.name, key)
            self._aside.discard(key)
        self.status = self.status._replace(
            delivered=self.status.delivered + 1, last_success_at=time.time(), detail=self._detail()
        )

    def _postpone(self, key: str, error: Exception) -> None:
        self._note_error(error)
        settings = self._settings.current.sinks
        tries, wait_s = self._outbox.failed(key, settings.retry_first_s, settings.retry_most_s)
        worn_out = tries >= settings.quarantine_after and not isinstance(error, RetryLaterError)
        if isinstance(error, PermanentFailureError) or worn_out:
            self._quarantine(key, error, tries)
        else:
            log.warning("delivery_failed", sink=self.name, key=key, error=str(error), wait_s=round(wait_s, 1))

    def _quarantine(self, key: str, error: Exception, tries: int) -> None:
        self._deliveries.quarantine(self.name, key, self._outbox.fact(key), str(error), tries)
        self._outbox.remove(key)
        if key not in self._aside:
            log.error("fact_put_aside", sink=self.name, key=key, error=str(error), hint="flowd retry")
        self._aside.add(key)

    def _take_back(self) -> None:
        self._wants_retry = False
        for item in self._deliveries.quarantined(self.name):
            self._outbox.put_back(item.key, item.fact, self._fetched + 1)
        self._outbox.hurry()

    def _save_cursor(self, *, force: bool) -> None:
        oldest = self._outbox.oldest_seq()
        cursor = max(self._fetched if oldest is None else oldest - 1, self._saved_cursor)
        now = time.monotonic()
        if cursor == self._saved_cursor or not (force or now - self._saved_at >= SAVE_CURSOR_S):
            return
        self._deliveries.advance(self.name, cursor, self.status.delivered)
        self._saved_cursor, self._saved_at = cursor, now

    def _publish(self) -> None:
        self.status = self.status._replace(
            cursor=self._saved_cursor,
            quarantined=len(self._aside),
            retrying=self._outbox.retrying,
            detail=self._detail(),
        )

    def _detail(self) -> str:
        """Return what few sinks have to tell beside what was delivered and what failed."""
        return str(getattr(self._sink, "detail", ""))

    def _note_error(self, error: Exception) -> None:
        self.status = self.status._replace(last_error=str(error), last_error_at=time.time())

    def _release_memory(self) -> None:
        """After much work, keep nothing that only it has needed."""
        if self._outbox.release_memory():
            self._gate.database.shrink()
            heap.trim()

    def _pause(self, timeout_s: float | None) -> None:
        with self._news:
            if self._closing_at is not None:
                self._news.wait(CLOSING_PAUSE_S)
            elif not self._wants_retry and (self._head <= self._fetched or len(self._outbox) >= FETCH_MOST):
                self._news.wait(timeout_s)

    def _rest(self, timeout_s: float) -> None:
        """Wait whatever comes, unless the end does."""
        with self._news:
            wait_s = timeout_s if self._closing_at is None else CLOSING_PAUSE_S
            self._news.wait_for(lambda: self._closing_at is not None, wait_s)

    def _finished(self) -> bool:
        if self._closing_at is None:
            return False
        undone = self._outbox.untried or self._fetched < self._head
        return not undone or time.monotonic() >= self._closing_at
