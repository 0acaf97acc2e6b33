"""Errands to Beads: the note arrives, other tools' lines stay, and only ``bd show`` is believed."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from flowd.handoff.checkpoint_texts import BeadsNote, own_block
from flowd.handoff.track.tracks import TrackProgress
from flowd.sinks.beads import notes as beads_notes
from flowd.sinks.beads.bd import BdOutcome, BdResult
from flowd.sinks.beads.directory import beads_lock, find_beads
from flowd.sinks.beads.notes import epic_progress, read_issue, sync_note

if TYPE_CHECKING:
    from tests.support.beads_project import BeadsProject

THEIRS = "a line of another tool\n\tindented ünï"
NOTE = BeadsNote(
    at=1_700_000_000.0, completed="Tasks 1-3", in_progress="Rounding", handoff="Section 1 saved at x"
)
LATER = NOTE._replace(at=1_700_000_100.0, in_progress="Receipts")


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Has the stand-in behave as the parameter says."""
    monkeypatch.setenv("STAND_IN_BD", request.param)
    return str(request.param)


def sync(beads: "BeadsProject", note: BeadsNote = NOTE, issue: str = "t-1") -> BdResult:
    return sync_note(beads.path, issue, note, beads.settings)


def told_in(notes: str) -> str:
    present = own_block(notes)
    assert present is not None
    return next(line for line in present.text.splitlines() if line.startswith("IN PROGRESS"))


@pytest.mark.parametrize("ways", ["", "exit-1", "object", "old", "slow"], indirect=True)
@pytest.mark.parametrize("envelope", ["0", "1"])
def test_a_note_is_added_then_replaced_and_their_lines_stay(
    beads: "BeadsProject", ways: str, envelope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BD_JSON_ENVELOPE", envelope)
    beads.put("t-1", notes=THEIRS)
    for note in (NOTE, LATER):
        answer = sync(beads, note)
        assert (answer.outcome, answer.issues[0].id) == (BdOutcome.DELIVERED, "t-1")
    assert beads.notes("t-1").startswith(f"{THEIRS}\n<!-- flowd 2023-11-14T22:15:00.000Z -->\nCOMPLETED: ")
    assert beads.notes("t-1").count("<!-- flowd") == 1
    assert told_in(beads.notes("t-1")) == "IN PROGRESS: Receipts"


def test_the_same_checkpoint_again_is_only_read_and_an_older_one_never_wins(beads: "BeadsProject") -> None:
    beads.put("t-1")
    sync(beads, LATER)
    before, runs = beads.notes("t-1"), len(beads.verbs)
    assert [sync(beads, note).outcome for note in (LATER, NOTE)] == [BdOutcome.DELIVERED] * 2
    assert beads.notes("t-1") == before
    assert beads.verbs[runs:] == ["show", "show"]


@pytest.mark.parametrize("ways", ["refuse"], indirect=True)
def test_a_bd_that_never_replaces_gets_a_further_block(beads: "BeadsProject", ways: str) -> None:
    beads.put("t-1", notes=THEIRS)
    sync(beads, NOTE)
    assert sync(beads, LATER).outcome is BdOutcome.DELIVERED
    assert beads.notes("t-1").startswith(THEIRS)
    assert told_in(beads.notes("t-1")) == "IN PROGRESS: Receipts"


@pytest.mark.parametrize("ways", ["forget"], indirect=True)
def test_an_update_that_says_done_and_did_nothing_is_no_success(beads: "BeadsProject", ways: str) -> None:
    beads.put("t-1")
    assert sync(beads) == (BdOutcome.FAILED, (), "bd accepted the note but does not show it")


@pytest.mark.parametrize(
    ("ways", "outcome"),
    [("busy", BdOutcome.LOCKED), ("exit-1", BdOutcome.UNKNOWN_ID), ("", BdOutcome.UNKNOWN_ID)],
    indirect=["ways"],
)
def test_what_stands_in_the_way_is_told(beads: "BeadsProject", ways: str, outcome: BdOutcome) -> None:
    beads.put("t-1")
    assert sync(beads, issue="t-9").outcome is outcome
    assert beads.notes("t-1") == ""


@pytest.mark.parametrize("ways", ["hang-update"], indirect=True)
def test_an_update_that_hangs_is_ended_and_tried_only_once(beads: "BeadsProject", ways: str) -> None:
    beads.put("t-1")
    beads.settings = msgspec.structs.replace(beads.settings, timeout_s=3.0)
    assert sync(beads).outcome is BdOutcome.TIMED_OUT
    assert beads.verbs == ["show", "update"]


def test_no_program_and_no_beads_are_told_apart(beads: "BeadsProject") -> None:
    assert sync(beads) == (BdOutcome.NO_DATABASE, (), "the project has no .beads")
    beads.put("t-1")
    beads.program.unlink()
    assert sync(beads).outcome is BdOutcome.ABSENT


@pytest.mark.parametrize("ways", ["", "old"], indirect=True)
def test_a_note_too_large_is_shortened_and_notes_without_room_for_any_are_told(
    beads: "BeadsProject", ways: str
) -> None:
    huge = NOTE._replace(decisions=("x" * 500_000,), next=("y" * 500_000,))
    beads.put("t-1", notes="n" * 125_000)
    assert sync(beads, huge).outcome is BdOutcome.DELIVERED
    beads.put("t-2", notes="n" * 131_000)
    expected = BdOutcome.TOO_LARGE if ways == "old" else BdOutcome.DELIVERED
    assert sync(beads, huge, "t-2").outcome is expected
    assert beads.notes("t-2").startswith("n" * 131_000)


def test_flowd_waits_while_another_tool_writes_and_looks_again(beads: "BeadsProject") -> None:
    beads.put("t-1", age_s=0.2)
    assert sync(beads).outcome is BdOutcome.DELIVERED
    assert beads.verbs == ["show", "show", "update", "show"]


def test_its_own_last_change_is_nothing_to_wait_for(beads: "BeadsProject") -> None:
    beads.put("t-1")
    sync(beads, NOTE)
    sync(beads, LATER)
    assert beads.verbs == ["show", "update", "show"] * 2


def test_where_it_never_gets_quiet_flowd_only_adds(
    beads: "BeadsProject", monkeypatch: pytest.MonkeyPatch
) -> None:
    beads.put("t-1")
    sync(beads, NOTE)
    notes = beads.notes("t-1")
    monkeypatch.setattr(beads_notes, "MAX_WAIT_S", 0.0)
    beads.put("t-1", notes=notes, age_s=0.1)
    assert sync(beads, LATER).outcome is BdOutcome.DELIVERED
    assert beads.calls[-2]["words"][2] == "--append-notes"
    assert beads.notes("t-1").startswith(f"{notes}\n")


WRITER = """
import sys
from pathlib import Path
import msgspec
from flowd.config.settings import load_settings
from flowd.handoff.checkpoint_texts import BeadsNote
from flowd.sinks.beads.notes import sync_note
project, program, number = sys.argv[1:]
settings = msgspec.structs.replace(load_settings(Path("none")).settings.beads, program=program, timeout_s=60)
note = BeadsNote(at=1_700_000_000.0 + int(number), completed="x", in_progress=f"step {number}")
print(sync_note(project, "t-1", note, settings).outcome)
"""


def test_eight_checkpoints_at_once_keep_every_line_of_the_other_tools(beads: "BeadsProject") -> None:
    beads.put("t-1", notes=THEIRS)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, beads.path, str(beads.program), str(number)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    lines = [f"line {number} of another tool" for number in range(12)]
    for line in lines:  # meanwhile, and not knowing of flowd's turns
        subprocess.run(
            [beads.program, "update", "t-1", "--append-notes", line],
            cwd=beads.path,
            check=True,
            stdout=subprocess.DEVNULL,
        )
    assert [writer.communicate(timeout=120)[0] for writer in writers] == ["delivered\n"] * 8
    kept = beads.notes("t-1").split("\n")
    assert beads.notes("t-1").startswith(THEIRS)
    assert [line for line in kept if line in lines] == lines
    assert told_in(beads.notes("t-1")) == "IN PROGRESS: step 7"


def test_one_bd_runs_at_a_time(beads: "BeadsProject", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_BD", "slow")
    beads.put("t-1")
    place = find_beads(beads.path)
    assert place is not None
    with beads_lock(place, 1.0):
        impatient = msgspec.structs.replace(beads.settings, timeout_s=0.1)
        answer = read_issue(beads.path, "t-1", impatient)
        assert answer == (BdOutcome.LOCKED, (), "another flowd process is using these Beads")
        assert beads.calls == []
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: read_issue(beads.path, "t-1", beads.settings), range(4)))
    assert [answer.outcome for answer in answers] == [BdOutcome.DELIVERED] * 4


def test_progress_counts_closed_children_of_all_and_nothing_of_nothing_is_zero(beads: "BeadsProject") -> None:
    beads.put("t-1")
    assert epic_progress(beads.path, "t-1", beads.settings) == TrackProgress(0, 0)
    assert TrackProgress(0, 0).percent == 0
    for number in range(55):
        beads.put(f"t-1.{number}", status="closed" if number < 11 else "open")
    found = epic_progress(beads.path, "t-1", beads.settings)
    assert found is not None
    assert (found.done, found.total, found.percent) == (11, 55, 20)
    beads.program.unlink()
    assert epic_progress(beads.path, "t-1", beads.settings) is None


REAL_BD = os.environ.get("FLOWD_TEST_BD", "")


@pytest.mark.skipif(not REAL_BD, reason="FLOWD_TEST_BD names no bd")
def test_a_real_bd_keeps_both_notes(tmp_path: Path, beads: "BeadsProject") -> None:
    environment = os.environ | {"BEADS_NO_DAEMON": "1"}

    def bd(*words: str) -> str:
        return subprocess.run(
            [REAL_BD, *words], cwd=beads.path, env=environment, check=True, capture_output=True, text=True
        ).stdout

    subprocess.run(["git", "init", "-q", beads.path], check=True)
    bd("init", "--prefix", "t", "--quiet")
    issue = json.loads(bd("create", "Till", "--json"))["id"]
    bd("update", issue, "--notes", THEIRS)
    settings = msgspec.structs.replace(beads.settings, program=REAL_BD)
    for note in (NOTE, LATER):
        assert sync_note(beads.path, issue, note, settings).outcome is BdOutcome.DELIVERED
    notes = read_issue(beads.path, issue, settings).issues[0].notes or ""
    assert notes.startswith(THEIRS)
    assert told_in(notes) == "IN PROGRESS: Receipts"
    assert sync_note(beads.path, "t-nope", NOTE, settings).outcome is BdOutcome.UNKNOWN_ID
    assert epic_progress(beads.path, issue, settings) == TrackProgress(0, 0)
