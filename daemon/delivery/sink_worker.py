"""One thread per sink: delivers the journal's facts, retries failures, quarantines what keeps failing."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from flowd.config.logs import log
from flowd.config.settings import LiveSettings
from flowd.daemon.activity_log import ActivityLog
from flowd.daemon.delivery.outbox import Outbox
from flowd.daemon.store_gate import StoreGate
from flowd.daemon.timing import Pace
from flowd.model.facts import Fact
from flowd.sinks.protocol import PermanentFailureError, RetryLaterError, Sink
from flowd.store.deliveries import Deliveries
from flowd.store.journal import Journal
from flowd.system.errors import StoreError

MAX_FETCHED = 500
# Deliveries for many changing sessions are spaced out until they take no more than this share of a core...
SHARE_OF_CORE = 0.02
# ...but never further apart than this.
MAX_REST_S = 5.0
SAVE_CURSOR_S = 0.25
STORE_RETRY_S = 1.0
CLOSING_PAUSE_S = 0.05


class SinkStatus(NamedTuple):
    """A sink's part of status: replaced as a whole, never changed."""

    name: str
    cursor: int = 0
    delivered: int = 0
    quarantined: int = 0
    retrying: int = 0
    last_success_at: float = 0.0
    last_error: str = ""
    last_error_at: float = 0.0
    detail: str = ""


def _no_beat() -> None:
    """Do nothing: no sign of life was requested."""


class SinkWorker:
    """Delivers facts to one sink. Its cursor never passes a fact that is not delivered."""

    def __init__(self, sink: Sink, gate: StoreGate, settings: LiveSettings) -> None:
        self.name = sink.name
        self.low_latency = sink.low_latency
        self._sink = sink
        self._gate = gate
        self._journal = Journal(gate.database)
        self._deliveries = Deliveries(gate.database)
        self._settings = settings
        self._outbox = Outbox()
        self._pace = Pace(SHARE_OF_CORE, MAX_REST_S)
        self._changed = threading.Condition()
        self._head = 0
        self._fetched = 0
        self._announced: list[Fact] = []
        self._saved_cursor = -1
        self._store_opened = 0
        self._saved_at = 0.0
        self._quarantined: set[str] = set()
        self._activity = ActivityLog()
        self._retry_requested = False
        self._deadline: float | None = None
        self._beat: Callable[[], None] = _no_beat
        self.status = SinkStatus(sink.name)

    @property
    def queue(self) -> int:
        """Number of facts waiting, including those being delivered."""
        return len(self._outbox) + max(0, self._head - self._fetched)

    def announce(self, newest: int, facts: Sequence[Fact] = ()) -> None:
        """Record that the journal reaches *newest*; wake the worker if its sink has low latency.

        *facts* are the facts just stored, if at hand: a worker that is up to date need not read them back
        (benchmark row: 200 sessions; reading them takes 16 % more CPU).
        """
        with self._changed:
            last = self._announced[-1].seq if self._announced else self._head
            if facts and facts[0].seq == last + 1 and len(self._announced) < MAX_FETCHED:
                self._announced.extend(facts)
            self._head = max(self._head, newest)
            if self.low_latency:
                self._changed.notify()

    def request_beat(self, beat: Callable[[], None]) -> None:
        """Have the thread call *beat*."""
        with self._changed:
            self._beat = beat
            self._changed.notify()

    def wake(self) -> None:
        """Have the worker process what was announced."""
        with self._changed:
            self._changed.notify()

    def retry(self) -> None:
        """Retry now everything that failed or is quarantined."""
        with self._changed:
            self._retry_requested = True
            self._changed.notify()

    def close(self, deadline: float) -> None:
        """Deliver what was never tried until *deadline* (monotonic), then stop."""
        with self._changed:
            self._deadline = deadline
            self._changed.notify()

    def run(self) -> None:
        """Deliver facts until closed."""
        while not self._gate.wait_open(STORE_RETRY_S):
            if self._deadline is not None:
                return
        try:
            while self._deadline is None or not self._is_drained():
                self._step()
        finally:
            self._gate.database.drop_connection()

    def _step(self) -> None:
        """Fetch, deliver and save the cursor once; wait when nothing is due."""
        self._beat()
        self._beat = _no_beat
        try:
            if self._saved_cursor < 0 or self._store_opened != self._gate.times_opened:
                self._load_cursor()
            if self._retry_requested:
                self._requeue_quarantined()
            self._fetch()
            due = self._outbox.due(closing=self._deadline is not None)
            if due:
                self._deliver(due)
            self._save_cursor(force=not due or self._deadline is not None)
            self._publish()
        except StoreError as error:
            # The reader reopens core.db. What is stored may differ from what is in memory: load it again.
            self._note_error(error)
            self._gate.database.drop_connection()
            self._saved_cursor = -1
            self._wait_for_store()
            return
        if not due:
            self._release_memory()
            self._wait(self._outbox.until_next())

    def _load_cursor(self) -> None:
        """Start from the stored cursor: at first, and whenever core.db has been reopened."""
        opened = self._gate.times_opened
        with self._changed:
            self._head = 0  # core.db may be another file with fewer facts
            self._announced = []
        cursor, delivered = self._deliveries.cursor(self.name)
        self._quarantined = {item.key for item in self._deliveries.quarantined(self.name)}
        self._outbox = Outbox()
        self.announce(self._journal.newest())
        self._fetched = self._saved_cursor = cursor
        self._store_opened = opened
        self.status = self.status._replace(cursor=cursor, delivered=delivered)

    def _fetch(self) -> None:
        """Move new facts into the outbox."""
        with self._changed:
            head, facts = self._head, self._announced
            self._announced = []
        if self._fetched >= head or len(self._outbox) >= MAX_FETCHED:
            return
        if not facts or facts[0].seq != self._fetched + 1:  # facts are missing between: read them
            facts = self._journal.facts_after(self._fetched, MAX_FETCHED)
        for fact in facts:
            key = self._sink.key(fact)
            if key is not None:
                rest_s = self._pace.rest_s(self._sink.debounce_s, len(self._outbox))
                self._outbox.put(key, fact, rest_s)
        # No facts means that none is left up to the head: rows may have been replaced since.
        self._fetched = facts[-1].seq if facts else head

    def _deliver(self, due: list[tuple[str, Fact]]) -> None:
        started_s = time.thread_time()
        accepted = [key for key, fact in due if self._accept(key, fact)]
        try:
            self._sink.flush()
        except StoreError:  # not the facts' fault: they stay pending until core.db is back
            raise
        except Exception as error:  # noqa: BLE001 whatever a sink raises, its facts stay pending
            for key in accepted:
                self._note_failure(key, error)
            accepted = []
        for key in accepted:
            self._note_delivery(key)
        self._pace.spent(time.thread_time() - started_s, len(due))

    def _accept(self, key: str, fact: Fact) -> bool:
        try:
            self._sink.accept(fact)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 same
            self._note_failure(key, error)
            return False
        return True

    def _note_delivery(self, key: str) -> None:
        self._activity.delivered(self.name, key, self._outbox.fact(key))
        self._outbox.delivered(key)
        if key in self._quarantined:
            self._deliveries.release(self.name, key)
            self._quarantined.discard(key)
        self.status = self.status._replace(
            delivered=self.status.delivered + 1, last_success_at=time.time(), detail=self._detail()
        )

    def _note_failure(self, key: str, error: Exception) -> None:
        """Schedule a retry, or quarantine the fact when retrying is pointless."""
        self._note_error(error)
        settings = self._settings.current.sinks
        tries, delay_s = self._outbox.failed(key, settings.retry_first_s, settings.retry_most_s)
        exhausted = tries >= settings.quarantine_after and not isinstance(error, RetryLaterError)
        if isinstance(error, PermanentFailureError) or exhausted:
            self._quarantine(key, error, tries)
        else:
            log.warning(
                "delivery_failed", sink=self.name, key=key, error=str(error), retry_in_s=round(delay_s, 1)
            )

    def _quarantine(self, key: str, error: Exception, tries: int) -> None:
        self._deliveries.quarantine(self.name, key, self._outbox.fact(key), str(error), tries)
        self._outbox.remove(key)
        if key not in self._quarantined:
            log.error("fact_quarantined", sink=self.name, key=key, error=str(error), hint="flowd retry")
        self._quarantined.add(key)

    def _requeue_quarantined(self) -> None:
        self._retry_requested = False
        for item in self._deliveries.quarantined(self.name):
            self._outbox.put_back(item.key, item.fact, self._fetched + 1)
        self._outbox.make_due()

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
            quarantined=len(self._quarantined),
            retrying=self._outbox.retrying,
            detail=self._detail(),
        )

    def _detail(self) -> str:
        """Return the sink's line for status, if it has one."""
        return str(getattr(self._sink, "detail", ""))

    def _note_error(self, error: Exception) -> None:
        self.status = self.status._replace(last_error=str(error), last_error_at=time.time())

    def _release_memory(self) -> None:
        """After many deliveries, release the memory that only they needed."""
        if self._outbox.release_memory():
            self._gate.database.shrink()

    def _wait(self, timeout_s: float | None) -> None:
        with self._changed:
            if self._deadline is not None:
                self._changed.wait(CLOSING_PAUSE_S)
            elif (
                self._beat is _no_beat
                and not self._retry_requested
                and (self._head <= self._fetched or len(self._outbox) >= MAX_FETCHED)
            ):
                self._changed.wait(timeout_s)

    def _wait_for_store(self) -> None:
        """Wait before core.db is tried again, shorter when closing."""
        with self._changed:
            wait_s = STORE_RETRY_S if self._deadline is None else CLOSING_PAUSE_S
            self._changed.wait_for(lambda: self._deadline is not None, wait_s)

    def _is_drained(self) -> bool:
        """Return True when closing is complete: nothing untried is left, or the deadline has passed."""
        untried = self._outbox.untried or self._fetched < self._head
        return not untried or time.monotonic() >= (self._deadline or 0.0)
