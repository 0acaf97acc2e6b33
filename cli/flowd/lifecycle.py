"""``flowd start``, ``stop``, ``restart`` and ``retry``: control the daemon that runs in the background."""

import argparse
import enum
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

from flowd.actions.daemon_client import Holder, ask, ask_running, control_socket, running_holder
from flowd.cli.flowd.manager.manager import manager_owning, manager_serving, run_all
from flowd.cli.parser import add_verb
from flowd.config.paths import Paths, resolve_paths
from flowd.config.settings import LiveSettings
from flowd.system.errors import FlowdError, NotRunningError
from flowd.system.processes import NEUTRAL_DIRECTORY, python_command, scrubbed_environment
from flowd.system.progress import ProgressBar

CATCH_UP_POLL_S = 0.1


def add_start(subparsers: Any) -> None:
    """Add ``flowd start``."""
    about = "Start flowd and wait until it answers."
    examples = "  flowd start\n  flowd status           what it does\n"
    add_verb(subparsers, "start", "start in the background", about, run_start, examples=examples)


def run_start(_: argparse.Namespace) -> int:
    """Start flowd unless it is running, and print its pid."""
    paths = resolve_paths()
    result = start(paths)
    word = "started" if result.how is Started.NOW else "is already running"
    print(f"flowd {word} (pid {result.pid})", flush=True)
    watch_catch_up(paths)
    return 0


def watch_catch_up(paths: Paths) -> None:
    """Show a progress bar while older transcripts are read; Ctrl-C only ends the bar."""
    progress, most = ProgressBar(), 0
    try:
        while progress.shown:
            status = ask(control_socket(paths), "status")
            if not status["catching_up"] and not status["waiting_files"]:
                break
            most = max(most, status["waiting_files"])
            progress.step("catching up", most - status["waiting_files"], most)
            time.sleep(CATCH_UP_POLL_S)
    except (KeyboardInterrupt, NotRunningError):
        return
    finally:
        progress.clear()


def add_stop(subparsers: Any) -> None:
    """Add ``flowd stop``."""
    about = "Stop flowd: it stores what it has read and finishes its deliveries; killed after 6 s."
    add_verb(subparsers, "stop", "stop the daemon", about, run_stop, examples="  flowd stop\n")


def run_stop(_: argparse.Namespace) -> int:
    """Stop flowd, and print how it ended."""
    print(f"flowd {stop(resolve_paths()).value}")
    return 0


def add_restart(subparsers: Any) -> None:
    """Add ``flowd restart``."""
    about = "Stop flowd and start it again; with invalid settings it keeps running."
    examples = "  flowd restart          after an upgrade\n"
    add_verb(subparsers, "restart", "stop and start again", about, run_restart, examples=examples)


def run_restart(_: argparse.Namespace) -> int:
    """Replace the running daemon; check the settings before the old one is stopped."""
    paths = resolve_paths()
    LiveSettings(paths.config_file)
    print(f"flowd restarted (pid {restart(paths)})")
    return 0


def add_retry(subparsers: Any) -> None:
    """Add ``flowd retry``."""
    parser = add_verb(
        subparsers,
        "retry",
        "retry failed deliveries now",
        "Retry the deliveries that sinks have quarantined or are waiting to retry.",
        run_retry,
        examples="  flowd retry            everything\n  flowd retry beads      only this sink\n",
    )
    parser.add_argument("sink", nargs="?", help="only this sink (default: all)")


def run_retry(arguments: argparse.Namespace) -> int:
    """Have the daemon retry, and print the sinks."""
    paths = resolve_paths()
    waiting = {
        sink["name"]: sink["retrying"] + sink["quarantined"] for sink in ask_running(paths, "status")["sinks"]
    }
    names = ask_running(paths, "retry", sink=arguments.sink)
    found = [f"{name} ({waiting[name]})" for name in names if waiting.get(name)]
    print(f"retrying: {', '.join(found)}" if found else "nothing to retry: no delivery has failed")
    return 0


START_DEADLINE_S = 20.0
STOP_DEADLINE_S = 6.0
KILL_DEADLINE_S = 3.0
POLL_S = 0.02
# Detaching gives up the lock for a moment; for longer nobody holds it if the daemon has ended.
GONE_S = 2.0
SEE_DOCTOR = "run `flowd doctor`, then `flowd logs`"


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
    check_writable(paths)
    LiveSettings(paths.config_file)
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


def check_writable(paths: Paths) -> None:
    """Raise FlowdError if flowd cannot write where it keeps its files."""
    for directory in (paths.state_dir, paths.data_dir, paths.socket.parent):
        place = next(each for each in (directory, *directory.parents) if each.exists())
        if not place.is_dir():
            raise FlowdError(f"{place} is not a directory", hint="move it away, then run `flowd start`")
        if not os.access(place, os.W_OK | os.X_OK):
            is_mine = place.stat().st_uid == os.getuid()
            cure = f"chmod u+rwx {place}" if is_mine else "set HOME, or FLOWD_STATE_DIR and FLOWD_DATA_DIR"
            raise FlowdError(f"cannot write to {place}: Permission denied", hint=cure)


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
    started_at, seen_at = time.time(), time.monotonic()
    deadline = seen_at + START_DEADLINE_S
    while (now := time.monotonic()) < deadline:
        try:
            return int(ask(control_socket(paths), "ping", deadline_s=1.0)["pid"])
        except NotRunningError:
            seen_at = now if running_holder(paths.lock) is not None else seen_at
        if now - seen_at > GONE_S:
            raise FlowdError(f"flowd ended while it started{_last_words(paths, started_at)}", hint=SEE_DOCTOR)
        time.sleep(POLL_S)
    raise FlowdError(f"flowd was started but did not answer within {START_DEADLINE_S:g} s", hint=SEE_DOCTOR)


def _last_words(paths: Paths, since: float) -> str:
    """Return the last line that a daemon wrote before it crashed, empty if it wrote none."""
    reports = [*paths.log_dir.glob("bug-*.txt"), paths.log_dir / "crash.txt"]
    for report in sorted(reports, reverse=True):
        try:
            lines = report.read_text(encoding="utf-8", errors="replace").split("\n")
            if report.stat().st_mtime >= since - GONE_S and any(lines):
                return f": {next(line for line in reversed(lines) if line.strip())}"
        except OSError:
            continue
    return ""


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
