"""Watch the task files of live projects: found by globs, within bounds."""

import os
import re
from collections.abc import Iterator, Sequence

from flowd.daemon.reading.watcher import Watcher
from flowd.extractors.fields.blocks import task_file_facts
from flowd.model.facts import Fact
from flowd.redaction.data import Redact

MAX_BYTES = 1 << 20
MAX_DIRECTORIES = 2000
MAX_DEPTH = 6
MAX_PROJECTS = 200
VISIBLE_HIDDEN = frozenset({".claude", ".orchestrator"})
SKIPPED = frozenset("node_modules venv __pycache__ dist build target vendor site-packages worktrees".split())


class TaskFiles:
    """Knows which files of a project are task files, and which of them have changed."""

    def __init__(self, watcher: Watcher, globs: Sequence[str], redact: Redact) -> None:
        self._redact = redact
        self._watcher = watcher
        self._patterns = [re.compile(_expression(glob)) for glob in globs]
        self._roots: set[str] = set()
        self._seen: dict[str, int] = {}

    @property
    def roots(self) -> list[str]:
        """The followed projects."""
        return list(self._roots)

    def follow(self, root: str) -> bool:
        """Follow the project at *root*; return True if it is new and has to be scanned."""
        if not self._patterns or root in self._roots or len(self._roots) >= MAX_PROJECTS:
            return False
        self._roots.add(root)
        return True

    def scan(self, root: str) -> list[str]:
        """Watch the task files below *root*; return those that changed since they were last read."""
        if root not in self._roots:
            return []
        changed = []
        for path, modified_ns in self._task_files(root):
            self._watcher.watch(os.path.dirname(path))
            if self._seen.get(path) != modified_ns:
                changed.append(path)
        return changed

    def facts(self, path: str) -> list[Fact]:
        """Return the facts of the task file at *path*, none if it is no task file or has not changed."""
        root = next((root for root in self._roots if path.startswith(root + "/")), "")
        if not root or not self._matches(path[len(root) + 1 :]):
            return []
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                if status.st_size > MAX_BYTES or self._seen.get(path) == status.st_mtime_ns:
                    return []
                text = file.read(MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            return []
        self._seen[path] = status.st_mtime_ns
        return task_file_facts(text, path, root, status.st_mtime, self._redact)

    def _matches(self, relative: str) -> bool:
        return any(pattern.fullmatch(relative) for pattern in self._patterns)

    def _task_files(self, root: str) -> Iterator[tuple[str, int]]:
        for directory in _directories(root):
            try:
                with os.scandir(directory) as entries:
                    for entry in entries:
                        if entry.name.endswith(".md") and self._matches(entry.path[len(root) + 1 :]):
                            yield entry.path, entry.stat(follow_symlinks=False).st_mtime_ns
            except OSError:
                continue


def _directories(root: str) -> Iterator[str]:
    """Yield *root* and the directories below it, except those that never contain task files."""
    waiting, seen = [(root, 0)], 0
    while waiting and seen < MAX_DIRECTORIES:
        directory, depth = waiting.pop(0)
        seen += 1
        yield directory
        if depth < MAX_DEPTH:
            waiting += [(path, depth + 1) for path in _below(directory)]


def _below(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return [
                entry.path
                for entry in entries
                if _is_searched(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []


def _is_searched(name: str) -> bool:
    return name not in SKIPPED and (not name.startswith(".") or name in VISIBLE_HIDDEN)


def _expression(glob: str) -> str:
    """Return *glob* as a regular expression; ``**/`` matches any number of directories."""
    parts = re.split(r"(\*\*/|\*|\?)", glob)
    known = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    return "".join(known.get(part) or re.escape(part) for part in parts)
