"""What the bridge's tests share: a home of their own, core.db, and a running HTTP server."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from flowd.store.database import Database
from flowd.store.migrations import migrate
from flowd.store.threads.threads import Threads

FLOWD = [sys.executable, "-m", "flowd"]
DEADLINE_S = 60

Flowd = Callable[..., "subprocess.CompletedProcess[str]"]


class Served(NamedTuple):
    """A running ``flowd serve``."""

    process: "subprocess.Popen[str]"
    port: int
    token: str
    log: Path

    @property
    def url(self) -> str:
        """The MCP endpoint."""
        return f"http://127.0.0.1:{self.port}/mcp"


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
def served(home: dict[str, str], flowd: Flowd, threads: Threads, tmp_path: Path) -> Iterator[Served]:
    """``flowd serve`` on a free port, listening, and ended after the test."""
    log = tmp_path / "serve.log"
    token = flowd("serve", "--show-token").stdout.strip()
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*FLOWD, "serve", "--port", "0"], env=home, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        yield Served(process, _port_in(log, process), token, log)
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE_S)


def _port_in(log: Path, process: "subprocess.Popen[str]") -> int:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        found = re.search(r"listening url=http://127\.0\.0\.1:(\d+)/mcp", log.read_text())
        if found:
            return int(found[1])
        assert process.poll() is None, log.read_text()
        time.sleep(0.02)
    raise AssertionError("flowd serve does not listen")
