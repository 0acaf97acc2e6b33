"""Times of the future are taken for now: they must not hold the handoff of all later sessions."""

import os
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.transcript_lines import line

if TYPE_CHECKING:
    from flowd.model.session import SessionState
    from tests.support.following import Following


def state_of(following: "Following", session: str = "s1") -> "SessionState":
    (state,) = [fact.body.state for fact in following.facts("state") if fact.session_id == session]  # type: ignore[union-attr]  # the facts of kind state hold one
    return state


@pytest.mark.parametrize(
    "stamp", ["2099-01-01T00:00:00Z", "2099-01-01T00:00:00.000+02:00", "9999-12-31T23:59:59-14:00"]
)
def test_a_record_of_the_future_is_of_now(following: "Following", stamp: str) -> None:
    following.append(line(1, timestamp=stamp))
    assert abs(state_of(following).last_activity_at - time.time()) < 600


@pytest.mark.parametrize("stamp", ["x" * 1000, "9999", "2099-13-45T00:00:00Z", "zzz"])
def test_what_is_no_time_counts_as_none(following: "Following", stamp: str) -> None:
    following.append(line(1, timestamp=stamp))
    following.append(line(2))
    assert state_of(following).last_activity_at == pytest.approx(1767322802.0)


def test_a_file_of_the_future_is_of_now(following: "Following") -> None:
    following.transcript.write_bytes(line(1))
    os.utime(following.transcript, (4e9, 4e9))
    following.catch_up()
    assert state_of(following).touched_at <= time.time()


def test_a_time_of_the_past_stays_as_it_is(following: "Following") -> None:
    following.append(line(1))
    assert state_of(following).last_activity_at == pytest.approx(1767322801.0)


def test_what_was_stored_of_the_future_is_of_now_with_the_next_record(following: "Following") -> None:
    """An earlier version kept it."""
    following.append(line(1))
    pipeline = following.reader._pipeline
    memory = pipeline._memory("s1").part("activity")
    memory.last, memory.touched_at = "2099-01-01T00:00:00Z", 4e9
    pipeline.touch("s1")
    following.catch_up()
    following.restart()
    following.append(line(2))
    assert state_of(following).last_activity_at <= time.time()
    assert state_of(following).touched_at <= time.time()
