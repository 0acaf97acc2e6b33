"""Start and stop the daemon; the results are enums that the verbs print."""

import enum
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from flowd.actions.daemon_client import Holder, ask, control_socket, running_holder
from flowd.cli.flowd.manager.manager import manager_owning, manager_serving, run_all
from flowd.config.paths import Paths
from flowd.system.errors import FlowdError, NotRunningError
from flowd.system.processes import NEUTRAL_DIRECTORY, python_command, scrubbed_environment

START_DEADLINE_S = 20.0
STOP_DEADLINE_S = 6.0
KILL_DEADLINE_S = 3.0
POLL_S = 0.02


class Started(enum.Enum):
    """How an attempt to start ended."""

    NOW = "started"
    ALREADY = "already running"


class Stopped(enum.Enum):
    """How an attempt to stop ended."""

    NOT_RUNNING = "was not running"
    TERMINATED = "stopped"
    KILLED = "killed: it did not stop in time"


class StartResult(NamedTuple):
    """How the start ended, and the pid of the daemon."""

    how: Started
    pid: int


def start(paths: Paths) -> StartResult:
    """Start the daemon, by its service manager or else detached, and wait until it answers."""
    holder = running_holder(paths.lock)
    if holder is not None:
        return StartResult(Started.ALREADY, holder.pid)
    manager = manager_serving(paths)
    if manager is not None:
        run_all(manager.commands_to_start())
        return StartResult(Started.NOW, wait_until_answering(paths))
    run = subprocess.run(
        python_command("flowd", "run", "--detach"),
        cwd=NEUTRAL_DIRECTORY,
        env=scrubbed_environment(),
        check=False,
    )
    if run.returncode != 0:
        raise FlowdError("flowd could not start", hint="see the lines above, then run `flowd doctor`")
    return StartResult(Started.NOW, wait_until_answering(paths))


def stop(paths: Paths) -> Stopped:
    """Stop the daemon; kill it if it has not stopped by the deadline."""
    holder = running_holder(paths.lock)
    if holder is None:
        return Stopped.NOT_RUNNING
    manager = manager_owning(holder)
    if manager is not None:
        run_all(manager.commands_to_stop())
    else:
        _signal(holder, signal.SIGTERM)
    if _wait_until_gone(paths.lock, STOP_DEADLINE_S):
        return Stopped.TERMINATED
    _signal(holder, signal.SIGKILL)
    if _wait_until_gone(paths.lock, KILL_DEADLINE_S):
        return Stopped.KILLED
    raise FlowdError(
        f"flowd (pid {holder.pid}) cannot be stopped", hint=f"inspect it with `ps -p {holder.pid}`"
    )


def restart(paths: Paths) -> int:
    """Restart the daemon, by its service manager if it has one; return the new pid."""
    holder = running_holder(paths.lock)
    manager = manager_owning(holder) if holder else None
    stop(paths)
    if manager is None:
        return start(paths).pid
    run_all(manager.commands_to_start())
    return wait_until_answering(paths)


def wait_until_answering(paths: Paths) -> int:
    """Return the pid of the daemon once its socket answers; raise FlowdError if it does not in time."""
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline:
        try:
            return int(ask(control_socket(paths), "ping", deadline_s=1.0)["pid"])
        except NotRunningError:
            time.sleep(POLL_S)
    raise FlowdError(
        f"flowd was started but did not answer within {START_DEADLINE_S:g} s", hint="run `flowd logs`"
    )


def _wait_until_gone(lock: Path, deadline_s: float) -> bool:
    deadline = time.monotonic() + deadline_s
    while running_holder(lock) is not None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_S)
    return True


def _signal(holder: Holder, number: signal.Signals) -> None:
    try:
        os.kill(holder.pid, number)
    except ProcessLookupError:
        return
