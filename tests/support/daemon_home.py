"""A home in which a real daemon and real commands run."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flowd.actions.daemon_client import ask
from flowd.config.paths import Paths, resolve_paths
from flowd.system.errors import NotRunningError
from tests.support.waiting import DEADLINE_S, INTERVAL_S

Status = dict[str, Any]


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
        return self._run(["-m", "flowd", *words])

    def flow(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run one flow command to its end."""
        return self._run(["-c", "from flowd.cli.flow import main; raise SystemExit(main())", *words])

    def _run(self, words: list[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, *words],
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
            time.sleep(INTERVAL_S)
        raise AssertionError(f"not so within {deadline:g} s: {status}")

    def _end(self, number: signal.Signals) -> int:
        assert self.process is not None, "nothing was started"
        self.process.send_signal(number)
        return self.process.wait(DEADLINE_S)
