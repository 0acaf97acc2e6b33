"""What git says about a working tree, if git is there; nothing when it is not."""

import subprocess

DEADLINE_S = 5.0


def uncommitted_files(root: str) -> list[str]:
    """Return the files with uncommitted changes, relative to *root*; none without git or in no repository."""
    try:
        run = subprocess.run(
            ["git", "-C", root, "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--", "."],
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return _paths(run.stdout) if run.returncode == 0 else []


def _paths(porcelain: bytes) -> list[str]:
    paths: list[str] = []
    entries = iter(porcelain.decode("utf-8", "replace").split("\0"))
    for entry in entries:
        if len(entry) < 4:
            continue
        paths.append(entry[3:])
        if entry[0] in "RC":
            next(entries, None)  # the name it had before
    return paths
