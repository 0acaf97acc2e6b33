"""Which session is meant when a command or a hook asks on behalf of "this" session."""

from collections.abc import Iterable

from flowd.model.session import SessionState
from flowd.store.journal import Journal
from flowd.workspace.project import Project

# Enough to find the session at work; older ones are no longer candidates.
STATES_READ = 20
# The session id of what a person does outside of any session.
PERSON = "person"


def find_session(states: Iterable[SessionState], session_id: str, root: str) -> SessionState | None:
    """Return the session with *session_id*; without an id, the latest one that worked in *root*.

    *states* are those of the repository, the latest first. A session of another worktree is never
    chosen for a person who works in *root*.
    """
    if session_id:
        return next((state for state in states if state.session_id == session_id), None)
    return next((state for state in states if state.project == root), None)


def current_state(journal: Journal, project: Project, session_id: str) -> SessionState:
    """Return the state of the session that a command runs in, an empty one for a person or a new session."""
    states = journal.states_of(project.root, project.repository, STATES_READ)
    found = find_session(states, session_id, project.root)
    return found or SessionState(session_id=session_id or PERSON, project=project.root)
