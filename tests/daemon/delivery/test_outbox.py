"""What waits for a sink, and what is remembered of what was delivered."""

from flowd.daemon.delivery.outbox import KEYS_REMEMBERED, MANY_DELIVERIES, Outbox
from flowd.model.facts import Fact, Titled


def deliver(outbox: Outbox, key: str, rest_s: float) -> None:
    outbox.put(key, fact(key), rest_s)
    outbox.delivered(key)


def fact(key: str) -> Fact:
    return Fact(key, "s", "", 1.0, Titled("t"))


def is_held_back(outbox: Outbox, key: str, rest_s: float) -> bool:
    outbox.put(key, fact(key), rest_s)
    held = not outbox.due(closing=False)
    outbox.remove(key)
    return held


def test_what_was_delivered_a_moment_ago_is_still_held_back_after_letting_go() -> None:
    """Only what holds nothing back any more is forgotten."""
    outbox = Outbox()
    deliver(outbox, "a", 60.0)
    outbox.release_memory()
    assert is_held_back(outbox, "a", 60.0)


def test_a_sink_without_rests_remembers_no_deliveries() -> None:
    """What holds nothing back is forgotten at the next pause."""
    outbox = Outbox()
    deliver(outbox, "a", 0.0)
    outbox.release_memory()
    assert not is_held_back(outbox, "a", 60.0)


def test_only_the_latest_deliveries_are_remembered() -> None:
    """A catch-up of thousands of sessions does not stay in memory."""
    outbox = Outbox()
    for number in range(KEYS_REMEMBERED + 1):
        deliver(outbox, str(number), 60.0)
    assert not is_held_back(outbox, "0", 60.0)
    assert is_held_back(outbox, "1", 60.0)


def test_much_work_is_told_once_and_only_when_nothing_waits() -> None:
    """Then memory is worth giving back."""
    outbox = Outbox()
    for number in range(MANY_DELIVERIES):
        deliver(outbox, str(number), 0.0)
    outbox.put("waiting", fact("waiting"), 0.0)
    assert not outbox.release_memory()
    outbox.delivered("waiting")
    assert outbox.release_memory()
    assert not outbox.release_memory()
