"""The Beads sink: the right issue, the right moments, a note to go on from, and every ending in status."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from flowd.config.settings import LiveSettings
from flowd.handoff.checkpoint_texts import own_block
from flowd.handoff.track import tracks
from flowd.handoff.track.metadata import Metadata, read_metadata
from flowd.model.checkpoints import checkpoint_fact
from flowd.model.facts import Fact, Titled, Trigger
from flowd.model.session import SessionState
from flowd.sinks.beads.sink import BeadsSink
from flowd.sinks.protocol import PermanentFailureError, RetryLaterError

if TYPE_CHECKING:
    from tests.support.beads_project import BeadsProject

Configure = Callable[..., BeadsSink]


@pytest.fixture
def sink(beads: "BeadsProject", config: Path, settings: LiveSettings) -> Configure:
    """Makes the sink, its settings changed as asked."""

    def make(**changes: object) -> BeadsSink:
        config.write_text(json.dumps({"beads": {"program": str(beads.program), **changes}}))
        settings.reload()
        return BeadsSink(settings)

    return make


def state(beads: "BeadsProject", **changes: object) -> SessionState:
    work = SessionState(
        session_id="s-1",
        project=beads.path,
        branch="till",
        goal="Sell apples",
        now="Rounding discounts",
        files=("till.py",),
        decisions=("Prices are integers",),
        learnings=("Floats lose cents",),
        questions=("Which currency?",),
        next=("Print the receipt",),
    )
    return msgspec.structs.replace(work, **changes)


def fact(beads: "BeadsProject", trigger: Trigger = "precompact", **changes: object) -> Fact:
    return checkpoint_fact(state(beads, **changes), trigger, trigger, "")


def track(project: "BeadsProject", name: str, at: float, **metadata: object) -> None:
    folder = project.root / "conductor" / "tracks" / name
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text(json.dumps(metadata))
    os.utime(folder / "metadata.json", (at, at))


def test_a_note_tells_a_stranger_how_to_go_on(beads: "BeadsProject", sink: Configure) -> None:
    beads.put("t-1", status="in_progress")
    made = sink()
    made.accept(fact(beads))
    present = own_block(beads.notes("t-1"))
    assert present is not None
    assert present.text.splitlines()[1:-1] == [
        "COMPLETED: changed till.py",
        "KEY DECISIONS: Prices are integers",
        "IN PROGRESS: Rounding discounts; goal: Sell apples",
        "NEXT: Print the receipt",
        "BLOCKER: none",
        "DISCOVERED: Floats lose cents; open question: Which currency?",
        "HANDOFF: checkpoint saved in core.db (precompact, session s-1, branch till)",
    ]
    assert made.detail == "shop: delivered to t-1"


@pytest.mark.parametrize("metadata", [{"beads": {"epicId": "t-7"}}, {"beads_epic": "t-7"}])
def test_the_epic_of_the_latest_active_track_comes_first(
    beads: "BeadsProject", sink: Configure, metadata: dict[str, object]
) -> None:
    for issue in ("t-1", "t-7", "t-8"):
        beads.put(issue, status="in_progress")
    track(beads, "older", 100.0, status="in_progress", beads_epic="t-8")
    history = [{"section": 3, "timestamp": "2026-01-02T03:04:05Z", "trigger": "idle", "file": "h.md"}]
    track(beads, "till", 200.0, status="in_progress", handoff={"history": history}, **metadata)
    track(beads, "done", 300.0, status="archived", beads_epic="t-8")
    folder = beads.root / "conductor" / "tracks" / "till"
    (folder / "plan.md").write_text("## Phase 1\n" + "- [x] done\n" * 5 + "- [ ] open\n" * 7)
    sink(issue="t-1").accept(fact(beads))
    assert "COMPLETED: Tasks 1-5 of 12 (41% of track till); changed" in beads.notes("t-7")
    assert "HANDOFF: Section 3 saved at conductor/handoffs/till/h.md (" in beads.notes("t-7")
    assert beads.notes("t-1") == beads.notes("t-8") == ""


def test_parallel_workers_of_the_track_are_told(beads: "BeadsProject", sink: Configure) -> None:
    beads.put("t-7")
    track(beads, "till", 200.0, status="in_progress", beads_epic="t-7")
    workers = [{"worker_id": "w1", "status": "completed"}, {"name": "w2", "status": "in_progress"}]
    state_file = beads.root / "conductor" / "tracks" / "till" / "parallel_state.json"
    state_file.write_text(json.dumps({"workers": workers}))
    sink().accept(fact(beads))
    assert "\nPARALLEL_STATE: 2 workers, 1 completed, 1 in progress\nWORKERS: w1" in beads.notes("t-7")


def test_a_checkpoint_bound_to_a_track_goes_to_its_epic(beads: "BeadsProject", sink: Configure) -> None:
    beads.put("t-7")
    beads.put("t-8")
    track(beads, "older", 100.0, status="in_progress", beads_epic="t-8")
    track(beads, "till", 200.0, status="in_progress", beads_epic="t-7")
    sink().accept(checkpoint_fact(state(beads), "manual", "x", "", track="older"))
    assert own_block(beads.notes("t-8"))
    assert beads.notes("t-7") == ""


def test_a_track_without_an_epic_writes_nothing_into_the_epic_of_another_track(
    beads: "BeadsProject", sink: Configure
) -> None:
    beads.put("t-7")
    beads.put("t-1", status="in_progress")
    track(beads, "older", 100.0, status="in_progress")
    track(beads, "till", 200.0, status="in_progress", beads_epic="t-7")
    sink().accept(checkpoint_fact(state(beads), "manual", "x", "", track="older"))
    assert own_block(beads.notes("t-1"))
    assert beads.notes("t-7") == ""


def test_each_metadata_json_is_parsed_once_for_a_note(
    beads: "BeadsProject", sink: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    beads.put("t-7")
    track(beads, "done", 300.0, status="archived")
    track(beads, "till", 200.0, status="in_progress", beads_epic="t-7")
    parsed: list[str] = []

    def counting(project: str, directory: str) -> Metadata:
        parsed.append(Path(directory).name)
        return read_metadata(project, directory)

    monkeypatch.setattr(tracks, "read_metadata", counting)
    sink().accept(fact(beads))
    assert own_block(beads.notes("t-7"))
    assert parsed == ["done", "till"]


def test_the_setting_comes_next_also_by_project(beads: "BeadsProject", sink: Configure) -> None:
    beads.put("t-1", status="in_progress")
    beads.put("t-2")
    sink(issue="t-2").accept(fact(beads))
    assert own_block(beads.notes("t-2"))
    sink(issue={"/elsewhere": "t-2", beads.path: "t-1"}).accept(fact(beads))
    assert own_block(beads.notes("t-1"))


@pytest.mark.parametrize(
    ("in_progress", "said"),
    [((), "no issue is in progress"), (("t-1", "t-2"), "2 issues are in progress")],
)
def test_without_one_to_choose_nothing_is_written_and_it_is_said(
    beads: "BeadsProject", sink: Configure, in_progress: tuple[str, ...], said: str
) -> None:
    beads.put("t-0")
    for issue in in_progress:
        beads.put(issue, status="in_progress")
    made = sink()
    made.accept(fact(beads))
    assert made.detail == f"shop: no issue chosen ({said})"
    assert beads.verbs == ["list"]


def test_an_id_from_a_repository_that_is_an_option_is_none(beads: "BeadsProject", sink: Configure) -> None:
    beads.put("t-1", status="in_progress")
    track(beads, "evil", 1.0, status="new", beads_epic="--db=/elsewhere")
    sink().accept(fact(beads))
    assert own_block(beads.notes("t-1"))


def test_only_checkpoints_worth_a_note_in_projects_with_beads_are_taken(
    beads: "BeadsProject", sink: Configure
) -> None:
    made = sink()
    assert made.key(fact(beads)) is None
    beads.put("t-1")
    written: tuple[Trigger, ...] = ("precompact", "idle", "session-end", "manual", "design-end", "epic-end")
    assert {made.key(fact(beads, trigger)) for trigger in written} == {beads.path}
    assert made.key(fact(beads, "stop")) is None
    assert made.key(Fact("k", "s", beads.path, 0.0, Titled("x"))) is None
    assert sink(triggers=["stop"]).key(fact(beads, "stop")) == beads.path
    assert sink(enabled=False).key(fact(beads)) is None
    (beads.root / "conductor").mkdir()
    (beads.root / "conductor" / "beads.json").write_text('{"enabled": false}')
    assert sink().key(fact(beads)) is None
    assert beads.calls == []


@pytest.mark.parametrize(
    ("ways", "error", "said"),
    [
        ("busy", RetryLaterError, "shop: locked (Error: failed to open database: database is locked)"),
        ("forget", OSError, "shop: failed (bd accepted the note but does not show it)"),
    ],
)
def test_what_fails_is_tried_again(
    beads: "BeadsProject",
    sink: Configure,
    monkeypatch: pytest.MonkeyPatch,
    ways: str,
    error: type[Exception],
    said: str,
) -> None:
    monkeypatch.setenv("STAND_IN_BD", ways)
    beads.put("t-1")
    made = sink(issue="t-1")
    with pytest.raises(error):
        made.accept(fact(beads))
    assert made.detail == said


def test_what_only_a_person_can_mend_is_put_aside(beads: "BeadsProject", sink: Configure) -> None:
    beads.put("t-1")
    with pytest.raises(PermanentFailureError, match=r"shop: unknown id \(Error fetching t-9"):
        sink(issue="t-9").accept(fact(beads))


def test_a_project_whose_bd_or_database_is_missing_is_no_trouble(
    beads: "BeadsProject", sink: Configure
) -> None:
    (beads.root / ".beads").mkdir()
    made = sink(issue="t-1")
    made.accept(fact(beads))
    assert made.detail == "shop: no database (Error: no beads database found)"
    beads.program.unlink()
    made.accept(fact(beads))
    assert made.detail == "shop: bd is not installed"


def test_no_secret_reaches_the_notes(beads: "BeadsProject", sink: Configure) -> None:
    secret = "ghp_" + "a1B2" * 9
    beads.put("t-1", status="in_progress")
    sink().accept(fact(beads, now=f"Signing in with {secret}"))
    assert secret not in beads.notes("t-1")
    assert "IN PROGRESS: Signing in with [redacted:" in beads.notes("t-1")
