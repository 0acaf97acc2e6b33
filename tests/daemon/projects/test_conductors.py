"""What the daemon sees of a conductor by itself: a track made, an epic closed; each once."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.daemon.reading.identity import KnownFiles
from flowd.model.facts import Checkpointed
from flowd.store.journal import Batch
from tests.support.track_project import TrackProject
from tests.support.transcript_lines import line

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome
    from tests.support.following import Following


def seen(following: "Following") -> list[tuple[str, str, str]]:
    bodies = [fact.body for fact in following.facts("checkpoint")]
    return [(body.trigger, body.track, body.epic) for body in bodies if isinstance(body, Checkpointed)]


def test_a_new_track_is_the_end_of_its_design(following: "Following", project: Path) -> None:
    """Not before it has a plan; those that were there before are no news."""
    old = TrackProject(project, "old").make()
    following.append(line(1, cwd=str(project)))
    shop = TrackProject(project)
    shop.folder.mkdir()
    (shop.folder / "metadata.json").write_text('{"status": "new"}')
    following.look(shop.folder / "metadata.json")
    assert seen(following) == []
    shop.plan("    ")
    following.look(shop.folder / "plan.md", old.folder)
    following.look(shop.folder / "plan.md")
    assert seen(following) == [("design-end", shop.track, "")]


def test_an_epic_whose_boxes_are_all_checked_is_closed(following: "Following", project: Path) -> None:
    """Each once; half of one is none."""
    shop = TrackProject(project).make()
    following.append(line(1, cwd=str(project)))
    for marks in ("x   ", "xx~ ", "xx~ ", "xxxx"):
        shop.plan(marks)
        following.look(shop.folder / "plan.md")
    assert seen(following) == [("epic-end", shop.track, "E1"), ("epic-end", shop.track, "E2")]


def test_where_beads_exports_the_plan_is_not_asked(following: "Following", project: Path) -> None:
    """One event is told by one."""
    shop = TrackProject(project).make(beads={"epicId": "t-1"})
    (project / ".beads").mkdir()
    parts = [{"id": f"t-1.{number}", "issue_type": "epic", "status": "open"} for number in (1, 2)]
    (project / ".beads" / "issues.jsonl").write_text("\n".join(map(json.dumps, parts)))
    following.append(line(1, cwd=str(project)))
    shop.plan("xxxx")
    following.look(shop.folder / "plan.md")
    assert seen(following) == []


def test_a_missed_event_is_found_by_comparison(following: "Following", project: Path) -> None:
    """As after an overflow, or without watches."""
    shop = TrackProject(project).make()
    following.append(line(1, cwd=str(project)))
    shop.plan("xx  ")
    following.catch_up()
    assert seen(following) == [("epic-end", shop.track, "E1")]


def test_a_project_without_conductor_is_not_watched(following: "Following", project: Path) -> None:
    """Nothing is asked of the watcher, nothing is written."""
    following.append(line(1, cwd=str(project)))
    assert following.reader._watchers.conductors.paths == []
    assert sorted(os.listdir(project)) == [".git"]


def wait_for_file(home: "DaemonHome", folder: Path, ending: str) -> None:
    def is_there(_: object) -> bool:
        return folder.is_dir() and any(name.endswith(ending) for name in os.listdir(folder))

    check: Callable[[object], bool] = is_there
    home.wait_for(check)


def test_a_real_daemon_hands_a_track_over_by_itself(daemon_home: "DaemonHome", project: Path) -> None:
    """From the first file of the track to the closed epic, without any command."""
    folder = daemon_home.claude_dir / "projects" / "-shop"
    folder.mkdir(parents=True)
    (project / "conductor" / "tracks").mkdir(parents=True)
    daemon_home.start()
    (folder / "s1.jsonl").write_bytes(line(1, cwd=str(project)))
    daemon_home.wait_for(lambda status: bool(status["sessions"]))
    shop = TrackProject(project).make()
    wait_for_file(daemon_home, shop.handoffs, f"{shop.track}_design-end.md")
    shop.plan("xx  ")
    wait_for_file(daemon_home, shop.handoffs, f"{shop.track}_E1_epic-end.md")
    daemon_home.wait_for(lambda _: len(shop.metadata["handoff"]["history"]) == 2)
    assert shop.history == [(1, "design-end", None), (2, "epic-end", "E1")]
    assert shop.metadata["handoff"]["progress_percent"] == 50
    daemon_home.stop()
    assert len(shop.files) == 2
    assert json.loads((shop.folder / "metadata.json").read_text())["title"] == "JWT"


def test_a_project_is_watched_before_status_shows_its_session(
    following: "Following", project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who sees the session may make a track at once, which must be noticed as new."""
    (project / "conductor" / "tracks").mkdir(parents=True)
    reader, watched = following.reader, []
    publish = reader.status.note_commit

    def note_commit(batch: Batch, known: KnownFiles) -> None:
        watched.append(reader._watchers.owns(str(project / "conductor" / "tracks" / "new")))
        publish(batch, known)

    monkeypatch.setattr(reader.status, "note_commit", note_commit)
    following.append(line(1, cwd=str(project)))
    assert watched == [True]


def test_a_phase_of_the_plan_ends_where_beads_exports_something_else(
    following: "Following", project: Path
) -> None:
    """An export that has no epic of this track reports none: then the plan is all there is."""
    shop = TrackProject(project).make(beads={"epicId": "t-1"})
    (project / ".beads").mkdir()
    others = [{"id": "t-1", "issue_type": "epic"}, {"id": "t-1.1", "issue_type": "task"}]
    (project / ".beads" / "issues.jsonl").write_text("\n".join(map(json.dumps, others)))
    following.append(line(1, cwd=str(project)))
    shop.plan("xx  ")
    following.look(shop.folder / "plan.md")
    assert seen(following) == [("epic-end", shop.track, "E1")]
