"""Find Claude Code clients that were killed: their session file is there, their process is not."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from flowd.config.paths import claude_config_dir

MAX_FILE_BYTES = 64 << 10
MAX_FILES = 200


class Client(msgspec.Struct, frozen=True):
    """The fields of ``sessions/<pid>.json`` that flowd uses."""

    pid: int
    session_id: str = msgspec.field(name="sessionId")
    started: str | None = msgspec.field(name="procStart", default=None)


def gone_sessions(configured: str | None) -> frozenset[str]:
    """Return the sessions whose client was killed: its file is there, the process is not."""
    folder = claude_config_dir(configured) / "sessions"
    alive = {True: set[str](), False: set[str]()}
    for client in _clients(folder):
        alive[_is_alive(client)].add(client.session_id)
    return frozenset(alive[False] - alive[True])


def _clients(folder: Path) -> Iterator[Client]:
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return
    for name in names[:MAX_FILES]:
        try:
            with (folder / name).open("rb") as file:
                yield msgspec.json.decode(file.read(MAX_FILE_BYTES), type=Client)
        except (OSError, msgspec.DecodeError):
            continue  # another version's file, or one being written


def _is_alive(client: Client) -> bool:
    try:
        os.kill(client.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return client.started is None or _start_of(client.pid) in ("", client.started)


def _start_of(pid: int) -> str:
    """Return the start time of *pid* in kernel ticks, empty if it is unknown."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The second field is a name that may hold anything; the start is the 22nd, 20 after it.
    return text.rpartition(")")[2].split()[19]
