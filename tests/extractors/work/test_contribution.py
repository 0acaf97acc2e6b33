"""What a session contributes."""

from flowd.extractors.work.contribution import contribution_of, decide
from flowd.model.session import CommitMade, Deeds, Evidence, SessionState
from flowd.model.work import Contribution, Work


def test_a_transcript_that_is_only_touched_is_not_worked_on() -> None:
    """Clients write to it when a session is resumed, and copying it to another machine dates it anew."""
    worked = contribution_of(SessionState(session_id="s", last_activity_at=1000.0, touched_at=9000.0))
    assert (worked.last_activity_at, worked.written_at) == (1000.0, 9000.0)
    undated = contribution_of(SessionState(session_id="s", touched_at=9000.0))
    assert undated.last_activity_at == 9000.0


def on_topic(started_at: float, *files: str) -> Contribution:
    """A session on a feature branch that committed."""
    evidence = Evidence(
        topic="Write the manual",
        requests=2,
        deeds=Deeds(edited_at=9.0, committed_at=9.0),
        commits=(CommitMade("a", "b"),),
    )
    return Contribution(session_id="s", branch="topic", started_at=started_at, files=files, evidence=evidence)


def test_two_sessions_beside_each_other_on_one_branch_are_two_works() -> None:
    """They share the branch because they share the checkout; one after the other, a branch is one work."""
    work = Work(
        id="w", project="/p", branch="topic", branches=("topic",), touched_at=500.0, files=("parser.py",)
    )
    assert decide(on_topic(400.0, "manual.md"), [work], {"w"}).role == "begins"
    assert decide(on_topic(400.0, "manual.md", "parser.py"), [work], {"w"}).role == "joins"
    assert decide(on_topic(90_000.0, "manual.md"), [work]).role == "joins"
