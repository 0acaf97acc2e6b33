"""Find the Claude Code client, and clients that were killed: their session file outlived their process."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from flowd.config.paths import claude_config_dir
from flowd.system.processes import safe_search_path

MAX_FILE_BYTES = 64 << 10
MAX_FILES = 200
# Where the client's own installers put it; a shell finds these by an alias or a profile that flowd lacks.
USUAL_PLACES = (".local/bin/claude", ".claude/local/claude")


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


def find_client() -> str | None:
    """Return the program ``claude``, or None if there is none."""
    found = shutil.which("claude", path=safe_search_path())
    usual = [str(Path.home() / place) for place in USUAL_PLACES]
    return found or next((file for file in usual if os.access(file, os.X_OK)), None)
