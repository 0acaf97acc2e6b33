"""``flow handoff resume``: everything that the last handoff says, from the track, from mail, from Beads."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.support.commands import FlowCommand
from tests.support.stand_ins.agent_mail import running_server
from tests.support.track_project import TrackProject

WRITTEN = """---
timestamp: {moment}
trigger: manual
track_id: jwt_20260301
git_commit: abc1234
git_branch: main
author: agent
---

# Handoff: jwt_20260301 | manual

## Context

- Sign the tokens with RS256
- Half of the epic is through

## Changes

- `auth.py:10-45` - signing

## Learnings

- The library needs cryptography installed
- Decided: RS256 over HS256

## Next Steps

1. [ ] Store the tokens
2. [x] Sign the tokens
3. [ ] ✅ Write the design
4. [ ] DONE: pick a library
"""


class Shop(FlowCommand):
    """A project with a conductor, and ``flow`` run inside it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.track = TrackProject(root).make()
        super().__init__(capsys)

    def written(self, age_s: float = 60.0) -> Path:
        """Have a colleague's handoff of the track be there."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - age_s))
        self.track.handoffs.mkdir(parents=True, exist_ok=True)
        path = self.track.handoffs / "2026-03-01_10-00-00-000_jwt_manual.md"
        path.write_text(WRITTEN.format(moment=moment))
        return path


@pytest.fixture
def shop(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shop:
    monkeypatch.chdir(project)
    return Shop(project, capsys)


def test_a_tracks_handoff_is_read_by_its_own_sections(shop: Shop) -> None:
    """The purpose is its context, not the first file that changed; nothing of it is left out."""
    shop.written()
    view = shop.answer("handoff", "resume", shop.track.track)
    assert view["purpose"] == "Sign the tokens with RS256"
    assert view["context"] == ["Sign the tokens with RS256", "Half of the epic is through"]
    assert view["done"] == ["`auth.py:10-45` - signing"]
    assert view["learnings"] == ["The library needs cryptography installed"]
    assert view["decisions"] == ["RS256 over HS256"]
    page = shop.flow("handoff", "resume", shop.track.track)
    for title in ("Context:", "Learnings:", "Decisions:"):
        assert title in page
    assert "- RS256 over HS256" in page


def test_only_open_steps_are_offered_and_each_once(shop: Shop) -> None:
    """A tick, ✅ and DONE all say the same."""
    shop.written()
    assert shop.answer("handoff", "resume", shop.track.track)["todos"] == ["Store the tokens"]
    assert shop.flow("handoff", "resume", shop.track.track).count("Store the tokens") == 1


def test_progress_is_that_of_the_track_and_else_not_claimed(shop: Shop) -> None:
    shop.written()
    assert shop.answer("handoff", "resume", shop.track.track)["progress_percent"] == 0
    for name in ("metadata.json", "plan.md"):
        (shop.track.folder / name).unlink()
    shop.track.folder.rmdir()
    assert shop.answer("handoff", "resume", shop.track.track)["progress_percent"] is None
    assert ", progress" not in shop.flow("handoff", "resume", shop.track.track)


def test_without_a_word_a_fresh_handoff_of_the_track_is_resumed(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Auto-detect looks at conductor/handoffs as well; no empty handoff is laid above it."""
    path = shop.written()
    view = shop.answer("handoff")
    assert (view["path"], view["todos"]) == (str(path), ["Store the tokens"])
    assert os.listdir(shop.track.handoffs) == [path.name]


def test_a_stale_handoff_of_the_track_is_not_resumed_by_itself(shop: Shop) -> None:
    shop.written(age_s=8 * 86_400)
    assert "handoff written to" in shop.flow("handoff")


def test_the_newer_of_both_places_is_resumed(shop: Shop, private_home: Path) -> None:
    shop.written(age_s=600)
    made = Path(shop.answer("handoff", "create", "--done", "Tokens", "--track", shop.track.track)["path"])
    older = time.time() - 900
    for name in os.listdir(shop.track.handoffs):
        if name not in ("index.md", "2026-03-01_10-00-00-000_jwt_manual.md"):
            (shop.track.handoffs / name).unlink()
    assert shop.answer("handoff", "resume")["path"] == str(made)
    os.utime(made, (older, older))
    assert shop.answer("handoff", "resume")["path"].endswith("_jwt_manual.md")


def test_mail_comes_first_where_the_files_are_gone(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The body is shown, and its open steps are offered."""
    with running_server() as server:
        config = tmp_path / "config.yaml"
        config.write_text(f"agent_mail: {{url: '{server.url}', agent: GreenCastle, recipient: RedLake}}\n")
        monkeypatch.setenv("FLOWD_CONFIG", str(config))
        shop.flow("handoff", "create", "--done", "Tokens are signed", "--next", "Store the tokens")
        for name in os.listdir(shop.track.handoffs):
            (shop.track.handoffs / name).unlink()
        view = shop.answer("handoff", "resume", shop.track.track)
        assert view["path"] == ""
        assert view["purpose"] == "Tokens are signed"
        assert "Store the tokens" in view["todos"]
        assert view["track"]["mail"]["subject"].startswith("[HANDOFF:manual]")
        assert "Tokens are signed" in shop.flow("handoff", "resume", shop.track.track)


def test_a_track_without_metadata_is_a_track(shop: Shop) -> None:
    shop.written()
    (shop.track.folder / "metadata.json").unlink()
    shop.track.plan("xx  ")
    view = shop.answer("handoff", "resume", shop.track.track)
    assert view["track"]["progress_percent"] == 50
    assert not (shop.track.folder / "metadata.json").exists()


def test_metadata_that_cannot_be_read_is_said_and_never_taken_for_general(shop: Shop) -> None:
    (shop.track.folder / "metadata.json").write_text("{ broken")
    printed = shop.flow("handoff", "create", "--done", "Tokens")
    assert f"track {shop.track.track}" in printed
    assert "metadata.json" in printed
    assert "is not JSON" in printed
    assert not (shop.root / "conductor" / "handoffs" / "general").exists()


def test_metadata_of_another_program_keeps_its_section(shop: Shop) -> None:
    """A section that flowd does not understand stays as it is, and the person is told."""
    foreign = json.dumps({"status": "in_progress", "handoff": {"mood": "good"}})
    (shop.track.folder / "metadata.json").write_text(foreign)
    printed = shop.flow("handoff", "create", "--done", "Tokens")
    assert f"track {shop.track.track}" in printed
    assert "metadata.json" in printed
    assert (shop.track.folder / "metadata.json").read_text() == foreign
