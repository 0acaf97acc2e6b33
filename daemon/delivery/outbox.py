"""The facts that one sink has not delivered yet: the newest of each key, with its due time."""

import time

import msgspec

from flowd.model.facts import Fact
from flowd.system.backoff import backoff_s

KEYS_REMEMBERED = 500
MANY_DELIVERIES = 200


class PendingFact(msgspec.Struct):
    """The newest undelivered fact of one key."""

    fact: Fact
    first_seq: int
    not_before: float
    tries: int = 0


class Outbox:
    """Holds back a fact that comes too soon after the last delivery of its key, or after a failure."""

    def __init__(self) -> None:
        self._pending: dict[str, PendingFact] = {}
        self._delivered_at: dict[str, float] = {}
        self._max_debounce_s = 0.0
        self._deliveries = 0

    def __len__(self) -> int:
        return len(self._pending)

    @property
    def retrying(self) -> int:
        """Number of facts that have failed at least once."""
        return sum(pending.tries > 0 for pending in self._pending.values())

    @property
    def untried(self) -> bool:
        """Whether a fact is pending that was never tried."""
        return any(not pending.tries for pending in self._pending.values())

    def put(self, key: str, fact: Fact, debounce_s: float) -> None:
        """Queue *fact* for delivery, replacing an older pending fact of *key*."""
        pending = self._pending.get(key)
        if pending is not None:
            pending.fact = fact
            return
        self._max_debounce_s = max(self._max_debounce_s, debounce_s)
        earliest = self._delivered_at.get(key, -debounce_s) + debounce_s
        self._pending[key] = PendingFact(fact, fact.seq, earliest)

    def put_back(self, key: str, fact: Fact, seq: int) -> None:
        """Queue a quarantined fact again; it holds the cursor back to *seq* only."""
        self._pending.setdefault(key, PendingFact(fact, seq, 0.0))

    def make_due(self) -> None:
        """Make every pending fact due now."""
        for pending in self._pending.values():
            pending.not_before = 0.0

    def due(self, *, closing: bool) -> list[tuple[str, Fact]]:
        """Return the facts that are due; when *closing*, also those that were only debounced."""
        now = time.monotonic()
        return [
            (key, pending.fact)
            for key, pending in self._pending.items()
            if pending.not_before <= now or (closing and not pending.tries)
        ]

    def until_next(self) -> float | None:
        """Return the seconds until a fact is due, None if none is pending."""
        if not self._pending:
            return None
        return max(0.0, min(pending.not_before for pending in self._pending.values()) - time.monotonic())

    def oldest_seq(self) -> int | None:
        """Return the first sequence number that is not delivered yet, None if none is pending."""
        return min((pending.first_seq for pending in self._pending.values()), default=None)

    def delivered(self, key: str) -> None:
        """Remove *key*: its fact has been delivered."""
        del self._pending[key]
        self._delivered_at.pop(key, None)
        self._delivered_at[key] = time.monotonic()
        self._deliveries += 1
        if len(self._delivered_at) > KEYS_REMEMBERED:
            del self._delivered_at[next(iter(self._delivered_at))]

    def release_memory(self) -> bool:
        """Forget deliveries that no longer debounce anything; return True after many deliveries."""
        before = time.monotonic() - self._max_debounce_s
        while self._delivered_at and next(iter(self._delivered_at.values())) < before:
            del self._delivered_at[next(iter(self._delivered_at))]
        if self._pending or self._deliveries < MANY_DELIVERIES:
            return False
        self._deliveries = 0
        return True

    def failed(self, key: str, first_s: float, max_s: float) -> tuple[int, float]:
        """Postpone *key* with doubling, jittered delays; return the number of tries and the delay."""
        pending = self._pending[key]
        pending.tries += 1
        delay_s = backoff_s(pending.tries, first_s=first_s, max_s=max_s)
        pending.not_before = time.monotonic() + delay_s
        return pending.tries, delay_s

    def fact(self, key: str) -> Fact:
        """Return the pending fact of *key*."""
        return self._pending[key].fact

    def remove(self, key: str) -> None:
        """Remove *key* without delivery: its fact is in quarantine."""
        del self._pending[key]
