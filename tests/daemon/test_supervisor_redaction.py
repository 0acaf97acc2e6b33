"""A pattern that a person adds is masked at every exit of a real daemon."""

import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

from flowd.handoff.markdown.directory import directory_name
from tests.support.daemon_home import DaemonHome
from tests.support.git import git
from tests.support.live_session import send_hook
from tests.support.waiting import wait_until

SECRET = "ACME-123456"
TASK = (
    f"# Task 1: Rotate\n\n## Handoff\n\n```yaml\noutcome: completed\ngotchas:\n  - issue: Use {SECRET}\n```\n"
)
HANDOFF = f"# Handoff\n\nsession_id: s9\npurpose: Rotate {SECRET}\n\n## Next\n\n- Revoke {SECRET}\n"


def records(project: Path) -> bytes:
    """Return a session that mentions the secret in every kind of record."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"echo {SECRET}"}}
    edit = {
        "type": "tool_use",
        "id": "t2",
        "name": "Write",
        "input": {"file_path": f"{project}/{SECRET}.txt"},
    }
    messages: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": f"Rotate the key {SECRET} of the shop"}},
        {"type": "assistant", "message": {"role": "assistant", "content": [call, edit]}},
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": SECRET}]},
            "toolUseResult": {"stdout": SECRET},
        },
        {
            "type": "assistant",
            "message": {
                "content": [{"type": "text", "text": f"Decision: keep {SECRET}. Next: revoke {SECRET}."}]
            },
        },
        {"type": "ai-title", "aiTitle": f"Rotation of {SECRET}"},
        {"type": "system", "subtype": "away_summary", "content": f"You rotated {SECRET}."},
    ]
    moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    common = {"sessionId": "s1", "cwd": str(project), "timestamp": moment, "version": "2.1.0"}
    lines = [{**common, "uuid": f"u{number}", **message} for number, message in enumerate(messages)]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def kinds(home: DaemonHome) -> set[str]:
    with sqlite3.connect(f"file:{home.paths.database}?mode=ro", uri=True) as connection:
        return {row[0] for row in connection.execute("select distinct kind from flow_facts")}


def test_no_file_of_flowd_and_no_projection_keeps_it(daemon_home: DaemonHome, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / "tasks").mkdir(parents=True)
    (project / "tasks" / "1.md").write_text(TASK)
    git(project, "init", "-q", "-b", "main")
    daemon_home.paths.config_file.parent.mkdir(parents=True, exist_ok=True)
    daemon_home.paths.config_file.write_text(
        "redaction: {patterns: ['ACME-[0-9]{6}']}\nhandoff_markdown: {triggers: [precompact]}\n"
        "tasks: {globs: ['tasks/*.md']}\n"
    )
    transcript = daemon_home.claude_dir / "projects" / "-shop" / "s1.jsonl"
    transcript.parent.mkdir(parents=True)
    handoffs = daemon_home.claude_dir / "handoffs" / directory_name(str(project))
    handoffs.mkdir(parents=True)
    (handoffs / "s9.md").write_text(HANDOFF)
    os.utime(handoffs / "s9.md", (time.time() - 3600,) * 2)  # not newer than the session
    daemon_home.start()
    transcript.write_bytes(records(project))
    wait_until(lambda: (project / ".flow-guardian" / "handoff.yaml").exists())
    send_hook(
        daemon_home,
        hook_event_name="PreCompact",
        session_id="s1",
        cwd=str(project),
        transcript_path=str(transcript),
        last_assistant_message=f"Rotated {SECRET}",
    )
    expected = {"state", "checkpoint", "handoff", "block", "away-summary"}
    wait_until(lambda: expected <= kinds(daemon_home), f"facts of {expected}")
    wait_until(lambda: len(list(handoffs.glob("*.md"))) == 2, "the automatic handoff")
    assert daemon_home.stop() == 0
    (automatic,) = set(handoffs.glob("*.md")) - {handoffs / "s9.md"}
    written = [
        automatic,
        project / ".flow-guardian" / "handoff.yaml",
        *(file for file in (daemon_home.claude_dir / "handoffs" / ".index").glob("*")),
        *(file for file in daemon_home.paths.data_dir.rglob("*") if file.is_file()),
        *(file for file in daemon_home.paths.state_dir.rglob("*") if file.is_file()),
    ]
    assert [str(file) for file in written if SECRET.encode() in file.read_bytes()] == []
    assert "[redacted:custom]" in automatic.read_text()
    assert "[redacted:custom]" in (project / ".flow-guardian" / "handoff.yaml").read_text()
