"""git, untouched by the settings of this machine."""

import os
import subprocess
from pathlib import Path

_SETTINGS = (
    ("user.name", "t"),
    ("user.email", "t@example.org"),
    ("commit.gpgsign", "false"),
    ("init.defaultBranch", "main"),
)
_OPTIONS = [word for name, value in _SETTINGS for word in ("-c", f"{name}={value}")]


def git(directory: Path, *words: str) -> None:
    """Run git in *directory*; raise CalledProcessError if it fails."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *_OPTIONS, *words], cwd=directory, env=environment, check=True, capture_output=True
    )
