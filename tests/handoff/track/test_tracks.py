"""Progress from plan.md: done over all four kinds of checkboxes, as a whole number."""

import pytest

from flowd.handoff.track.tracks import percent, read_plan

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
