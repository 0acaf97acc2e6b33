"""The hook program: pass an event of Claude Code to the daemon, within a time budget, whatever happens.

Started by hook.py many times in a session, so it imports only built-in modules and nothing of flowd (bench
row "hook"). offline.py has what to do without a daemon, and is imported only then.
"""

import time

STARTED = time.monotonic()

import _signal  # type: ignore[import-not-found]  # noqa: E402 the clock starts at the first line
import _socket  # noqa: E402 the same
import posix  # noqa: E402 the same
import sys  # noqa: E402 the same

# The client waits for its hooks. The first part of the budget is for the daemon's answer.
BUDGET_S, ANSWER_S = 0.3, 0.18
START_BUDGET_S, START_ANSWER_S = 1.0, 0.5
# Exiting takes time too: the last alarm comes a little before the end.
LEAVING_S = 0.03
# How the hooks of `flowd install --hooks` end, now and in 0.1; with them, the plugin's hooks do nothing.
MARK, OLD_MARK = b'||: flowd"', "# flowd-hook "
MAX_LOG_BYTES = 256 << 10


class LateError(Exception):
    """The time budget of this part is used up."""


def main(socket_path: str, spool: str, event: str, origin: str, raw: bytes) -> str:
    """Process *event* with its input *raw*, and return the outcome for the log."""
    starting = event == "SessionStart"
    budget_s, answer_s = (START_BUDGET_S, START_ANSWER_S) if starting else (BUDGET_S, ANSWER_S)
    ring_after(answer_s)
    if not raw.strip():
        return "no-input"
    if posix.environ.get(b"FLOWD_CHILD"):  # a client that flowd itself started to ask its model
        return "own-session"
    if origin == "plugin" and settings_hook_is_there(event):
        return "left-to-settings"
    try:
        head = f'{{"verb":"hook","at":{time.time():.3f},"input":'.encode()
        connection, answer = exchange(socket_path, spool, head + raw.replace(b"\n", b" ") + b"}\n")
    except (OSError, LateError) as error:
        ring_after(budget_s - LEAVING_S)
        why = "hung" if isinstance(error, LateError) else "away"
        return f"{why}-{act_without_daemon(spool, event, raw)}"
    if starting and answer:
        write_all(1, answer)
        confirm(connection)
    return "delivered"


def event_in(raw: bytes) -> str:
    """Return the event name in *raw*. In a text value the quotes of the key would be escaped."""
    name = raw.partition(b'"hook_event_name"')[2].partition(b'"')[2].partition(b'"')[0]
    return name.decode() if name.isalpha() and name.isascii() else ""


def with_entrypoint(raw: bytes) -> bytes:
    """Return *raw* with the entrypoint of the client, which hooks get only by the environment.

    Transcripts have it since 2.1.78, but not yet at the start of a session. One in *raw* takes precedence.
    """
    name = posix.environ.get(b"CLAUDE_CODE_ENTRYPOINT", b"")[:40]
    first, _, rest = raw.partition(b"{")
    is_object = not first.strip() and rest.lstrip().startswith(b'"')
    if not is_object or not name.translate(None, b"-_").isalnum():
        return raw
    return b'{"entrypoint":"' + name + b'",' + rest


def exchange(path: str, spool: str, line: bytes) -> tuple[_socket.socket, bytes]:
    """Send *line* to the daemon and return its whole answer; raise OSError if it refuses."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError:
        connection.connect(described_socket(spool))
    connection.sendall(line)
    answer = b""
    while received := connection.recv(1 << 16):
        answer += received
        if answer.startswith(b'{"ok":false'):
            raise OSError("refused")
    return connection, answer


def confirm(connection: _socket.socket) -> None:
    """Have the daemon record its answer as delivered: one that comes too late is not."""
    try:
        connection.send(b"\n")
    except OSError:  # it was ended in the meantime
        return


def described_socket(spool: str) -> bytes:
    """Return the socket in the daemon's lock file: it may have been started in another environment."""
    described = read_file(spool.rpartition("/")[0].encode() + b"/flowd.lock")
    return described.partition(b'"socket":"')[2].partition(b'"')[0]


def act_without_daemon(spool: str, event: str, raw: bytes) -> str:
    """Do what the daemon would do, and return the outcome for the log."""
    import offline  # type: ignore[import-not-found]

    return str(offline.act(spool, event, raw))


def settings_hook_is_there(event: str) -> bool:
    """Return True if the person's settings.json has flowd's hook for *event*."""
    folder = posix.environ.get(b"CLAUDE_CONFIG_DIR") or posix.environ.get(b"HOME", b"") + b"/.claude"
    settings = read_file(folder + b"/settings.json")
    return MARK in settings or f'{OLD_MARK}{event}"'.encode() in settings


def ring_after(seconds: float) -> None:
    """Raise LateError *seconds* after the start, also in the middle of a system call."""
    _signal.setitimer(_signal.ITIMER_REAL, max(0.001, STARTED + seconds - time.monotonic()))


def on_ring(*_: object) -> None:
    """Raise the alarm as an error."""
    raise LateError


def read_file(path: bytes) -> bytes:
    """Return the contents of *path*, empty if it cannot be read."""
    try:
        return read_all(posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK))
    except OSError:
        return b""


def read_all(descriptor: int) -> bytes:
    """Return all bytes up to the end of the file."""
    data = b""
    while chunk := posix.read(descriptor, 1 << 20):
        data += chunk
    return data


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of *data*."""
    while data:
        data = data[posix.write(descriptor, data) :]


def make_folder(path: str) -> None:
    """Create the private folder *path* and its missing parents."""
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        make_folder(path.rpartition("/")[0])
        make_folder(path)


def log(spool: str, event: str, outcome: str) -> None:
    """Append one line to the capped log beside *spool*, without any of the input or the environment."""
    folder = spool.rpartition("/")[0] + "/log"
    took_ms = (time.monotonic() - STARTED) * 1000
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    flags = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW
    make_folder(folder)
    descriptor = posix.open(folder + "/hooks.log", flags, 0o600)
    posix.write(descriptor, f"{moment} {event or '-'} {outcome} {took_ms:.1f} ms\n".encode())
    if posix.fstat(descriptor).st_size > MAX_LOG_BYTES:
        posix.rename(folder + "/hooks.log", folder + "/hooks.log.1")


def run() -> None:
    """Run the hook, and exit with 0 whatever happened."""
    try:
        socket_path, spool, event, origin = [*sys.argv[1:5], "", ""][:4]
        _signal.signal(_signal.SIGALRM, on_ring)
        ring_after(BUDGET_S - LEAVING_S)
        try:
            raw = with_entrypoint(read_all(0))
            event = event or event_in(raw)
            done = main(socket_path, spool, event, origin, raw)
        except Exception as error:  # noqa: BLE001 a hook must not fail: the client would interrupt the person
            done = "late" if isinstance(error, LateError) else f"failed-{type(error).__name__}"
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        log(spool, event, done)
    finally:
        posix._exit(0)  # noqa: SLF001 exit at once: there is nothing to clean up
