"""Compare the disk with what was read: at start, after lost events, and periodically."""

import os
import stat
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from flowd.daemon.reading.identity import KnownFiles
from flowd.daemon.reading.watcher import Watcher
from flowd.extractors.transcript.records import transcript_name
from flowd.store.packed_sources import PackedSource

FoundFile = tuple[str, os.stat_result]


class Difference(NamedTuple):
    """Result of a scan: changed and missing transcripts, and how many transcripts and sessions exist."""

    changed: list[str]
    missing: list[str]
    seen: int
    sessions: int


class Reconciler:
    """Scans ``projects/`` with plain scandir and watches each directory it finds."""

    def __init__(self, projects_dir: str, watcher: Watcher) -> None:
        self._root = projects_dir
        self._watcher = watcher

    def scan(self, known: KnownFiles) -> Difference:
        """Compare all of ``projects/`` with *known*; the newest changes come first."""
        self._drop_deleted()
        self._watch_root()
        found: list[tuple[int, str]] = []
        unseen = dict(known.by_path)
        seen = sessions = 0
        for directory in _directories(self._root):
            self._watcher.watch(directory)
            own, subagents = self._transcripts(directory)
            sessions += len(own)
            seen += len(own) + len(subagents)
            for path, status in chain(own, subagents):
                if _differs(unseen.pop(path, None), status):
                    found.append((status.st_mtime_ns, path))
        found.sort(reverse=True)
        return Difference([path for _, path in found], list(unseen), seen, sessions)

    def scan_directory(self, path: str, known: KnownFiles) -> list[str]:
        """Watch one directory of ``projects/``; return the changed and the gone transcripts below it."""
        if path == self._root or not path.startswith(self._root + "/"):
            return []
        parts = path[len(self._root) + 1 :].split("/")
        if len(parts) > 2 and parts[2] != "subagents":
            return []
        if not self._watcher.watch(path) and not os.path.isdir(path):  # noqa: PTH112 hot path
            return [entry for entry in known.by_path if entry.startswith(path + "/")]
        found = chain(*self._transcripts(path)) if len(parts) == 1 else self._subagents(path)
        return [entry for entry, status in found if _differs(known.by_path.get(entry), status)]

    def scan_unwatched(self, known: KnownFiles) -> list[str]:
        """Return the changed transcripts of all directories that could not be watched."""
        self._drop_deleted()
        changed: list[str] = []
        for directory in list(self._watcher.unwatched):
            changed.extend(self.scan_directory(directory, known))
        return changed

    @property
    def sees_new_projects(self) -> bool:
        """Whether a new directory below ``projects/`` is reported by the watcher."""
        return not any(f"{self._root}/".startswith(f"{directory}/") for directory in self._watcher.unwatched)

    def _drop_deleted(self) -> None:
        for directory in list(self._watcher.unwatched):
            if not os.path.isdir(directory):  # noqa: PTH112 hot path
                self._watcher.unwatched.discard(directory)

    def _watch_root(self) -> None:
        # Before Claude Code is first used, `projects` does not exist: watch its nearest ancestor.
        directory = self._root
        while not self._watcher.watch(directory) and not os.path.isdir(directory):  # noqa: PTH112 hot path
            directory = os.path.dirname(directory)
        if directory != self._root and os.path.isdir(self._root):  # noqa: PTH112 it was created meanwhile
            self._watcher.watch(self._root)

    def _transcripts(self, directory: str) -> tuple[list[FoundFile], list[FoundFile]]:
        """Return the transcripts of a project: those of sessions, and those of subagents."""
        own: list[FoundFile] = []
        subagents: list[FoundFile] = []
        for entry in _entries(directory):
            name = entry.name
            try:
                if name.endswith(".jsonl"):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        # Clients 2.0 put subagents beside the sessions.
                        (subagents if name.startswith("agent-") else own).append((entry.path, status))
                elif entry.is_dir(follow_symlinks=False):
                    subagents.extend(self._subagents(entry.path))
            except OSError:  # deleted since the listing: the next scan reports it
                continue
        return own, subagents

    def _subagents(self, session_dir: str) -> Iterator[FoundFile]:
        """Yield the subagent transcripts below a session's directory, and watch their directories."""
        for directory, _, files in os.walk(session_dir):
            relative = directory[len(self._root) + 1 :].split("/")
            if len(relative) > 2 and relative[2] != "subagents":
                continue
            self._watcher.watch(directory)
            for name in files:
                path = f"{directory}/{name}"
                if transcript_name(path[len(self._root) + 1 :]):
                    try:
                        status = os.lstat(path)
                    except OSError:
                        continue
                    if stat.S_ISREG(status.st_mode):
                        yield path, status


def _differs(known: PackedSource | None, status: os.stat_result) -> bool:
    return known is None or not known.is_as_read(status)


def _entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []


def _directories(root: str) -> list[str]:
    return [entry.path for entry in _entries(root) if entry.is_dir()]
