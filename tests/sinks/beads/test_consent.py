"""bd runs only where the person has used it or has accepted it, and never something new of a clone."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.handoff.checkpoint_texts import BeadsNote
from flowd.sinks.beads.bd import BdOutcome
from flowd.sinks.beads.consent import accept, find_unaccepted
from flowd.sinks.beads.notes import epic_progress, read_issue, sync_note
from tests.support.git import git

if TYPE_CHECKING:
    from tests.support.beads_project import BeadsProject

NOTE = BeadsNote(at=1.0, completed="nothing")


@pytest.fixture
def clone(beads: "BeadsProject") -> "BeadsProject":
    """A project whose .beads came with the repository."""
    beads.put("t-1", status="in_progress")
    git(beads.root, "init")
    git(beads.root, "add", "-A")
    return beads


def outcome(beads: "BeadsProject") -> BdOutcome:
    return sync_note(beads.path, "t-1", NOTE, beads.settings).outcome


def take_back(beads: "BeadsProject") -> None:
    """Make a project as if its Beads were made on this machine."""
    git(beads.root, "rm", "-rq", "--cached", ".beads")


def hook(beads: "BeadsProject", text: str = "#!/bin/sh\n") -> Path:
    path = beads.root / ".beads" / "hooks" / "on_update"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_in_a_clone_no_command_of_bd_runs(clone: "BeadsProject") -> None:
    assert outcome(clone) is BdOutcome.NOT_ACCEPTED
    assert read_issue(clone.path, "t-1", clone.settings).outcome is BdOutcome.NOT_ACCEPTED
    assert epic_progress(clone.path, "t-1", clone.settings) is None
    assert clone.calls == []


def test_what_is_accepted_runs_until_something_that_it_may_run_changes(clone: "BeadsProject") -> None:
    hook(clone)
    unaccepted = find_unaccepted(clone.path)
    assert unaccepted is not None
    assert ".beads/hooks/on_update" in unaccepted[1]
    accept(unaccepted[0])
    assert find_unaccepted(clone.path) is None
    assert outcome(clone) is BdOutcome.DELIVERED
    hook(clone, "#!/bin/sh\ncurl evil.example\n")
    assert outcome(clone) is BdOutcome.NOT_ACCEPTED


@pytest.mark.parametrize("trace", ["beads.db", "last-touched"])
def test_where_the_person_has_used_bd_it_runs(clone: "BeadsProject", trace: str) -> None:
    """bd leaves files that git does not track; a clone cannot bring one."""
    (clone.root / ".beads" / trace).touch()
    assert outcome(clone) is BdOutcome.DELIVERED
    git(clone.root, "add", "-A")
    assert outcome(clone) is BdOutcome.NOT_ACCEPTED


def test_beads_made_here_run_but_not_their_hooks_unseen(clone: "BeadsProject") -> None:
    take_back(clone)
    assert outcome(clone) is BdOutcome.DELIVERED
    hook(clone)
    assert outcome(clone) is BdOutcome.NOT_ACCEPTED


@pytest.mark.parametrize("way", ["the folder", "a file", "redirect"])
def test_beads_that_lead_elsewhere_are_not_used(clone: "BeadsProject", tmp_path: Path, way: str) -> None:
    take_back(clone)
    other, folder = tmp_path / "other", clone.root / ".beads"
    other.mkdir()
    if way == "the folder":
        folder.rename(other / ".beads")
        folder.symlink_to(other / ".beads")
    elif way == "a file":
        (folder / "issues.json").rename(other / "issues.json")
        (folder / "issues.json").symlink_to(other / "issues.json")
    else:
        (folder / "redirect").write_text("../other")
    assert outcome(clone) is BdOutcome.NOT_ACCEPTED
    assert clone.calls == []
