"""What a session contributes."""

from flowd.extractors.work.contribution import contribution_of
from flowd.model.session import SessionState


def test_a_transcript_that_is_only_touched_is_not_worked_on() -> None:
    """Clients write to it when a session is resumed, and copying it to another machine dates it anew."""
    worked = contribution_of(SessionState(session_id="s", last_activity_at=1000.0, touched_at=9000.0))
    assert (worked.last_activity_at, worked.written_at) == (1000.0, 9000.0)
    undated = contribution_of(SessionState(session_id="s", touched_at=9000.0))
    assert undated.last_activity_at == 9000.0
