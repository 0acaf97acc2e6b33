"""Where the real client runs, and how a test runs it."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.e2e.client import Ran


class Place(NamedTuple):
    """A home and a project of the test's own, and the environment that leads there."""

    home: Path
    project: Path
    environment: dict[str, str]


RunClaude = Callable[..., Ran]
StartClaude = Callable[..., "subprocess.Popen[bytes]"]
