"""A world of its own: home, settings, transcripts and projects in a temporary directory, and a daemon."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from flowd.actions.daemon_client import ask
from flowd.system.errors import NotRunningError

ANSWER_DEADLINE_S = 30.0
STOP_DEADLINE_S = 10.0
LOOK_S = 0.002


class World:
    """A temporary directory that looks like a person's home; ``close`` ends what was started in it."""

    def __init__(self) -> None:
        # realpath: on some systems the temporary directory is itself a link, and projects are resolved.
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="flowd-bench-")))
        self.projects = self.root / "claude" / "projects"
        self.work = self.root / "work"
        self.socket = self.root / "run" / "flowd.sock"
        self.database = self.root / "data" / "core.db"
        self._daemon: subprocess.Popen[bytes] | None = None
        for directory in ("home", "claude/projects", "work", "run", "data", "state", "config"):
            (self.root / directory).mkdir(parents=True)

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def environment(self) -> dict[str, str]:
        """The environment of everything that runs here: nothing points to the real home."""
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
        directories = {
            "HOME": "home",
            "CLAUDE_CONFIG_DIR": "claude",
            "FLOWD_DATA_DIR": "data",
            "FLOWD_STATE_DIR": "state",
            "FLOWD_RUNTIME_DIR": "run",
            "XDG_CONFIG_HOME": "config",
            "XDG_DATA_HOME": "data",
            "XDG_STATE_HOME": "state",
            "XDG_CACHE_HOME": "home",
            "XDG_RUNTIME_DIR": "run",
        }
        ours = {name: str(self.root / directory) for name, directory in directories.items()}
        return kept | ours | {"FLOWD_CONFIG": str(self.root / "config" / "config.yaml")}

    @property
    def pid(self) -> int:
        """The process id of the running daemon."""
        assert self._daemon is not None
        return self._daemon.pid

    def start(self) -> float:
        """Start the daemon; return the seconds until its socket answered."""
        started = time.perf_counter()
        self._daemon = subprocess.Popen(
            [sys.executable, "-m", "flowd", "run"],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + ANSWER_DEADLINE_S
        while not self._answers():
            if self._daemon.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the daemon did not come up:\n{self.log_tail()}")
            time.sleep(LOOK_S)
        return time.perf_counter() - started

    def stop(self) -> None:
        """End the daemon, by force if it takes too long."""
        if self._daemon is None:
            return
        self._daemon.send_signal(signal.SIGTERM)
        try:
            self._daemon.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._daemon.kill()
            self._daemon.wait()
        self._daemon = None

    def close(self) -> None:
        """End the daemon and remove every file."""
        if self._daemon is not None:
            with suppress(ProcessLookupError):
                os.kill(self._daemon.pid, signal.SIGKILL)
            self._daemon.wait()
            self._daemon = None
        shutil.rmtree(self.root, ignore_errors=True)

    def status(self) -> dict[str, Any]:
        """Ask the daemon how it is."""
        answer: dict[str, Any] = ask(self.socket, "status")
        return answer

    def wait_until_read(self, size: int, deadline_s: float = 120.0, look_s: float = 0.1) -> dict[str, Any]:
        """Wait until *size* bytes have been read since core.db was made and every sink is done with them."""
        deadline = time.monotonic() + deadline_s
        while True:
            status = self.status()
            if status["counts"]["bytes"] >= size and not any(sink["queue"] for sink in status["sinks"]):
                return status
            if time.monotonic() > deadline:
                raise RuntimeError(f"not read within {deadline_s:g} s: {status['counts']}\n{self.log_tail()}")
            time.sleep(look_s)

    def log_tail(self) -> str:
        """Return the end of the daemon's log, for messages about what went wrong."""
        try:
            return (self.root / "state" / "log" / "flowd.log").read_text()[-2000:]
        except OSError:
            return "(no log)"

    def _answers(self) -> bool:
        try:
            ask(self.socket, "ping", deadline_s=1.0)
        except NotRunningError:
            return False
        return True
