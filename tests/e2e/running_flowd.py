"""A real flowd in the test's home, and what it has kept."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.e2e.client import Ran, run_program
from tests.support.waiting import DEADLINE_S, wait_until


class RunningFlowd:
    """Runs flowd's commands as a person would, in the test's environment and project."""

    def __init__(self, environment: dict[str, str], project: Path) -> None:
        self.environment = environment
        self.project = project
        self.daemon: subprocess.Popen[bytes] | None = None
        self.is_suspended = False

    def start(self) -> None:
        """Start the daemon and wait until it answers."""
        self.daemon = subprocess.Popen(
            [sys.executable, "-m", "flowd", "run"], env=self.environment, cwd=self.project
        )
        wait_until(lambda: self.flowd("status").returncode == 0, "flowd answers")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the daemon by *number*."""
        if self.daemon is not None:
            self.daemon.send_signal(signal.SIGCONT)
            self.daemon.send_signal(number)
            self.daemon.wait(DEADLINE_S)
            self.daemon, self.is_suspended = None, False

    def suspend(self) -> None:
        """Stop the daemon in the middle of whatever it does, without its knowing."""
        assert self.daemon is not None
        self.daemon.send_signal(signal.SIGSTOP)
        self.is_suspended = True

    def resume(self) -> None:
        """Let a suspended daemon go on."""
        assert self.daemon is not None
        self.daemon.send_signal(signal.SIGCONT)
        self.is_suspended = False

    def flowd(self, *words: str) -> Ran:
        """Run ``flowd`` with *words*."""
        return run_program([sys.executable, "-m", "flowd", *words], self.environment, self.project)

    def flow(self, *words: str, cwd: Path | None = None) -> Ran:
        """Run ``flow`` with *words* in the project."""
        command = [
            sys.executable,
            "-c",
            "import sys; from flowd.cli.flow import main; sys.exit(main())",
        ]
        return run_program([*command, *words], self.environment, cwd or self.project)

    def facts(self, kind: str, session: str = "") -> list[dict[str, Any]]:
        """Return the bodies of the kept facts of *kind*, the oldest first."""
        query = "select body, session_id from flow_facts where kind = ? order by rowid"
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as connection:
            rows = connection.execute(query, (kind,)).fetchall()
        connection.close()
        return [json.loads(body) for body, owner in rows if session in ("", owner)]

    def checkpoints(self, trigger: str, session: str = "") -> list[dict[str, Any]]:
        """Return the checkpoints made for *trigger*."""
        return [body for body in self.facts("checkpoint", session) if body["trigger"] == trigger]

    def has_read(self, transcripts: list[Path]) -> bool:
        """Return True once *transcripts* have been read to their ends, and every sink has what they gave."""
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as connection:
            read = dict(connection.execute("select path, offset from flow_sources where state = 'live'"))
        connection.close()
        if any(read.get(str(file)) != file.stat().st_size for file in transcripts):
            return False
        sinks = json.loads(self.flowd("status", "--json").stdout)["sinks"]
        return not any(sink["queue"] or sink["retrying"] for sink in sinks)

    def handoff(self) -> dict[str, Any]:
        """Return the project's handoff.yaml, empty while there is none."""
        file = self.project / ".flow-guardian" / "handoff.yaml"
        return dict(yaml.safe_load(file.read_text())) if file.exists() else {}

    def hook_log(self) -> list[str]:
        """Return what the hooks have logged."""
        file = self.state / "log" / "hooks.log"
        return file.read_text().splitlines() if file.exists() else []

    def log(self) -> str:
        """Return what the daemon has logged."""
        return (self.state / "log" / "flowd.log").read_text()

    @property
    def database(self) -> Path:
        """core.db."""
        return Path(self.environment["FLOWD_DATA_DIR"]) / "core.db"

    @property
    def state(self) -> Path:
        """flowd's state directory."""
        return Path(self.environment["FLOWD_STATE_DIR"])

    @property
    def socket(self) -> Path:
        """The control socket."""
        return Path(self.environment["FLOWD_RUNTIME_DIR"]) / "flowd.sock"


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End *process* and all it started, at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(DEADLINE_S)
