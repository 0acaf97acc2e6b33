"""Hooks that found no daemon leave their input here; it is taken in later, and only then removed."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from flowd.config.logs import log
from flowd.model.hook_input import HookInput, hook_input

MAX_BYTES = 4 << 20
MAX_AT_ONCE = 1000


class Spool:
    """A directory of hook inputs, one file each, named by the time they came."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def drain(self, take: Callable[[HookInput], None]) -> None:
        """Give each waiting input to *take*, oldest first; remove it when that has returned."""
        try:
            waiting = sorted(self._directory.glob("*.json"))[:MAX_AT_ONCE]
        except OSError:
            return
        for file in waiting:
            hook = _read(file)
            if hook is not None:
                take(hook)
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
    """Return when the hook was fired, in seconds; its file's name begins with that, in nanoseconds."""
    first = name.partition("-")[0]
    return int(first) / 1e9 if first.isdecimal() else 0.0
