"""The facts that wait for one sink: the newest per key, not before its time."""

import random
import time

import msgspec

from flowd.model.facts import Fact

KEYS_REMEMBERED = 500
MANY = 200


class PendingFact(msgspec.Struct):
    """The newest undelivered fact of one key."""

    fact: Fact
    first_seq: int
    not_before: float
    tries: int = 0


class Outbox:
    """Holds back what comes too soon after the last delivery of its key, or after a failure."""

    def __init__(self) -> None:
        self._waiting: dict[str, PendingFact] = {}
        self._delivered_at: dict[str, float] = {}
        self._longest_rest_s = 0.0
        self._since_rest = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def retrying(self) -> int:
        """How many have failed at least once."""
        return sum(waiting.tries > 0 for waiting in self._waiting.values())

    @property
    def untried(self) -> bool:
        """Whether something waits that was never tried."""
        return any(not waiting.tries for waiting in self._waiting.values())

    def put(self, key: str, fact: Fact, debounce_s: float) -> None:
        """Have *fact* delivered for *key*, in the place of an older one that still waits."""
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting.fact = fact
            return
        self._longest_rest_s = max(self._longest_rest_s, debounce_s)
        earliest = self._delivered_at.get(key, -debounce_s) + debounce_s
        self._waiting[key] = PendingFact(fact, fact.seq, earliest)

    def put_back(self, key: str, fact: Fact, seq: int) -> None:
        """Have a fact that was put aside tried again; it holds the cursor at *seq* only."""
        self._waiting.setdefault(key, PendingFact(fact, seq, 0.0))

    def hurry(self) -> None:
        """Make everything due now."""
        for waiting in self._waiting.values():
            waiting.not_before = 0.0

    def due(self, *, closing: bool) -> list[tuple[str, Fact]]:
        """Return what may be delivered now; when *closing*, also what was only held back."""
        now = time.monotonic()
        return [
            (key, waiting.fact)
            for key, waiting in self._waiting.items()
            if waiting.not_before <= now or (closing and not waiting.tries)
        ]

    def until_next(self) -> float | None:
        """Return how long until something is due, None if nothing waits."""
        if not self._waiting:
            return None
        return max(0.0, min(waiting.not_before for waiting in self._waiting.values()) - time.monotonic())

    def oldest_seq(self) -> int | None:
        """Return the first sequence number that is not delivered yet."""
        return min((waiting.first_seq for waiting in self._waiting.values()), default=None)

    def delivered(self, key: str) -> None:
        """Take *key* out: its fact has arrived."""
        del self._waiting[key]
        self._delivered_at.pop(key, None)
        self._delivered_at[key] = time.monotonic()
        self._since_rest += 1
        if len(self._delivered_at) > KEYS_REMEMBERED:
            del self._delivered_at[next(iter(self._delivered_at))]

    def release_memory(self) -> bool:
        """Forget deliveries so long ago that they hold nothing back; say if there have been many lately."""
        before = time.monotonic() - self._longest_rest_s
        while self._delivered_at and next(iter(self._delivered_at.values())) < before:
            del self._delivered_at[next(iter(self._delivered_at))]
        if self._waiting or self._since_rest < MANY:
            return False
        self._since_rest = 0
        return True

    def failed(self, key: str, first_s: float, most_s: float) -> tuple[int, float]:
        """Postpone *key* with doubling, jittered waits; return how often it failed, and the wait."""
        waiting = self._waiting[key]
        waiting.tries += 1
        wait_s = min(most_s, first_s * float(1 << min(waiting.tries - 1, 20)))
        wait_s *= random.uniform(0.8, 1.2)  # noqa: S311 jitter, not a secret
        waiting.not_before = time.monotonic() + wait_s
        return waiting.tries, wait_s

    def fact(self, key: str) -> Fact:
        """Return the fact that waits for *key*."""
        return self._waiting[key].fact

    def remove(self, key: str) -> None:
        """Take *key* out undelivered: it is kept elsewhere."""
        del self._waiting[key]
