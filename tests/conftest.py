"""What every test shares: a home of its own, and a real daemon that lives in it when asked for."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from flowd.actions.daemon_client import ask
from flowd.config.paths import Paths, resolve_paths
from flowd.system.errors import NotRunningError

# No test is timed: speed is measured by `make bench`, and machines are shared.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

OTHER_ROOTS = ("FLOWD_", "XDG_", "CLAUDE")
DEADLINE_S = 60.0
LOOK_S = 0.02

Status = dict[str, Any]


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the test and its child processes to an empty home; nothing else says where files are."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(OTHER_ROOTS)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    return home


class DaemonHome:
    """A home in which real flowd commands and a real daemon run; ``start`` and ``stop`` may alternate."""

    def __init__(self, claude_dir: Path) -> None:
        self.env = dict(os.environ)
        self.claude_dir = claude_dir
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def paths(self) -> Paths:
        """Where flowd keeps its files here."""
        return resolve_paths()

    def command(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run one flowd command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "flowd", *words],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

    def start(self) -> "subprocess.Popen[bytes]":
        """Start ``flowd run`` and return it once it answers."""
        self.process = subprocess.Popen([sys.executable, "-m", "flowd", "run"], env=self.env)
        self.wait_for(lambda status: True)
        return self.process

    def stop(self) -> int:
        """Ask the daemon to end; return its exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """End the daemon in the middle of whatever it does."""
        return self._end(signal.SIGKILL)

    def status(self) -> Status:
        """Return what the daemon says about itself."""
        status: Status = ask(self.paths.socket, "status")
        return status

    def wait_for(self, predicate: Callable[[Status], bool], deadline: float = DEADLINE_S) -> Status:
        """Return the first status that satisfies *predicate*; fail with the last one after *deadline*."""
        end = time.monotonic() + deadline
        status: Status | None = None
        while time.monotonic() < end:
            assert self.process is None or self.process.poll() is None, "the daemon has ended"
            try:
                status = self.status()
            except NotRunningError:
                status = None
            if status is not None and predicate(status):
                return status
            time.sleep(LOOK_S)
        raise AssertionError(f"not so within {deadline:g} s: {status}")

    def _end(self, number: signal.Signals) -> int:
        assert self.process is not None, "nothing was started"
        self.process.send_signal(number)
        return self.process.wait(DEADLINE_S)


@pytest.fixture
def daemon_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DaemonHome]:
    """A home for a daemon; whatever runs in it at the end of the test is ended."""
    # Paths of sockets are short; those of tests are not.
    runtime = tempfile.mkdtemp(prefix="flowd-test-", dir="/tmp")
    monkeypatch.setenv("FLOWD_RUNTIME_DIR", runtime)
    monkeypatch.setenv("FLOWD_CONFIG", str(tmp_path / "config.yaml"))
    monkeypatch.setenv("FLOWD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FLOWD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    home = DaemonHome(tmp_path / "claude")
    try:
        yield home
    finally:
        if home.process is not None and home.process.poll() is None:
            home.kill()
        home.command("stop")
        shutil.rmtree(runtime)
