"""Comparing what is on disk with what was read: at the start, after lost events, and slowly for ever."""

import os
import stat
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from flowd.daemon.reading.identity import KnownFiles
from flowd.daemon.reading.watcher import Watcher
from flowd.extractors.transcript.paths import transcript_name
from flowd.store.packed_sources import PackedSource

Seen = tuple[str, os.stat_result]


class Difference(NamedTuple):
    """What a look at the disk found: files that are not what was last read, and files that are gone."""

    changed: list[str]
    missing: list[str]
    seen: int
    sessions: int


class Reconciler:
    """Walks ``projects/`` with plain scandir, watching each directory it meets."""

    def __init__(self, projects_dir: str, watcher: Watcher) -> None:
        self._root = projects_dir
        self._watcher = watcher

    def everything(self, known: KnownFiles) -> Difference:
        """Compare all of ``projects/`` with *known*; newest changes first."""
        self._forget_gone()
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

    def directory(self, path: str, known: KnownFiles) -> list[str]:
        """Return the changed transcripts in or below one directory of ``projects/``, watching it."""
        if path == self._root or not path.startswith(self._root + "/"):
            return []
        parts = path[len(self._root) + 1 :].split("/")
        if len(parts) > 2 and parts[2] != "subagents":
            return []
        if not self._watcher.watch(path) and not os.path.isdir(path):  # noqa: PTH112 hot path
            return []
        found = chain(*self._transcripts(path)) if len(parts) == 1 else self._subagents(path)
        return [entry for entry, status in found if _differs(known.by_path.get(entry), status)]

    def unheld(self, known: KnownFiles) -> list[str]:
        """Look by hand into every directory that could not be watched."""
        self._forget_gone()
        changed: list[str] = []
        for directory in list(self._watcher.unheld):
            changed.extend(self.directory(directory, known))
        return changed

    @property
    def sees_new_projects(self) -> bool:
        """Whether a new directory below ``projects/`` would be noticed without looking."""
        return not any(f"{self._root}/".startswith(f"{directory}/") for directory in self._watcher.unheld)

    def _forget_gone(self) -> None:
        for directory in list(self._watcher.unheld):
            if not os.path.isdir(directory):  # noqa: PTH112 hot path
                self._watcher.unheld.discard(directory)

    def _watch_root(self) -> None:
        # Until Claude Code has been used, `projects` is not there: its nearest ancestor says when it comes.
        directory = self._root
        while not self._watcher.watch(directory) and not os.path.isdir(directory):  # noqa: PTH112 hot path
            directory = os.path.dirname(directory)
        if directory != self._root and os.path.isdir(self._root):  # noqa: PTH112 it came while we looked
            self._watcher.watch(self._root)

    def _transcripts(self, directory: str) -> tuple[list[Seen], list[Seen]]:
        """Return the transcripts of a project: those of its sessions, and those of their subagents."""
        own: list[Seen] = []
        subagents: list[Seen] = []
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
            except OSError:  # gone between listing and looking: the next pass tells
                continue
        return own, subagents

    def _subagents(self, session_dir: str) -> Iterator[Seen]:
        """Yield the subagent transcripts below a session's own directory, watching where they appear."""
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


def _differs(kept: PackedSource | None, status: os.stat_result) -> bool:
    return kept is None or not kept.is_as_read(status)


def _entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []


def _directories(root: str) -> list[str]:
    return [entry.path for entry in _entries(root) if entry.is_dir()]
