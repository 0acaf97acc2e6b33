"""The cap is hard: it is reserved before a call, by whoever comes first, and settled after it."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from flowd.model.summary import Summary
from flowd.store.database import Database
from flowd.store.summaries import Caps, ModelCall, Settled, Summaries

CAPS = Caps(tokens_per_day=10_000, usd_per_day=1.0, tokens_per_work=6000, usd_per_work=0.5)
LEASE_S = 60.0


def call(digest: str, work: str = "w1", tokens: int = 4000, usd: float = 0.1) -> ModelCall:
    return ModelCall(digest, work, "s1", "session-end", 3, tokens, usd)


@pytest.fixture
def store(database: Database) -> Summaries:
    return Summaries(database)


def settled(store: Summaries, digest: str, tokens: int, work: str = "w1", usd: float = 0.01) -> None:
    number = store.reserve(call(digest, work), CAPS, LEASE_S).id
    assert number
    store.settle(number, Settled("answered", tokens, usd, "haiku", "", Summary(goal=digest)))


def test_nobody_agreed_at_first_and_the_last_word_counts(store: Summaries) -> None:
    assert store.consent() is None
    store.set_consent("Claude Code (haiku)")
    agreed = store.consent()
    assert agreed is not None
    assert agreed.engine == "Claude Code (haiku)"
    store.set_consent("")
    assert store.consent() is None


def test_a_digest_is_reserved_once(store: Summaries) -> None:
    settled(store, "one", 100)
    assert store.reserve(call("one"), CAPS, LEASE_S).reason == "known"


def test_of_many_that_ask_at_once_one_gets_the_call(store: Summaries) -> None:
    with ThreadPoolExecutor(8) as pool:
        reserved = list(pool.map(lambda n: store.reserve(call(f"d{n % 2}"), CAPS, LEASE_S), range(16)))
    assert sum(bool(one.id) for one in reserved) == 1
    assert {one.reason for one in reserved if not one.id} <= {"busy", "known"}


def test_a_call_whose_flowd_was_killed_ends_with_its_lease_and_counts_as_reserved(store: Summaries) -> None:
    assert store.reserve(call("one", tokens=3000), CAPS, LEASE_S).id
    assert store.reserve(call("two"), CAPS, LEASE_S).reason == "busy"
    time.sleep(0.01)
    assert store.reserve(call("two", "w2"), CAPS, 0.001).id
    assert store.meter().tokens_today == 7000


@pytest.mark.parametrize(
    ("work", "caps", "name"),
    [
        ("w2", CAPS._replace(tokens_per_day=7999), "tokens_per_day"),
        ("w2", CAPS._replace(usd_per_day=0.59), "usd_per_day"),
        ("w1", CAPS._replace(tokens_per_work=7999), "tokens_per_work"),
        ("w1", CAPS._replace(tokens_per_work=9000, usd_per_work=0.59), "usd_per_work"),
    ],
)
def test_a_call_that_could_pass_a_cap_is_not_made(store: Summaries, work: str, caps: Caps, name: str) -> None:
    settled(store, "one", 4000, usd=0.5)
    refused = store.reserve(call("two", work), caps, LEASE_S)
    assert (refused.id, refused.reason) == (0, "cap")
    assert f"model.{name} is " in refused.cap
    assert store.meter().stopped == refused.cap
    assert (store.meter().calls_today, store.meter().tokens_today) == (1, 4000)


def test_exactly_at_the_cap_it_is_made(store: Summaries) -> None:
    settled(store, "one", 4000)
    room = CAPS._replace(tokens_per_day=8000, tokens_per_work=8000)
    assert store.reserve(call("two"), room, LEASE_S).id


def test_what_the_program_reports_takes_the_place_of_what_was_reserved(store: Summaries) -> None:
    settled(store, "one", 123, usd=0.0012)
    meter = store.meter()
    assert (meter.calls_today, meter.tokens_today, meter.usd_today) == (1, 123, 0.0012)


def test_what_is_not_reported_stays_as_reserved(store: Summaries) -> None:
    number = store.reserve(call("one"), CAPS, LEASE_S).id
    store.settle(number, Settled("failed", error="it hung"))
    meter = store.meter()
    assert (meter.tokens_today, meter.usd_today, meter.last_error) == (4000, 0.1, "it hung")


def test_a_call_that_was_never_made_costs_nothing_and_may_be_made_later(store: Summaries) -> None:
    store.release(store.reserve(call("one"), CAPS, LEASE_S).id, "not installed")
    meter = store.meter()
    assert (meter.calls_today, meter.tokens_today, meter.last_error) == (0, 0, "not installed")
    assert store.reserve(call("one"), CAPS, LEASE_S).id


def test_yesterday_does_not_count(store: Summaries, database: Database) -> None:
    settled(store, "one", 5000)
    with database.transaction() as connection:
        connection.execute("update flow_summaries set at = at - 2 * 86400")
    assert store.meter().tokens_today == 0
    settled(store, "two", 5000, "w2")
    assert store.reserve(call("three"), CAPS, LEASE_S).reason == "cap"  # of the work, over its whole life


def test_without_consent_no_summary_is_shown(store: Summaries, database: Database) -> None:
    settled(store, "one", 100)
    settled(store, "two", 100)
    with database.transaction() as connection:
        connection.execute("insert into flow_works (id, project) values ('w1', '/p')")
    assert store.latest("/p") == {}
    store.set_consent("engine")
    assert store.latest("/p") == {"w1": Summary(goal="two")}
    assert store.latest("/other") == {}
    assert store.progress("w1") == 3
