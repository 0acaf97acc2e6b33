"""Fixtures of the daemon's tests: a reader driven by hand, and another user."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from flowd.store.database import Database
from tests.support.following import Following


@pytest.fixture
def following(database: Database, tmp_path: Path) -> Following:
    """A reader of an empty ``projects`` directory."""
    return Following(database, tmp_path / "projects")


@pytest.fixture
def as_nobody() -> Callable[[Callable[[], int]], int]:
    """Runs a function as another user in a child process and returns what it returned (0 to 99)."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")

    def run(action: Callable[[], int]) -> int:
        child = os.fork()
        if child == 0:
            code = 99
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                code = action()
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    return run
