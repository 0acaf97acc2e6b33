"""Bounded subprocesses: each in a process group of its own, with a deadline, and always reaped."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from flowd.system.errors import FlowdError

# Variables that name a file or directory: a child with another working directory must find the same one.
_PATH_VARIABLES = (
    "CLAUDE_CONFIG_DIR",
    "FLOWD_CONFIG",
    "FLOWD_DATA_DIR",
    "FLOWD_STATE_DIR",
    "FLOWD_RUNTIME_DIR",
)


def scrubbed_environment() -> dict[str, str]:
    """Return the environment for a child, safe in whatever directory it runs.

    Variables of a Claude session are left out, paths are absolute, and PATH keeps only absolute
    directories: a relative one would find programs in a cloned repository.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CLAUDE") or name == "CLAUDE_CONFIG_DIR"
    }
    absolute = {name: os.path.abspath(kept[name]) for name in _PATH_VARIABLES if kept.get(name)}  # noqa: PTH100 no link is resolved
    return kept | absolute | {"PATH": safe_search_path()}


_SYSTEM_ROOTS = (
    "/usr/",
    "/bin",
    "/sbin",
    "/opt/",
    "/nix/",
    "/snap/",
    "/home/linuxbrew/",
    "/Library/",
    "/System/",
)


def safe_search_path(outside: str = "") -> str:
    """Return PATH without relative and empty entries, which mean the working directory.

    Entries below the directory *outside* and in any other checkout are left out too: a repository may bring
    a ``git`` of its own in ``node_modules/.bin``, which tools put into PATH.
    """
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    absolute = [entry for entry in entries if os.path.isabs(entry)] or os.defpath.split(os.pathsep)  # noqa: PTH117 a string
    # An empty PATH would mean the working directory.
    safe = (entry for entry in absolute if not _is_below(entry, outside) and not _is_in_checkout(entry))
    return os.pathsep.join(safe) or os.devnull


def _is_in_checkout(path: str) -> bool:
    """Return True if *path* lies in a git checkout that is neither the system's nor a tool of this user."""
    home = os.path.expanduser("~")  # noqa: PTH111 a string is wanted
    path = os.path.realpath(path)
    # Package managers are checkouts themselves: Homebrew, and pyenv or nvm in hidden directories of the home.
    if path.startswith((*_SYSTEM_ROOTS, os.path.join(home, "."))):
        return False
    while path not in (home, os.path.dirname(path)):
        if os.path.lexists(os.path.join(path, ".git")):
            return True
        path = os.path.dirname(path)
    return False


def _is_below(path: str, directory: str) -> bool:
    if not directory:
        return False
    real, top = os.path.realpath(path), os.path.realpath(directory)
    return any(place == top or place.startswith(os.path.join(top, "")) for place in (path, real))


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs *module* with this interpreter.

    ``-P`` keeps the working directory out of ``sys.path``: a package in a cloned repository must
    never be imported. Run it with ``cwd=NEUTRAL_DIRECTORY`` and ``scrubbed_environment()``.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


NEUTRAL_DIRECTORY = "/"


OUTPUT_BYTES = 64_000_000


class ProcessResult(NamedTuple):
    """The exit code of a program and its output."""

    code: int
    stdout: str
    stderr: str


class DeadlineExceededError(FlowdError):
    """The program did not end in time; its whole group was killed."""


_guard = threading.Lock()
_groups: set[int] = set()
_no_more = threading.Event()


def run_program(
    command: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
    errors: str = "replace",
    stdin: bytes = b"",
) -> ProcessResult:
    """Run *command* to its end; raise DeadlineExceededError past *timeout_s*, OSError if it cannot start.

    *errors* is how output that is not UTF-8 is decoded, as for ``bytes.decode``; *stdin* is its input.
    """
    # Files, not pipes: a grandchild that keeps its output open must not make the caller wait.
    with _input(stdin) as given, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = _start(command, cwd=cwd, env=env, files=(given, stdout.fileno(), stderr.fileno()))
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise DeadlineExceededError(f"{command[0]} did not end within {timeout_s:g} s") from error
        finally:
            _end(process)
        return ProcessResult(code, _read(stdout.fileno(), errors), _read(stderr.fileno(), errors))


@contextmanager
def _input(data: bytes) -> Iterator[int]:
    """Yield the descriptor of a file that holds *data*, or of no input."""
    if not data:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file.fileno()


def running_programs() -> int:
    """Return how many programs are running."""
    return len(_groups)


def end_programs() -> None:
    """Kill every running program and refuse to start more: this process is about to end."""
    _no_more.set()
    with _guard:
        for group in _groups:
            _kill_group(group)


def _start(
    command: Sequence[str], *, cwd: str, env: Mapping[str, str], files: tuple[int, int, int]
) -> "subprocess.Popen[bytes]":
    with _guard:
        if _no_more.is_set():
            raise InterruptedError("flowd is stopping")
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=files[0],
            stdout=files[1],
            stderr=files[2],
            start_new_session=True,
        )
        _groups.add(process.pid)
    return process


def _end(process: "subprocess.Popen[bytes]") -> None:
    with _guard:
        _kill_group(process.pid)
        _groups.discard(process.pid)
    process.wait()


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _read(descriptor: int, errors: str) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    pieces = []
    left = OUTPUT_BYTES
    while left and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces).decode(errors=errors)
