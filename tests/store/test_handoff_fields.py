"""Which values of a handoff.yaml flowd wrote: nothing that one process recorded is lost to another."""

import threading

from flowd.store.database import Database
from flowd.store.handoff_fields import VALUES_KEPT, HandoffYamlState, HandoffYamlStates


def test_what_another_process_has_recorded_survives_an_older_state_that_is_stored(database: Database) -> None:
    """The daemon keeps states in memory; a hook's fallback or a command may have added values meanwhile."""
    daemon, command = HandoffYamlStates(database), HandoffYamlStates(database)
    cached = daemon.get("/shop")
    command.add_written("/shop", {"goal": "Working on shop", "status": "in_progress"})
    daemon.put(cached.with_written({"goal": "Fix the cart"}))
    state = command.get("/shop")
    assert state.is_ours("goal", "Working on shop")
    assert state.is_ours("goal", "Fix the cart")
    assert state.is_ours("status", "in_progress")


def test_values_are_added_by_many_at_once_without_a_loss(database: Database) -> None:
    def add(number: int) -> None:
        HandoffYamlStates(database).add_written("/shop", {"goal": f"goal {number}"})

    threads = [threading.Thread(target=add, args=(number,)) for number in range(VALUES_KEPT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = HandoffYamlStates(database).get("/shop")
    assert set(state.written["goal"]) == {f"goal {number}" for number in range(VALUES_KEPT)}


def test_the_folder_is_claimed_without_losing_what_was_written(database: Database) -> None:
    states = HandoffYamlStates(database)
    states.put(HandoffYamlState("/shop", session_id="s1", written={"goal": ("a",)}))
    states.claim_folder("/shop")
    assert (states.get("/shop").session_id, states.get("/shop").written) == ("s1", {"goal": ("a",)})


def test_the_latest_values_come_first_and_their_number_is_bounded(database: Database) -> None:
    states = HandoffYamlStates(database)
    for number in range(VALUES_KEPT + 5):
        states.add_written("/shop", {"goal": f"goal {number}"})
    known = states.get("/shop").written["goal"]
    assert known[0] == f"goal {VALUES_KEPT + 4}"
    assert len(known) == VALUES_KEPT
