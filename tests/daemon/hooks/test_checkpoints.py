"""Checkpoints: one for each moment, whoever announces it and however often."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.daemon.hooks.handler import HookEvent
from flowd.model.client import HookInput, hook_input
from flowd.model.facts import Checkpointed, StateChanged
from flowd.store.journal import Journal
from flowd.store.sessions import Pause
from tests.support.transcript_lines import line

if TYPE_CHECKING:
    from tests.support.following import Following

LATER = "2999-01-02T03:04:05Z"


def boundary(session: str = "s1", number: int = 1) -> bytes:
    record = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": f"boundary-{number}",
        "sessionId": session,
        "timestamp": LATER,
        "compactMetadata": {"trigger": "auto", "preTokens": 9},
    }
    return json.dumps(record).encode() + b"\n"


def hook(following: "Following", event: str, at: float = 0.0, **fields: str) -> None:
    wanted = HookInput(
        hook_event_name=event, session_id="s1", transcript_path=str(following.transcript), at=at, **fields
    )
    following.reader.record_hook(HookEvent(wanted, lambda _: None))


def checkpoints(following: "Following", trigger: str) -> list[Checkpointed]:
    bodies = [fact.body for fact in following.facts("checkpoint")]
    return [body for body in bodies if isinstance(body, Checkpointed) and body.trigger == trigger]


def test_hook_and_boundary_of_one_compaction_are_one_checkpoint(following: "Following") -> None:
    following.append(line(1))
    hook(following, "PreCompact")
    following.append(boundary())
    assert len(checkpoints(following, "precompact")) == 1


def test_a_hook_that_fires_twice_for_one_compaction_makes_one_checkpoint(following: "Following") -> None:
    following.append(line(1))
    hook(following, "PreCompact")
    following.append(line(2))
    hook(following, "PreCompact")
    (kept,) = checkpoints(following, "precompact")
    assert kept.state.records == 2


def test_a_hook_that_comes_after_its_boundary_is_the_same_checkpoint(following: "Following") -> None:
    following.append(line(1))
    following.append(boundary())
    hook(following, "PreCompact", at=1000.0)
    assert len(checkpoints(following, "precompact")) == 1


def test_a_late_end_does_not_end_a_session_that_went_on(following: "Following") -> None:
    following.append(line(1))
    hook(following, "SessionEnd", at=1000.0)
    (ended,) = following.facts("ended")
    assert ended.at == 1000.0


def test_a_boundary_without_a_hook_counts_as_a_missed_one(following: "Following") -> None:
    following.append(line(1))
    following.append(boundary())
    assert len(checkpoints(following, "precompact")) == 1


def test_each_further_compaction_makes_a_further_checkpoint(following: "Following") -> None:
    following.append(line(1))
    for number in range(3):
        hook(following, "PreCompact")
        following.append(boundary(number=number))
        following.append(line(10 + number))
    assert len(checkpoints(following, "precompact")) == 3


def test_several_boundaries_read_at_once_are_told_apart(following: "Following") -> None:
    following.append(line(1) + boundary(number=1) + line(2) + boundary(number=2))
    assert len(checkpoints(following, "precompact")) == 2


def test_a_compaction_older_than_core_db_is_history(following: "Following") -> None:
    following.append(line(1) + boundary().replace(LATER.encode(), b"2001-01-01T00:00:00Z"))
    assert checkpoints(following, "precompact") == []


def test_the_same_state_at_two_turn_ends_is_one_checkpoint(following: "Following") -> None:
    following.append(line(1))
    hook(following, "Stop", last_assistant_message="Done.")
    hook(following, "Stop", last_assistant_message="Done.")
    assert len(checkpoints(following, "stop")) == 1


def pass_time(following: "Following") -> None:
    """Have the reader do what was put off."""
    following.timer.run_due(time.monotonic() + 60)
    following.look()


def test_a_turn_end_a_moment_before_its_transcript_exists_is_kept_when_it_does(
    following: "Following",
) -> None:
    hook(following, "Stop", last_assistant_message="I **fixed** the parser. More follows.")
    assert checkpoints(following, "stop") == []
    following.append(line(1))
    pass_time(following)
    (kept,) = checkpoints(following, "stop")
    assert kept.message == "I **fixed** the parser. More follows."
    assert kept.state.records == 1


@pytest.mark.parametrize("at", [0.0, 1.0])
def test_a_session_that_keeps_no_transcript_leaves_nothing(
    following: "Following", tmp_path: Path, at: float
) -> None:
    """`claude -p --no-session-persistence` fires hooks all the same."""
    for event in ("UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"):
        hook(following, event, at, cwd=str(tmp_path), last_assistant_message="Between us.")
    pass_time(following)
    assert Journal(following.database).facts_after(0, 100) == []
    assert following.lines(idle_after_s=0) == []
    assert following.timer.pending == 0


def test_a_hook_tells_who_drives_a_client_whose_records_do_not(following: "Following") -> None:
    hook(following, "UserPromptSubmit", entrypoint="sdk-cli")
    following.append(line(1))
    (state,) = [fact.body.state for fact in following.facts("state") if isinstance(fact.body, StateChanged)]
    assert state.headless
    hook(following, "Stop", entrypoint="cli")
    assert not checkpoints(following, "stop")[0].state.headless


def test_a_secret_in_the_last_message_is_masked_before_it_is_kept(following: "Following") -> None:
    secret = "ghp_" + "a1B2" * 9
    following.append(line(1))
    hook(following, "Stop", last_assistant_message=f"The token is {secret}.")
    (kept,) = checkpoints(following, "stop")
    assert secret not in kept.message


def test_the_end_of_a_session_is_kept_and_shown(following: "Following") -> None:
    following.append(line(1))
    hook(following, "SessionEnd", reason="prompt_input_exit")
    assert len(checkpoints(following, "session-end")) == 1
    (shown,) = following.lines(idle_after_s=0)
    assert shown.phase == "ended"


def test_only_the_latest_turn_ends_are_kept(following: "Following") -> None:
    for number in range(1, 9):
        following.append(line(number))
        hook(following, "Stop")
    following.restart()
    assert len(checkpoints(following, "stop")) == 5


def test_an_idle_session_gets_its_checkpoint_once_per_pause(following: "Following") -> None:
    following.append(line(1))
    pause = Pause("s1", "", 1_700_000_000.0)
    following.reader.record_idle(pause)
    following.reader.record_idle(pause)
    assert len(checkpoints(following, "idle")) == 1
    assert len(following.facts("idle")) == 1


@pytest.mark.parametrize("raw", [{}, {"session_id": 4, "cwd": None, "trigger": ["x"]}, {"unknown": "x"}])
def test_odd_hook_input_counts_as_missing(raw: dict[str, object]) -> None:
    assert hook_input(raw) == HookInput()


def test_a_late_checkpoint_carries_the_time_at_which_its_event_happened(following: "Following") -> None:
    """The hook waited in the spool; what is kept says when it was fired, not when it was read."""
    following.append(line(1))
    for event, at in (("Stop", 1000.0), ("PreCompact", 2000.0), ("SessionEnd", 3000.0)):
        hook(following, event, at=at)
    assert [fact.at for fact in following.facts("checkpoint")] == [1000.0, 2000.0, 3000.0]


def test_a_checkpoint_from_the_future_is_dated_now(following: "Following") -> None:
    following.append(line(1))
    hook(following, "Stop", at=time.time() + 1e6)
    (fact,) = following.facts("checkpoint")
    assert fact.at <= time.time()
