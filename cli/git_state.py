"""What git says about a working tree, if git is there; nothing when it is not."""

import os
import signal
import subprocess
from pathlib import Path

from flowd.handoff.git_files import git_place

DEADLINE_S = 3.0
MOST_FILES = 40
# A repository may name a program for fsmonitor; asking what changed must not run it.
STATUS = ("git", "-c", "core.fsmonitor=false", "status", "--porcelain=v1", "-z", "--no-renames", "--", ".")


def uncommitted_files(root: str) -> list[str]:
    """Return the files with uncommitted changes, relative to *root*; none without git or in no repository."""
    here = Path(root)
    top = next((place for place in (here, *here.parents) if git_place(str(place))), None)
    if top is None:
        return []
    names = [os.fsdecode(entry[3:]) for entry in _status(root).split(b"\0") if len(entry) > 3]
    # git names them from the top of the repository, which the project may lie below.
    inside = [os.path.relpath(top / name, root) + "/" * name.endswith("/") for name in names]
    return [name for name in inside if name.isprintable()][:MOST_FILES]


def _status(root: str) -> bytes:
    """Return what git prints, or nothing when there is no git, it fails, or it takes too long."""
    try:
        process = subprocess.Popen(
            STATUS,
            cwd=root,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return b""
    try:
        said, _ = process.communicate(timeout=DEADLINE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return b""
    return said if process.returncode == 0 else b""
