"""Which facts are moments at which the model is asked, and what the sink does with the outcome."""

import time
from collections.abc import Iterator

import msgspec
import pytest

from flowd.actions import summarise
from flowd.actions.context import Context
from flowd.actions.summarise import Outcome
from flowd.daemon.delivery import summary_sink
from flowd.daemon.delivery.summary_sink import FRESH_S, SummarySink
from flowd.model.checkpoints import checkpoint_fact
from flowd.model.facts import Checkpointed, Fact, WorkChanged
from flowd.model.session import SessionState, Trigger
from flowd.model.work import Work
from flowd.sinks.protocol import RetryLaterError


@pytest.fixture
def context() -> Iterator[Context]:
    with Context() as opened:
        yield opened


@pytest.fixture
def announced() -> list[int]:
    return []


@pytest.fixture
def sink(context: Context, announced: list[int]) -> SummarySink:
    summarise.switch_on(context)
    return SummarySink(context, announced.append)


def moment(trigger: Trigger = "session-end", age_s: float = 0.0) -> Fact:
    state = SessionState(session_id="s1", project="/p", last_activity_at=time.time() - age_s)
    return checkpoint_fact(state, trigger, "event", "")


def change(age_s: float = 0.0, *, is_tentative: bool = False) -> Fact:
    work = Work(id="w", project="/p", touched_at=time.time() - age_s, is_tentative=is_tentative)
    return Fact("work:w", "s1", "/p", 0.0, WorkChanged(work))


@pytest.mark.parametrize(
    ("fact", "key"),
    [
        (moment("precompact"), "precompact:s1"),
        (moment("idle"), "idle:s1"),
        (moment("session-end"), "session-end:s1"),
        (moment("stop"), None),
        (moment("manual"), None),
        (moment(age_s=FRESH_S + 1), None),
        (change(), "change:s1"),
        (change(FRESH_S + 1), None),
        (change(is_tentative=True), None),
    ],
)
def test_only_fresh_moments_that_matter_are_wanted(sink: SummarySink, fact: Fact, key: str | None) -> None:
    assert sink.key(fact) == key


def test_a_visitor_is_no_moment(sink: SummarySink) -> None:
    fact = moment()
    assert isinstance(fact.body, Checkpointed)
    visitor = msgspec.structs.replace(fact, body=msgspec.structs.replace(fact.body, is_visitor=True))
    assert sink.key(visitor) is None


def test_on_and_off_count_at_once(sink: SummarySink, context: Context) -> None:
    assert sink.key(moment())
    summarise.switch_off(context)
    assert sink.key(moment()) is None
    summarise.switch_on(context)
    assert sink.key(moment())


@pytest.mark.parametrize("outcome", [one for one in Outcome if one is not Outcome.BUSY])
def test_whatever_comes_of_it_the_moment_is_over(
    sink: SummarySink, announced: list[int], outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary_sink, "summarise", lambda *_: outcome)
    sink.accept(moment())
    assert bool(announced) == (outcome is Outcome.ANSWERED)


def test_while_another_call_runs_the_moment_waits(sink: SummarySink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary_sink, "summarise", lambda *_: Outcome.BUSY)
    with pytest.raises(RetryLaterError):
        sink.accept(moment())
