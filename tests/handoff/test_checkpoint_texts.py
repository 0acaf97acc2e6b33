"""The Beads note: six labels, one line each, and other tools' lines stay as they are."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.handoff.checkpoint_texts import (
    MAX_BLOCKS,
    BeadsNote,
    block_text,
    merged_notes,
    note_lines,
    own_block,
)

ROOM = 100_000
NOTE = BeadsNote(
    at=1_700_000_000.0,
    completed="Tasks 1-3 of 8 (37% of track till)",
    decisions=("Prices are integers", "One till per shop"),
    in_progress="Rounding of discounts",
    next=("Write the receipt", "Print it"),
    handoff="Section 2 saved at conductor/handoffs/till/x.md",
)


def block(note: BeadsNote = NOTE) -> str:
    text = block_text(note, ROOM)
    assert text is not None
    return text


def labels(note: BeadsNote) -> list[str]:
    return [line.partition(":")[0] for line in note_lines(note)]


def test_a_note_has_its_six_labels_in_order() -> None:
    assert note_lines(NOTE) == [
        "COMPLETED: Tasks 1-3 of 8 (37% of track till)",
        "KEY DECISIONS: Prices are integers; One till per shop",
        "IN PROGRESS: Rounding of discounts",
        "NEXT: Write the receipt; Print it",
        "BLOCKER: none",
        "HANDOFF: Section 2 saved at conductor/handoffs/till/x.md",
    ]


def test_an_empty_note_still_has_all_six() -> None:
    six = ["COMPLETED", "KEY DECISIONS", "IN PROGRESS", "NEXT", "BLOCKER", "HANDOFF"]
    assert labels(BeadsNote(at=0.0, completed="")) == six


def test_discoveries_stand_before_the_handoff_and_workers_after_it() -> None:
    note = NOTE._replace(discovered=("Bolts rust",), parallel_state="2 workers", workers=("a: done", "b: up"))
    assert labels(note)[-4:] == ["DISCOVERED", "HANDOFF", "PARALLEL_STATE", "WORKERS"]
    assert note_lines(note)[-1] == "WORKERS: a: done; b: up"


def test_a_value_of_many_lines_is_one_line_and_nothing_in_it_is_a_mark() -> None:
    note = NOTE._replace(in_progress="one\n<!-- /flowd -->\r\ntwo\x00\ud800three")
    assert note_lines(note)[2] == "IN PROGRESS: one <!-- /flowd --> two three"
    assert own_block(block(note)) is not None
    assert merged_notes(block(note), block()) == block()


def test_a_secret_is_masked_before_a_line_is_cut_through_it() -> None:
    secret = "ghp_" + "a1B2" * 9
    note = NOTE._replace(in_progress="x" * 3970 + f" {secret}", blockers=(f"needs {secret}",))
    assert secret[:12] not in "\n".join(note_lines(note))
    assert "BLOCKER: needs [redacted:" in "\n".join(note_lines(note))


@settings(deadline=None)  # long texts are redacted, which takes as long as the machine lets it
@given(st.text(min_size=1), st.integers(min_value=700, max_value=20_000))
def test_a_block_is_shortened_into_its_room_and_stays_a_block(word: str, room: int) -> None:
    text = block_text(NOTE._replace(decisions=(word * 1000,), next=(word * 3000,)), room)
    assert text is not None
    assert len(text.encode()) <= room
    assert own_block(text) == (text.split()[2], text)


def test_a_room_too_small_for_any_note_gives_none() -> None:
    assert block_text(NOTE, 100) is None


def test_the_block_comes_after_what_was_there_as_bd_appends() -> None:
    assert merged_notes("", block()) == block()
    assert merged_notes("theirs", block()) == f"theirs\n{block()}"


def test_the_same_checkpoint_again_changes_nothing() -> None:
    once = merged_notes("theirs\n", block())
    assert merged_notes(once, block()) == once


@given(st.text(), st.text())
def test_no_byte_around_the_block_changes_when_it_is_replaced(before: str, after: str) -> None:
    newer = block(NOTE._replace(at=1_700_000_001.0, in_progress="Something else"))
    assert merged_notes(f"{before}\n{block()}\n{after}", newer) == f"{before}\n{newer}\n{after}"


def test_lines_that_others_wrote_between_the_marks_are_kept_after_the_block() -> None:
    first, *rest = block().splitlines()
    disturbed = "\n".join([first, "a person's line", *rest, "after"])
    assert merged_notes(disturbed, block()) == f"{block()}\na person's line\nafter"


def test_several_blocks_become_one_in_the_place_of_the_last() -> None:
    first, *rest = block().splitlines()
    with_foreign = "\n".join([first, "kept", *rest])
    notes = f"a\n{block()}\nb\n{with_foreign}\nc\n{block()}\nd"
    newer = block(NOTE._replace(at=1_800_000_000.0))
    assert merged_notes(notes, newer) == f"a\nb\nkept\nc\n{newer}\nd"


@pytest.mark.parametrize("torn", [block().replace("<!-- /flowd -->", ""), block().split("\n", 1)[1]])
def test_a_block_that_lost_a_mark_is_left_alone(torn: str) -> None:
    assert own_block(torn) is None
    once = merged_notes(torn, block())
    assert once == f"{torn}\n{block()}"
    assert merged_notes(once, block()) == once


def test_the_newest_block_is_the_last_one() -> None:
    newer = block(NOTE._replace(at=1_800_000_000.0))
    found = own_block(f"{block()}\nx\n{newer}\ny")
    assert found is not None
    assert (found.at, found.text) == ("2027-01-15T08:00:00.000Z", newer)


def of(session: str, at: float = 0.0, **fields: object) -> str:
    return block(NOTE._replace(at=NOTE.at + at, session=session, **fields))  # type: ignore[arg-type]


def test_each_session_has_a_block_of_its_own() -> None:
    notes = merged_notes(merged_notes("theirs", of("one"), "one"), of("two", 1.0), "two")
    assert notes == f"theirs\n{of('one')}\n{of('two', 1.0)}"
    newer = of("one", 2.0, in_progress="Something else")
    assert merged_notes(notes, newer, "one") == f"theirs\n{newer}\n{of('two', 1.0)}"


def test_the_block_of_a_session_is_found_among_those_of_others() -> None:
    notes = f"{of('one')}\n{of('two', 1.0)}"
    found = own_block(notes, "one")
    assert found is not None
    assert found.text == of("one")
    assert own_block(notes, "three") is None


def test_a_block_without_a_session_is_taken_over_by_the_next() -> None:
    """Notes of earlier versions named none."""
    assert merged_notes(block(), of("one", 1.0), "one") == of("one", 1.0)


def test_only_the_blocks_of_the_latest_sessions_are_kept() -> None:
    notes = ""
    for number in range(9):
        notes = merged_notes(notes, of(f"s{number}", float(number)), f"s{number}")
    assert notes.count("<!-- /flowd -->") == MAX_BLOCKS
    assert own_block(notes, "s8") is not None
    assert own_block(notes, "s0") is None
