"""The hook without a daemon: spool what must not be lost, start child processes for the rest.

Imported by program.py, from the same directory, only if the daemon is away; never imported by flowd.
"""

import _signal  # type: ignore[import-not-found]
import posix
import sys
import time

from program import (  # type: ignore[import-not-found]
    LateError,
    make_folder,
    read_all,
    write_all,
)

# The transcript contains everything that these events report.
DISPENSABLE = ("UserPromptSubmit", "SubagentStop", "PostCompact")  # the last by settings of flowd 0.1
# The only variables that a child inherits: those of the client include a secret of the session.
PASSED_ON = (b"HOME", b"PATH", b"LANG", b"TMPDIR", b"USER", b"CLAUDE_CONFIG_DIR")
PASSED_ON_PREFIXES = (b"FLOWD_", b"XDG_", b"LC_")
FALLBACK = "flowd.hooks.fallback"

Streams = list[tuple[int, int, str, int, int] | tuple[int, int, int]]


def act(spool: str, event: str, raw: bytes) -> str:
    """Do what the daemon would do, and return the outcome for the log."""
    if event == "SessionStart":
        write_all(1, injection(raw))
        return "injected"
    if event in DISPENSABLE:
        return "dropped"
    nowhere: Streams = [(posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0) for number in range(3)]
    start(nowhere, keep(spool, raw))
    return "spooled"


def keep(spool: str, raw: bytes) -> str:
    """Write *raw* into the spool, and return the file; the child syncs it, which may take long."""
    file = f"{spool}/{time.time_ns()}-{posix.getpid()}.json"
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC
    make_folder(spool)
    descriptor = posix.open(file + ".tmp", flags, 0o600)
    write_all(descriptor, raw)
    posix.rename(file + ".tmp", file)
    return file


def injection(raw: bytes) -> bytes:
    """Return the briefing that a child process prints; kill the child when the time is up."""
    (their_input, our_output), (our_input, their_output) = posix.pipe(), posix.pipe()
    streams: Streams = [
        (posix.POSIX_SPAWN_DUP2, their_input, 0),
        (posix.POSIX_SPAWN_DUP2, their_output, 1),
        (posix.POSIX_SPAWN_OPEN, 2, "/dev/null", posix.O_WRONLY, 0),
    ]
    child = start(streams, "--inject")
    for descriptor in (their_input, their_output):
        posix.close(descriptor)
    try:
        write_all(our_output, raw)
        posix.close(our_output)
        return bytes(read_all(our_input))
    except LateError:
        posix.kill(child, _signal.SIGKILL)
        raise


def start(streams: Streams, argument: str) -> int:
    """Start the fallback in its own process session and return its process id."""
    environment = {
        name: value
        for name, value in posix.environ.items()
        if name in PASSED_ON or name.startswith(PASSED_ON_PREFIXES)
    }
    # -I: the working directory is the project, where a folder named flowd would otherwise be imported.
    words = [sys.executable, "-I", "-m", FALLBACK, argument]
    return posix.posix_spawn(words[0], words, environment, file_actions=streams, setsid=True)
