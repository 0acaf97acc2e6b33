"""One answer to the question which session is meant."""

import pytest

from flowd.actions.session import PERSON, current_state, find_session
from flowd.model.facts import state_fact
from flowd.model.session import SessionState
from flowd.store.database import Database
from flowd.store.journal import Journal
from flowd.workspace.project import Project

HERE = SessionState(session_id="here", project="/shop", repository="/shop/.git", last_activity_at=10)
WORKTREE = SessionState(session_id="tree", project="/shop-fix", repository="/shop/.git", last_activity_at=20)
STATES = [WORKTREE, HERE]  # the latest first


@pytest.mark.parametrize(
    ("session_id", "found"),
    [("here", HERE), ("tree", WORKTREE), ("new", None), ("", HERE)],
)
def test_a_session_is_found_by_its_id_and_for_a_person_by_the_directory(
    session_id: str, found: SessionState | None
) -> None:
    assert find_session(STATES, session_id, "/shop") == found


def test_a_session_of_another_worktree_is_never_taken_for_a_persons(database: Database) -> None:
    Journal(database).append(state_fact(WORKTREE))
    state = current_state(Journal(database), Project("/shop", "/shop/.git", ""), "")
    assert state == SessionState(session_id=PERSON, project="/shop")
