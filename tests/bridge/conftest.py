"""What the bridge's tests share: a home of their own, core.db, and a running HTTP server."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flowd.store.database import Database
from flowd.store.migrations import migrate
from flowd.store.threads.threads import Threads
from tests.support.served import FLOWD, Served, serving
from tests.support.waiting import DEADLINE_S

Flowd = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment in which flowd touches nothing outside tmp_path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FLOWD_", "CLAUDE"))}
    return {
        **kept,
        "HOME": str(tmp_path),
        "XDG_RUNTIME_DIR": str(tmp_path / "xdg"),
        "FLOWD_CONFIG": str(tmp_path / "config.yaml"),
        "FLOWD_DATA_DIR": str(tmp_path / "data"),
        "FLOWD_STATE_DIR": str(tmp_path / "state"),
        "FLOWD_RUNTIME_DIR": str(tmp_path / "run"),
    }


@pytest.fixture
def flowd(home: dict[str, str]) -> Flowd:
    """Runs one flowd command to its end."""

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*FLOWD, *words], env=home, capture_output=True, text=True, timeout=DEADLINE_S, check=False
        )

    return run


@pytest.fixture
def threads(tmp_path: Path) -> Iterator[Threads]:
    """The threads of the core.db that a flowd with this home uses."""
    path = tmp_path / "data" / "core.db"
    migrate(path)
    database = Database(path)
    yield Threads(database)
    database.close()


@pytest.fixture
def served(home: dict[str, str], threads: Threads, tmp_path: Path) -> Iterator[Served]:
    """``flowd serve`` on a free port, listening, and ended after the test."""
    with serving(home, tmp_path) as running:
        yield running
