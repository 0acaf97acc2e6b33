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
    read_file,
    write_all,
)

# The transcript contains everything that these events report.
DISPENSABLE = ("UserPromptSubmit", "SubagentStop", "PostCompact")  # the last by settings of flowd 0.1
# The only variables that a child inherits: those of the client include a secret of the session.
PASSED_ON = (b"HOME", b"PATH", b"LANG", b"TMPDIR", b"USER", b"CLAUDE_CONFIG_DIR")
PASSED_ON_PREFIXES = (b"FLOWD_", b"XDG_", b"LC_")
FALLBACK = "flowd.hooks.fallback"
TAG = b"flow-guardian-context"
# How with_entrypoint marks a client that a program drives.
HEADLESS, MAX_HEAD_BYTES = b'"entrypoint":"sdk', 64

Streams = list[tuple[int, int, str, int, int] | tuple[int, int, int]]


def act(spool: str, event: str, raw: bytes) -> str:
    """Do what the daemon would do, and return the outcome for the log."""
    if event == "SessionStart":
        return inject(spool, raw)
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


def inject(spool: str, raw: bytes) -> str:
    """Print the briefing that a child process composes; if the time is up, a line that flowd is hung.

    The child records the briefing once it is told that it was printed.
    """
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
        write_all(our_output, raw.replace(b"\n", b" ") + b"\n")
        briefing = read_all(our_input)
    except LateError:
        posix.kill(child, _signal.SIGKILL)
        write_all(1, notice(spool, raw))
        return "late"
    if briefing:
        write_all(1, briefing)
        write_all(our_output, b"\n")
    return "injected"


def notice(spool: str, raw: bytes) -> bytes:
    """Return what a SessionStart hook prints to say since when flowd has been away; nothing to a program."""
    if HEADLESS in raw[:MAX_HEAD_BYTES]:
        return b""
    since = last_delivery(spool.rpartition("/")[0].encode() + b"/log/hooks.log")
    line = b"flowd has not answered" + (b" since " + since if since else b"")
    line += b": what it knows of earlier work is missing here. Run `flowd restart`."
    output = (
        b'{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"<%s>\\n%s\\n</%s>"},'
    )
    return output % (TAG, line, TAG) + b'"systemMessage":"' + line + b'"}'


def last_delivery(log: bytes) -> bytes:
    """Return the time of the last hook that flowd has answered, empty if there is none in the log."""
    delivered = [line for line in read_file(log).splitlines() if b" delivered " in line]
    return delivered[-1].partition(b" ")[0] if delivered else b""


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
