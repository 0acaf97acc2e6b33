"""Edit a settings file of another program: as text, with a backup, and only if nobody else changes it."""

import json
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from flowd.config.paths import make_private_dir
from flowd.system.errors import FlowdError
from flowd.system.files import temporary_file

BACKUPS_KEPT = 5


class SettingsFile:
    """One settings file; of a link, such as dotfile managers create, the target is edited."""

    def __init__(self, file: Path, backups: Path) -> None:
        self.file = file
        self._target = Path(os.path.realpath(file))
        self._backups = backups

    def read(self) -> str:
        """Return the text, empty without the file."""
        try:
            return self._target.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise FlowdError(f"cannot read {self.file}: {error}", hint="nothing was changed") from error

    def replace(self, before: str, after: str) -> Path:
        """Save *before* as a backup and write *after*; an empty text means no file.

        Raises when the file no longer holds *before*: the client writes its settings too.
        """
        backup = self._back_up(before)
        try:
            self._write(before, after)
        except OSError as error:
            raise FlowdError(
                f"cannot write {self.file}: {error.strerror}",
                hint="nothing was changed; check owner and permissions of the file and its directory",
            ) from error
        return backup

    def backups(self) -> list[str]:
        """Return the backups, the newest first."""
        files = sorted(self._backups.glob(f"{self.file.name}.*"), reverse=True)
        return [file.read_bytes().decode("utf-8", "replace") for file in files]

    def _write(self, before: str, after: str) -> None:
        if not after:
            self._refuse_if_changed(before)
            self._target.unlink(missing_ok=True)
            return
        make_private_dir(self._target.parent)
        with temporary_file(self._target, after, mode=self._mode()) as draft:
            self._refuse_if_changed(before)
            os.rename(draft, self._target)  # noqa: PTH104 a name, not a Path

    def _mode(self) -> int:
        return stat.S_IMODE(self._target.stat().st_mode) if self._target.exists() else 0o600

    def _refuse_if_changed(self, before: str) -> None:
        if self.read() != before:
            raise FlowdError(
                f"{self.file} was changed by another program at the same time", hint="run the command again"
            )

    def _back_up(self, text: str) -> Path:
        make_private_dir(self._backups)
        backup = self._backups / f"{self.file.name}.{time.time_ns()}"
        backup.touch(mode=0o600)
        backup.write_bytes(text.encode("utf-8"))
        for old in sorted(self._backups.glob(f"{self.file.name}.*"))[:-BACKUPS_KEPT]:
            old.unlink(missing_ok=True)
        return backup


_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
DEFAULT_UNIT = "  "


class JsonSpan(NamedTuple):
    """One member of an object (with a ``key``) or one element of an array, and its place in the text."""

    key: str | None
    start: int
    value_start: int
    end: int


def value_at(text: str, start: int) -> Any:
    """Return the value whose text begins at *start*."""
    return _DECODER.raw_decode(text, start)[0]


def items(text: str, container: int) -> list[JsonSpan]:
    """Return the items of the object or array that begins at *container*; *text* is valid JSON."""
    return list(_items(text, container))


def _items(text: str, container: int) -> Iterator[JsonSpan]:
    place = _skip(text, container + 1)
    while text[place] not in "}]":
        key, value_start = None, place
        if text[container] == "{":
            key, after_key = _DECODER.raw_decode(text, place)
            value_start = _skip(text, _skip(text, after_key) + 1)
        end = _DECODER.raw_decode(text, value_start)[1]
        yield JsonSpan(key, place, value_start, end)
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)


def find(text: str, *keys: str) -> int | None:
    """Return the offset of the value under *keys*, None if there is none."""
    place = _skip(text, 0)
    for key in keys:
        # Of equal keys the last one counts, as in other JSON readers.
        found = [item for item in items(text, place) if item.key == key] if text[place] == "{" else []
        if not found:
            return None
        place = found[-1].value_start
    return place


def appended(text: str, container: int, value: Any, key: str | None = None) -> str:
    """Return *text* with *value* appended to *container*, formatted like the other items."""
    present = items(text, container)
    if present:
        last = present[-1]
        gap = text[_opening_of(text, container, present) : last.start]
        new = "," + (gap or " ") + _written(text, last.start, value, key, spread="\n" in gap)
        return text[: last.end] + new + text[last.end :]
    closing = _skip(text, container + 1)
    unit = _unit(text)
    if unit is None:
        return text[: container + 1] + _written(text, container, value, key, spread=False) + text[closing:]
    margin = _margin(text, container)
    line = _line_end(text) + margin
    inner = line + unit + _written(text, container, value, key, spread=True, deeper=unit)
    return text[: container + 1] + inner + line + text[closing:]


def without(text: str, container: int, index: int) -> str:
    """Return *text* without the item *index* of *container*."""
    present = items(text, container)
    if len(present) == 1:
        return text[: container + 1] + text[_skip(text, present[0].end) :]
    if index == 0:
        return text[: present[0].start] + text[present[1].start :]
    return text[: present[index - 1].end] + text[present[index].end :]


def _written(text: str, beside: int, value: Any, key: str | None, *, spread: bool, deeper: str = "") -> str:
    unit = _unit(text) or DEFAULT_UNIT
    body = json.dumps(value, ensure_ascii=False, indent=unit if spread else None)
    margin = _line_end(text) + _margin(text, beside) + deeper
    label = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    return label + body.replace("\n", margin)


def _opening_of(text: str, container: int, present: list[JsonSpan]) -> int:
    """Return the offset of the white space before the last item."""
    return container + 1 if len(present) == 1 else _skip(text, present[-2].end) + 1


def _unit(text: str) -> str | None:
    """Return the indentation of one level, None for a document on one line."""
    found = re.search(r"\n([ \t]+)\S", text)
    if found:
        return found[1]
    return None if items(text, _skip(text, 0)) and "\n" not in text.strip() else DEFAULT_UNIT


def _margin(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()
