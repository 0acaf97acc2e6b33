"""A program the daemon keeps running: its own process group, a deadline, and always reaped."""

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from flowd.config.logs import log
from flowd.daemon import child as lifeline
from flowd.system.errors import FlowdError
from flowd.system.processes import NEUTRAL_DIRECTORY, scrubbed_environment

STOP_DEADLINE_S = 2.0


class ChildEndedError(FlowdError):
    """A child that should run on has ended."""


class Child:
    """Runs one command until closed; its end is this part's death, so that the supervisor restarts it."""

    def __init__(self, command: Sequence[str], output: Path) -> None:
        self._command = list(command)
        self._output = output
        self._process: subprocess.Popen[bytes] | None = None
        self._guard = threading.Lock()
        self._closing = False
        self._lifeline = -1

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def run(self) -> None:
        """Start the command and wait for its end."""
        with self._guard:
            if self._closing:
                return
            self._process = self._start()
        code = self._process.wait()
        os.close(self._lifeline)
        self._kill_group()
        if not self._closing:
            raise ChildEndedError(f"{self._command[-1]} ended with code {code}", hint=f"see {self._output}")

    def close(self) -> None:
        """End the whole group: asked first, forced after the deadline."""
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
                    env=scrubbed_environment() | {lifeline.VARIABLE: str(theirs)},
                )
        finally:
            os.close(theirs)
        log.info("child_started", command=self._command[-1], pid=process.pid)
        return process

    def _kill_group(self) -> None:
        assert self._process is not None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


VARIABLE = "FLOWD_LIFELINE"


def follow_parent() -> None:
    """End this process (SIGTERM) when the daemon that started it is gone; do nothing without one."""
    descriptor = os.environ.pop(VARIABLE, "")
    if descriptor.isdigit():
        threading.Thread(target=_wait, args=(int(descriptor),), name="lifeline", daemon=True).start()


def _wait(descriptor: int) -> None:
    try:
        os.read(descriptor, 1)
    except OSError:
        return
    os.kill(os.getpid(), signal.SIGTERM)
