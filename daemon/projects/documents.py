"""Watch Markdown that people write: handoff documents, and the task files of live projects."""

import os
import re
import time
from collections.abc import Iterator, Sequence

from flowd.daemon.reading.failures import Failures
from flowd.daemon.reading.watcher import Watcher
from flowd.extractors.fields.blocks import task_file_facts
from flowd.handoff.markdown.directory import HandoffFile, handoff_files, is_handoff_name, stat_handoff
from flowd.handoff.markdown.index import read_handoff_file
from flowd.model.facts import Acknowledged, Fact, HandoffIndexed
from flowd.redaction.live import LiveRedactor
from flowd.store.documents import Ownership, indexed_fact, open_escalations
from flowd.store.journal import Journal
from flowd.system.errors import StoreError
from flowd.system.files import UnreadableFileError, read_inside
from flowd.system.text import is_storable


class HandoffFiles:
    """Follows every handoff directory, in the reader's thread."""

    def __init__(
        self, root: str, journal: Journal, watcher: Watcher, redact: LiveRedactor, failures: Failures
    ) -> None:
        self._failures = failures
        self._redact = redact
        self.root = root
        self._journal = journal
        self._watcher = watcher
        self._seen: dict[str, tuple[int, int]] = {}
        self._unowned: set[str] = set()
        self.escalations: tuple[str, ...] = ()

    def load(self) -> None:
        """Load what core.db has indexed already."""
        self._seen.clear()
        for fact in self._journal.facts_of_kind("handoff"):
            if isinstance(fact.body, HandoffIndexed):
                self._seen[fact.body.path] = fact.body.modified_ns, fact.body.size
                (self._unowned.discard if fact.project else self._unowned.add)(fact.body.path)
        self.refresh()

    def use_watcher(self, watcher: Watcher) -> None:
        """Replace the watcher."""
        self._watcher = watcher

    def refresh(self) -> None:
        """Publish the open escalations of core.db."""
        self.escalations = tuple(
            f"{found.project or os.path.basename(os.path.dirname(found.path))}: {found.reason} ({found.path})"
            for found in open_escalations(self._journal)
        )

    def owns(self, path: str) -> bool:
        """Return True if *path* is a handoff document, a directory of them, or a file beside the root."""
        if path.endswith(".jsonl"):
            return os.path.dirname(path) == os.path.dirname(self.root)
        return path == self.root or path.startswith(self.root + "/")

    def scan(self) -> list[Fact]:
        """Watch all handoff directories; return the facts of documents that core.db has not indexed yet."""
        if not self._watcher.watch(self.root) and not os.path.isdir(self.root):  # noqa: PTH112 returns False, never raises
            self._watcher.watch(os.path.dirname(self.root))  # reports when it is created
            return []
        ownership, is_first = Ownership(self._journal), not self._seen
        found: list[Fact] = []
        for name in _names(self.root):
            facts = self._directory(f"{self.root}/{name}", ownership)
            found += [*facts, *(_acknowledged(facts[1:]) if is_first else [])]
        return found

    def facts(self, path: str) -> list[Fact]:
        """Return the facts of what is new at *path*: a document, its directory, or the root."""
        if path == self.root:
            return self.scan()
        ownership = Ownership(self._journal)
        if os.path.dirname(path) == self.root:
            return self._directory(path, ownership)
        return self._file(path, ownership)

    def _directory(self, directory: str, ownership: Ownership) -> list[Fact]:
        if os.path.basename(directory).startswith("."):
            return []
        self._watcher.watch(directory)
        return [fact for file in handoff_files(directory) for fact in self._file(file.path, ownership)]

    def _file(self, path: str, ownership: Ownership) -> list[Fact]:
        file = stat_handoff(path) if self._is_handoff(path) else None
        if file is None:
            if self._seen.pop(path, None):  # it stays indexed; if it returns, it is read again
                self.refresh()
            return []
        try:
            return self._indexed(file, ownership)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 one document must not keep the others from being indexed
            self._failures.add(path, error)
        return []

    def _indexed(self, file: HandoffFile, ownership: Ownership) -> list[Fact]:
        path, signature = file.path, (file.modified_ns, file.size)
        if not is_storable(path):
            raise UnreadableFileError("its name is not UTF-8")
        is_known = self._seen.get(path) == signature
        # Its project may have become known since, with the session that wrote it.
        if is_known and path not in self._unowned:
            return []
        parsed = read_handoff_file(file)
        self._failures.remove(path)
        self._seen[path] = signature
        project = ownership.owner(path, parsed.document)
        (self._unowned.discard if project else self._unowned.add)(path)
        return [indexed_fact(parsed, project, self._redact.of(project))] if project or not is_known else []

    def _is_handoff(self, path: str) -> bool:
        directory, name = os.path.split(path)
        root, project = os.path.split(directory)
        return root == self.root and not project.startswith(".") and is_handoff_name(name)


def _acknowledged(facts: list[Fact]) -> list[Fact]:
    """Return that the escalations of *facts* were seen: before flowd, a newer handoff had followed them."""
    bodies = [fact.body for fact in facts if isinstance(fact.body, HandoffIndexed) and fact.body.escalations]
    return [
        Fact(f"acknowledged:{body.path}", "", "", time.time(), Acknowledged(body.path, body.escalations))
        for body in bodies
    ]


def _names(root: str) -> list[str]:
    try:
        return sorted(os.listdir(root))
    except OSError:
        return []


MAX_BYTES = 1 << 20
MAX_DIRECTORIES = 2000
# How many directories of a project are watched for new ones.
MAX_PARENTS = 32
MAX_DEPTH = 6
MAX_PROJECTS = 200
VISIBLE_HIDDEN = frozenset({".claude", ".orchestrator"})
SKIPPED = frozenset("node_modules venv __pycache__ dist build target vendor site-packages worktrees".split())


class TaskFiles:
    """Knows which files of a project are task files, and which of them have changed."""

    def __init__(self, watcher: Watcher, globs: Sequence[str], redact: LiveRedactor) -> None:
        self._redact = redact
        self._watcher = watcher
        self._patterns = [re.compile(_expression(glob)) for glob in globs]
        self._folders = [re.compile(_folder_expression(glob)) for glob in globs]
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

    def forget_seen(self) -> None:
        """Have all task files read again at the next scan."""
        self._seen.clear()

    def owns(self, path: str) -> bool:
        """Return True if *path* is a followed project, or a directory of one."""
        root = self._root_of(path)
        inside = path[len(root) + 1 :].split("/")
        return bool(root) and (path == root or (all(map(_is_searched, inside)) and os.path.isdir(path)))  # noqa: PTH112

    def scan(self, path: str) -> list[str]:
        """Watch where task files may appear below *path*; return those that changed since they were read.

        *path* is a followed project, or a directory of one that is new.
        """
        root = self._root_of(path)
        if not root or not self.owns(path):
            return []
        for number, directory in enumerate(_directories(path)):
            # A directory for task files may be made in any other: the upper ones are watched for that.
            if number < MAX_PARENTS or self._may_hold_tasks(directory[len(root) + 1 :]):
                self._watcher.watch(directory)
        return [
            found
            for found, modified_ns in self._task_files(path, root)
            if self._seen.get(found) != modified_ns
        ]

    def facts(self, path: str) -> list[Fact]:
        """Return the facts of the task file at *path*, none if it is no task file or has not changed.

        Raise UnreadableFileError or OSError if it cannot be read, or is a link that leads out of the project.
        """
        root = self._root_of(path)
        if path == root or not root or not self._matches(path[len(root) + 1 :]):
            return []
        if not is_storable(path):
            raise UnreadableFileError("its name is not UTF-8")
        try:
            status = os.lstat(path)
            if self._seen.get(path) == status.st_mtime_ns:
                return []
            text = read_inside(path, root, MAX_BYTES).decode("utf-8", "replace")
        except FileNotFoundError:
            return []
        self._seen[path] = status.st_mtime_ns
        return task_file_facts(text, path, root, status.st_mtime, self._redact.of(root))

    def _root_of(self, path: str) -> str:
        return next((root for root in self._roots if path == root or path.startswith(root + "/")), "")

    def _may_hold_tasks(self, relative: str) -> bool:
        return any(folder.fullmatch(relative) for folder in self._folders)

    def _matches(self, relative: str) -> bool:
        return any(pattern.fullmatch(relative) for pattern in self._patterns)

    def _task_files(self, path: str, root: str) -> Iterator[tuple[str, int]]:
        for directory in _directories(path):
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


def _folder_expression(glob: str) -> str:
    """Return the directories that may hold files of *glob* as a regular expression."""
    folder = glob.rpartition("/")[0]
    if folder.endswith("**"):
        return _expression(folder[:-2].rstrip("/")) + "(?:/.*)?"
    return _expression(folder)


def _expression(glob: str) -> str:
    """Return *glob* as a regular expression; ``**/`` matches any number of directories."""
    parts = re.split(r"(\*\*/|\*|\?)", glob)
    known = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    return "".join(known.get(part) or re.escape(part) for part in parts)
