"""Progress from plan.md: done over all four kinds of checkboxes, as a whole number."""

import json
import os
from pathlib import Path

import pytest

from flowd.handoff.track.tracks import choose_track, percent, read_plan, tracks_of

PLAN = """\
# Plan

## Epic 1: Tokens
- [x] Write
- [X] Sign
## Phase 2: Rotation (E7)
1. [ ] Rotate
2. [~] Store
* [!] Revoke
```
- [ ] an example
```
"""


def test_all_kinds_of_checkboxes_count_and_examples_do_not() -> None:
    """[x] over [ ], [x], [~] and [!]."""
    plan = read_plan(PLAN)
    assert (plan.done, plan.total, percent(plan.done, plan.total)) == (2, 5, 40)


def test_a_phase_is_closed_when_all_of_it_is_done() -> None:
    """Its heading may name the epic; the current one is the first that is open."""
    plan = read_plan(PLAN)
    assert plan.closed == {"E1"}
    assert list(plan.labels) == ["E1", "E7"]
    assert list(read_plan("## Setup\n- [x] a\n## Epic 2\n- [ ] b").labels) == ["P1", "E2"]
    assert plan.current is not None
    assert plan.current.title == "Phase 2: Rotation (E7)"


@pytest.mark.parametrize(("done", "total", "expected"), [(0, 0, 0), (1, 3, 33), (2, 3, 66), (3, 3, 100)])
def test_percent_is_whole_and_survives_an_empty_plan(done: int, total: int, expected: int) -> None:
    """Integer division, total 0 guarded."""
    assert percent(done, total) == expected


def test_no_plan_is_an_empty_plan() -> None:
    """Nothing is closed in it."""
    plan = read_plan("just words\n- no box\n- [y] none either")
    assert (plan.total, plan.closed, plan.current) == (0, frozenset(), None)


class Conductor:
    """Tracks of one project, each changed later than the one before."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._number = 0

    def track(self, name: str, plan: str = "- [ ] a\n", **metadata: object) -> Path:
        folder = self.root / "conductor" / "tracks" / name
        folder.mkdir(parents=True)
        (folder / "plan.md").write_text(plan)
        self._number += 1
        if metadata.pop("absent", False) is False:
            (folder / "metadata.json").write_text(json.dumps(metadata))
        for path in folder.iterdir():
            os.utime(path, (1000.0 + self._number,) * 2)
        return folder

    @property
    def chosen(self) -> str:
        return choose_track(str(self.root)).name


@pytest.fixture
def conductor(tmp_path: Path) -> Conductor:
    return Conductor(tmp_path)


def test_a_track_without_a_status_may_be_worked_on(conductor: Conductor) -> None:
    conductor.track("older", status="completed")
    conductor.track("login", title="Login")
    assert conductor.chosen == "login"


def test_a_track_whose_plan_is_done_gives_way(conductor: Conductor) -> None:
    """Nobody may have changed its status; a track with something to do comes first."""
    conductor.track("login", status="new")
    conductor.track("done", plan="- [x] a\n", status="new")
    assert conductor.chosen == "login"


def test_the_last_track_is_chosen_while_none_has_anything_to_do(conductor: Conductor) -> None:
    """Its last box was ticked a moment ago: the handoff of its end belongs to it."""
    conductor.track("done", plan="- [x] a\n", status="in_progress")
    assert conductor.chosen == "done"


@pytest.mark.parametrize("status", ["completed", "archived", "cancelled"])
def test_a_track_that_is_over_is_never_chosen(conductor: Conductor, status: str) -> None:
    conductor.track("login", status=status)
    assert conductor.chosen == "general"


def test_a_track_without_metadata_is_one(conductor: Conductor) -> None:
    conductor.track("login", absent=True)
    assert [track.name for track in tracks_of(str(conductor.root))] == ["login"]
    assert conductor.chosen == "login"


def test_a_track_whose_metadata_is_broken_is_not_passed_over(conductor: Conductor) -> None:
    """Its handoffs would silently go elsewhere."""
    folder = conductor.track("login", status="in_progress")
    (folder / "metadata.json").write_text("{ broken")
    assert conductor.chosen == "login"
