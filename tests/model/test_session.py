"""How a session is, in one word."""

import msgspec

from flowd.model.session import SessionState, phase_of
from tests.support.transcript import Transcript

GONE = frozenset({"session-1"})


def phase(session: Transcript) -> str:
    return phase_of(session.state, 0.0, GONE)


def test_a_client_killed_after_a_finished_turn_left_nothing_unfinished() -> None:
    session = Transcript().person("Add a total to the cart page").edit("src/cart.py")
    assert phase(session) == "unfinished"
    assert phase(session.assistant("The total is shown.\n\nNext steps:\n- Tax", "end_turn")) == "ended"


def test_a_client_killed_before_it_wrote_its_last_words_had_finished_the_turn() -> None:
    """It writes later than it runs the Stop hook."""
    state = Transcript().person("Add a total to the cart page").edit("src/cart.py").state
    stopped = msgspec.structs.replace(state, stopped_at=state.last_activity_at + 1)
    assert phase_of(stopped, 0.0, GONE) == "ended"
    went_on = msgspec.structs.replace(state, stopped_at=state.last_activity_at - 1)
    assert phase_of(went_on, 0.0, GONE) == "unfinished"


def test_a_client_killed_at_work_left_it_unfinished() -> None:
    session = Transcript().person("Add a total to the cart page").assistant("Let me look:", "tool_use")
    assert phase(session.call("Bash", command="make test")) == "unfinished"


def test_a_client_killed_after_an_interruption_was_not_at_work() -> None:
    session = Transcript().person("Add a total to the cart page").call("Bash", command="make test")
    assert phase(session.person("[Request interrupted by user for tool use]")) == "ended"


def test_a_client_killed_before_any_request_left_nothing_unfinished() -> None:
    assert phase_of(SessionState(session_id="session-1"), 0.0, GONE) == "ended"
