"""The spool: inputs of hooks that found no daemon, processed at the next start and then removed."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from flowd.config.logs import log
from flowd.daemon.hooks.event import HookEvent
from flowd.model.hook_input import HookInput, hook_input

MAX_BYTES = 4 << 20
MAX_EVENTS = 1000


class Spool:
    """A directory with one file per hook input, named by the time of the hook."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def events(self) -> Iterator[HookEvent]:
        """Yield the spooled events, oldest first; each removes its file when it has been stored."""
        try:
            files = sorted(self._directory.glob("*.json"))[:MAX_EVENTS]
        except OSError:
            return
        for file in files:
            hook = _read(file)
            if hook is None:
                file.unlink(missing_ok=True)
            else:
                yield HookEvent(hook, partial(_remove, file))


def _remove(file: Path, stored: bool) -> None:
    if stored:
        file.unlink(missing_ok=True)


def _read(file: Path) -> HookInput | None:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ValueError("too large")
        raw = msgspec.json.decode(file.read_bytes())
        if not isinstance(raw, dict):
            raise ValueError("not an object")
    except (OSError, ValueError) as error:
        log.warning("spooled_hook_dropped", file=file.name, error=str(error))
        return None
    return hook_input(raw, _time_in(file.name))


def _time_in(name: str) -> float:
    """Return when the hook was fired, in seconds; file names begin with it, in nanoseconds."""
    first = name.partition("-")[0]
    return int(first) / 1e9 if first.isdecimal() else 0.0
