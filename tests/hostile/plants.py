"""Small things that vectors put into a repository."""

import json
from pathlib import Path

from tests.hostile.scene import STRANGER_SAYS, Scene

RUN = 'touch "$PWNED"\n'
PYTHON = "import os, pathlib\npathlib.Path(os.environ['PWNED']).touch()\n"
TASK = "tasks/001-login.md"


def write(path: Path, text: str | bytes) -> Path:
    """Write *text* to *path*, with the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def link(path: Path, target: str | Path) -> None:
    """Make a symbolic link at *path*."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def script(path: Path) -> Path:
    """Write a shell script that leaves a trace when it runs."""
    write(path, f"#!/bin/sh\n{RUN}").chmod(0o755)
    return path


def handoff(scene: Scene, goal: str = STRANGER_SAYS, **fields: str) -> None:
    """Write a handoff file as a stranger would."""
    text = "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items())
    head = f"goal: {json.dumps(goal)}\nstatus: in_progress\nnow: {json.dumps(goal)}\n"
    write(scene.clone / ".flow-guardian" / "handoff.yaml", head + text)


def block(task: str = "001", gotcha: str = STRANGER_SAYS, pattern: str = STRANGER_SAYS) -> str:
    """Return the text of a task file with a valid handoff block."""
    return f"""# Task {task}: Login

## Handoff

```yaml
outcome: completed
files_created: []
files_modified: []
patterns_discovered:
  - pattern: {json.dumps(pattern)}
    applies_to: ["login"]
    location: src/login.py
gotchas:
  - issue: {json.dumps(gotcha)}
    mitigation: {json.dumps(gotcha)}
    severity: high
    discovered_in: src/login.py
dependencies_for_next:
  - file: src/login.py
    reason: {json.dumps(pattern)}
blockers: []
open_questions: []
```
"""


def track(scene: Scene, name: str = "login", **metadata: object) -> Path:
    """Make a conductor track in progress; return its directory."""
    folder = scene.clone / "conductor" / "tracks" / name
    write(folder / "plan.md", "# Plan\n\n## Epic 1: Start\n- [x] one\n- [ ] two\n")
    write(
        folder / "metadata.json",
        json.dumps({"track_id": name, "status": "in_progress", "type": "feature", **metadata}),
    )
    return folder


def git_setting(scene: Scene, text: str) -> None:
    """Append to the settings that the repository has for git."""
    with (scene.clone / ".git" / "config").open("a") as file:
        file.write(text)


def beads(scene: Scene) -> None:
    """Make a Beads directory with one issue in progress."""
    issue = {"id": "shop-1", "title": "Login", "status": "in_progress", "notes": "", "updated_at": ""}
    write(scene.clone / ".beads" / "issues.json", json.dumps([issue]))
    write(scene.clone / ".beads" / "issues.jsonl", json.dumps(issue) + "\n")
