"""A project's own secret patterns hold at every exit of the daemon and of the commands."""

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.cli.flow import main
from tests.support.beads_project import make_project
from tests.support.stand_ins.agent_mail import running_server
from tests.support.track_project import TrackProject
from tests.support.transcript import Transcript

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

SECRET = "ACME-123456"
RULES = "handoff:\n  secrets_patterns: ['ACME-[0-9]{6}']\n"


def test_what_matches_a_pattern_of_the_project_leaves_it_nowhere(
    daemon_home: "DaemonHome", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """handoff.yaml, core.db, documents and their index, the track, Beads, mail, and what is told."""
    beads = make_project(tmp_path)
    beads.put("t-1", status="in_progress")
    root = beads.root
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    TrackProject(root).make(beads={"epicId": "t-1"})
    (root / "conductor" / "workflow.md").write_text(RULES)
    monkeypatch.chdir(root)
    with running_server() as server:
        config = {
            "beads": {"program": str(beads.program)},
            "agent_mail": {"url": server.url, "agent": "GreenCastle", "recipient": "RedLake"},
        }
        (tmp_path / "config.yaml").write_text(json.dumps(config))
        folder = daemon_home.claude_dir / "projects" / "-shop"
        folder.mkdir(parents=True)
        daemon_home.start()
        (folder / "session-1.jsonl").write_bytes(transcript(root))
        daemon_home.wait_for(lambda _: (root / ".flow-guardian" / "handoff.yaml").exists())
        assert main(["save", f"Use {SECRET} here", "--goal", f"Deploy with {SECRET}"]) == 0
        assert main(["handoff", "create", "--done", f"Used {SECRET}", "--risk", f"{SECRET} is old"]) == 0
        assert main(["next", "add", f"Renew {SECRET}"]) == 0
        daemon_home.wait_for(lambda status: all(sink["queue"] == 0 for sink in status["sinks"]))
        daemon_home.stop()
        assert SECRET not in json.dumps(server.messages)
    assert SECRET not in beads.notes("t-1")
    leaks = [path for path in files_below(root, tmp_path) if SECRET.encode() in path.read_bytes()]
    assert leaks == []


def transcript(root: Path) -> bytes:
    session = Transcript()
    session.person(f"Deploy the shop with the key {SECRET} from the vault")
    session.call("Edit", file_path=f"{root}/deploy.py").result()
    session.assistant(
        f"The shop is deployed. The key {SECRET} works because the vault was renewed.", "end_turn"
    )
    now = time.strftime("%Y-%m-%dT%H:%M", time.gmtime())
    text = session.data.decode().replace("/home/ada/shop", str(root)).replace("2026-03-01T10:00", now)
    return text.encode()


def files_below(root: Path, whole: Path) -> list[Path]:
    """Return every file that flowd wrote: all but the transcript and the rules."""
    places = [root, whole / "data", whole / "state", whole / "claude" / "handoffs"]
    found = [Path(folder, name) for place in places for folder, _, names in os.walk(place) for name in names]
    return [path for path in found if path.name not in ("workflow.md", "calls")]
