"""What a working daemon logs at info level: what happened, once, and nothing of the past."""

import time

from structlog.testing import capture_logs

from flowd.daemon.activity_log import ActivityLog
from flowd.model.facts import Fact, StateChanged
from flowd.model.session import SessionState


def state(session: str, age_s: float = 0.0) -> Fact:
    body = StateChanged(SessionState(session_id=session))
    return Fact(f"state:{session}", session, "/work/shop", time.time() - age_s, body)


def test_a_session_at_work_is_named_once_and_one_of_the_past_never() -> None:
    activity = ActivityLog()
    with capture_logs() as logged:
        activity.sessions_seen([state("aaaabbbbcccc"), state("old", age_s=86_400)])
        activity.sessions_seen([state("aaaabbbbcccc")])
    assert [(line["event"], line["session"]) for line in logged] == [("session_seen", "aaaabbbb")]


def test_a_file_that_changes_each_second_is_one_line() -> None:
    activity = ActivityLog()
    with capture_logs() as logged:
        for _ in range(5):
            activity.delivered("handoff_yaml", "/work/shop", state("s"))
        activity.delivered("core_db", "x", state("s"))
        activity.delivered("beads", "old", state("s", age_s=86_400))
    assert [(line["what"], line["project"]) for line in logged] == [("handoff.yaml", "/work/shop")]
