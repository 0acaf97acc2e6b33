"""A child process of the daemon: a process group, a stop deadline, always reaped."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from flowd.config.logs import log
from flowd.system.errors import FlowdError
from flowd.system.processes import NEUTRAL_DIRECTORY, scrubbed_environment

STOP_DEADLINE_S = 2.0
LIFELINE_VARIABLE = "FLOWD_LIFELINE"


class ChildEndedError(FlowdError):
    """A child process ended although it should keep running."""


class Child:
    """Runs one command until closed; if it ends by itself, ``run`` raises and the supervisor restarts it."""

    def __init__(self, command: Sequence[str], output: Path) -> None:
        self._command = list(command)
        self._output = output
        self._process: subprocess.Popen[bytes] | None = None
        self._guard = threading.Lock()
        self._closing = False
        self._lifeline = -1

    @property
    def is_running(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.poll() is None

    def run(self) -> None:
        """Start the command and wait until it ends."""
        with self._guard:
            if self._closing:
                return
            self._process = self._start()
        code = self._process.wait()
        os.close(self._lifeline)
        self._kill_group()
        if not self._closing:
            raise ChildEndedError(f"{self._command[-1]} ended with code {code}", hint=f"see {self._output}")

    def request_beat(self, beat: Callable[[], None]) -> None:
        """Call *beat* if the process is running; its thread only waits for its end."""
        if self.is_running:
            beat()

    def close(self) -> None:
        """Stop the process group: SIGTERM first, SIGKILL after the deadline."""
        with self._guard:
            self._closing = True
            process = self._process
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_DEADLINE_S)
        self._kill_group()

    def _start(self) -> "subprocess.Popen[bytes]":
        theirs, self._lifeline = os.pipe()
        try:
            with self._output.open("ab") as output:
                process = subprocess.Popen(
                    self._command,
                    cwd=NEUTRAL_DIRECTORY,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    pass_fds=[theirs],
                    env=scrubbed_environment() | {LIFELINE_VARIABLE: str(theirs)},
                )
        finally:
            os.close(theirs)
        log.info("child_started", command=self._command[-1], pid=process.pid)
        return process

    def _kill_group(self) -> None:
        assert self._process is not None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def follow_parent() -> None:
    """Send this process SIGTERM when the daemon that started it ends; do nothing if no daemon did."""
    descriptor = os.environ.pop(LIFELINE_VARIABLE, "")
    if descriptor.isdigit():
        threading.Thread(target=_await_parent, args=(int(descriptor),), name="lifeline", daemon=True).start()


def _await_parent(descriptor: int) -> None:
    try:
        os.read(descriptor, 1)
    except OSError:
        return
    os.kill(os.getpid(), signal.SIGTERM)
