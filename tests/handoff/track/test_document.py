"""A track's handoffs: name, frontmatter, sections, index; which track they belong to."""

import json
import os
from pathlib import Path

import yaml

from flowd.handoff.track.document import (
    TrackHandoff,
    add_to_index,
    file_name,
    handoffs_in,
    read_document,
    render,
    write_document,
)
from flowd.handoff.track.rules import TrackRules, read_rules
from flowd.handoff.track.tracks import GENERAL, Track, choose_track, has_conductor, named_track

HANDOFF = TrackHandoff(
    at=1772359200.123,
    trigger="epic-end",
    track="jwt_20260301",
    bead="E1",
    commit="0123456789",
    branch="feat/jwt",
    gates_passed=("spec", "plan"),
    current_gate="code",
    context=("Tokens are signed | and stored",),
    changes=("`auth.py:10-45` - signing",),
    learnings=("Clocks drift",),
    next=("Rotate",),
)
SECRET = "sk-" + "a1B2" * 8


def make_track(project: Path, name: str, status: str, modified: int) -> None:
    folder = project / "conductor" / "tracks" / name
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text(json.dumps({"status": status}))
    os.utime(folder / "metadata.json", (modified, modified))


def test_the_document_has_the_frontmatter_and_the_four_sections() -> None:
    """As the template says, in its order."""
    text = render(HANDOFF)
    _, frontmatter, body = text.split("---\n", 2)
    assert yaml.load(frontmatter, yaml.BaseLoader) == {
        "timestamp": "2026-03-01T10:00:00.123Z",
        "trigger": "epic-end",
        "track_id": "jwt_20260301",
        "bead_id": "E1",
        "git_commit": "0123456",
        "git_branch": "feat/jwt",
        "author": "agent",
        "validation_snapshot": {"gates_passed": ["spec", "plan"], "current_gate": "code"},
    }
    headings = [line for line in body.splitlines() if line.startswith("#")]
    assert headings == [
        "# Handoff: jwt_20260301 | epic-end",
        "## Context",
        "## Changes",
        "## Learnings",
        "## Next Steps",
    ]
    assert "1. [ ] Rotate\n2. [ ] " in body


def test_without_git_commit_and_branch_are_unknown_and_only_epics_have_a_bead() -> None:
    """Nothing is invented."""
    text = render(TrackHandoff(at=0.5, trigger="manual", track=GENERAL))
    assert "git_commit: unknown\ngit_branch: unknown\n" in text
    assert "bead_id" not in text


def test_next_steps_are_three_to_seven() -> None:
    """Too few are filled up, too many are cut."""
    assert render(HANDOFF._replace(next=())).count("[ ]") == 3
    assert render(HANDOFF._replace(next=tuple("abcdefghij"))).count("[ ]") == 7


def test_secrets_are_hidden_in_every_part() -> None:
    """Also where only the frontmatter tells it."""
    text = render(HANDOFF._replace(branch=SECRET, context=(SECRET,), next=(SECRET,)))
    assert SECRET not in text
    assert "[redacted:" in text


def test_the_name_tells_moment_track_epic_and_trigger() -> None:
    """With milliseconds."""
    assert file_name(HANDOFF) == "2026-03-01_10-00-00-123_jwt_20260301_E1_epic-end.md"
    assert file_name(HANDOFF._replace(bead="", track="a/..b")) == "2026-03-01_10-00-00-123_a-..b_epic-end.md"


def test_two_handoffs_of_one_millisecond_get_two_names(tmp_path: Path) -> None:
    """The same text is written once."""
    folder = str(tmp_path / "handoffs")
    names = [write_document(str(tmp_path), folder, HANDOFF, text) for text in ("a", "b", "a", "c")]
    stem = "2026-03-01_10-00-00-123_jwt_20260301_E1_epic-end"
    assert names == [f"{stem}.md", f"{stem}-1.md", f"{stem}.md", f"{stem}-2.md"]
    assert sorted(os.listdir(folder)) == sorted({*names})


def test_a_handoff_is_read_by_its_frontmatter_whatever_its_name() -> None:
    """Numbers stay the text they were."""
    text = render(HANDOFF._replace(commit="1e10000")).replace("[ ] Rotate", "[x] Rotate")
    found = read_document("2026-01-08_01-43_short.md", text)
    assert found is not None
    assert (found.trigger, found.bead, found.commit, found.at) == (
        "epic-end",
        "E1",
        "1e10000",
        1772359200.123,
    )
    assert found.summary == "Tokens are signed | and stored"
    assert "Rotate" not in found.next_steps
    assert len(found.next_steps) == 2
    assert read_document("x.md", "# no frontmatter") is None


def test_the_index_gets_a_row_for_each_handoff_with_its_pipes_escaped(tmp_path: Path) -> None:
    """The same one stands there once."""
    folder = str(tmp_path / "h")
    name = write_document(str(tmp_path), folder, HANDOFF, render(HANDOFF))
    assert add_to_index(str(tmp_path), folder, "jwt", name)
    later = HANDOFF._replace(at=HANDOFF.at + 1)
    second = write_document(str(tmp_path), folder, later, render(later))
    assert add_to_index(str(tmp_path), folder, "jwt", second)
    assert add_to_index(str(tmp_path), folder, "jwt", second)
    rows = (tmp_path / "h" / "index.md").read_text().splitlines()[4:]
    assert rows == [
        f"| 2026-03-01 10:00:00.123 | epic-end | E1 | Tokens are signed \\| and stored | [→](./{name}) |",
        f"| 2026-03-01 10:00:01.123 | epic-end | E1 | Tokens are signed \\| and stored | [→](./{second}) |",
    ]


def test_a_missing_index_is_made_from_the_files(tmp_path: Path) -> None:
    """All that are there stand in it, oldest first."""
    folder = str(tmp_path / "h")
    names = []
    for number in (2, 0, 1):
        handoff = HANDOFF._replace(at=HANDOFF.at + number)
        names.append(write_document(str(tmp_path), folder, handoff, render(handoff)))
    add_to_index(str(tmp_path), folder, "jwt", names[0])
    text = (tmp_path / "h" / "index.md").read_text()
    assert [line.split("](./")[1][:-3] for line in text.splitlines()[4:]] == sorted(names)
    assert len(handoffs_in(str(tmp_path), folder)) == 3


def test_an_index_with_other_columns_is_left_alone(tmp_path: Path) -> None:
    """It is somebody else's table."""
    folder = tmp_path / "h"
    name = write_document(str(tmp_path), str(folder), HANDOFF, render(HANDOFF))
    theirs = "# Log\n\n| Date | Trigger | File |\n|---|---|---|\n| a | b | c |\n"
    (folder / "index.md").write_text(theirs)
    assert not add_to_index(str(tmp_path), str(folder), "jwt", name)
    assert (folder / "index.md").read_text() == theirs


def test_text_after_the_table_stays_after_it(tmp_path: Path) -> None:
    """The row goes to the end of the table."""
    folder = tmp_path / "h"
    name = write_document(str(tmp_path), str(folder), HANDOFF, render(HANDOFF))
    columns = "| Timestamp | Trigger | Bead | Summary | File |\n|--|--|--|--|--|\n"
    head = "---\ntrack_id: jwt\n---\n# Handoff Log\n\n" + columns
    (folder / "index.md").write_text(head + "\nNotes.\n")
    add_to_index(str(tmp_path), str(folder), "jwt", name)
    text = (folder / "index.md").read_text()
    assert text.startswith(head + "| 2026-03-01 ")
    assert text.endswith("\n\nNotes.\n")


def test_the_track_is_the_bound_one_then_the_latest_active_then_general(tmp_path: Path) -> None:
    """Archived tracks are never chosen by themselves."""
    assert choose_track(str(tmp_path)).name == GENERAL
    assert not has_conductor(str(tmp_path))
    for name, status, modified in [
        ("old", "in_progress", 10),
        ("newer", "planned", 20),
        ("newest", "archived", 30),
    ]:
        make_track(tmp_path, name, status, modified)
    assert choose_track(str(tmp_path)).name == "newer"
    assert choose_track(str(tmp_path), bound="newest").name == "newest"
    assert choose_track(str(tmp_path), bound="../newest").name == "newer"
    assert named_track(str(tmp_path), "absent") is None
    assert Track(str(tmp_path), GENERAL).is_general


def test_a_project_turns_triggers_off_but_not_all(tmp_path: Path) -> None:
    """design-end and pre-finish stay; a threshold of 0 is no idle handoff."""
    (tmp_path / "conductor").mkdir()
    workflow = tmp_path / "conductor" / "workflow.md"
    workflow.write_text(
        "# Workflow\n\n```yaml\nhandoff:\n  quiet: true\n  idle_threshold_minutes: 0\n  auto_triggers:\n"
        "    epic-start: false\n    design-end: false\n    pre-finish: false\n"
        "  secrets_patterns: ['ACME-[0-9]{6}', '(a+)+', '[']\n```\nmore\n"
    )
    rules = read_rules(str(tmp_path))
    allowed = [
        name for name in ("design-end", "epic-start", "epic-end", "pre-finish", "idle") if rules.allows(name)
    ]
    assert allowed == ["design-end", "epic-end", "pre-finish"]
    assert rules.quiet
    assert rules.patterns == ("ACME-[0-9]{6}",)
    assert len(rules.warnings) == 2
    workflow.write_text("handoff:\n  idle_prompt_enabled: false\n")
    assert not read_rules(str(tmp_path)).allows("idle")
    workflow.write_text("handoff:\n  - [broken\n")
    assert read_rules(str(tmp_path)).allows("idle")
    workflow.unlink()
    assert read_rules(str(tmp_path)) == TrackRules()
