"""The watcher of macOS; watchdog's Observer works on Linux too, so it is tested everywhere."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowd.daemon.reading.observer import ObserverWatcher

DEADLINE_S = 30.0


class Changes:
    """The reported paths; ``wait_for`` one of them."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._changed = threading.Condition()

    def note(self, path: str) -> None:
        with self._changed:
            self.paths.append(path)
            self._changed.notify_all()

    def wait_for(self, path: Path) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: str(path) in self.paths, DEADLINE_S), self.paths


@pytest.fixture
def changes() -> Changes:
    return Changes()


@pytest.fixture
def watcher(changes: Changes) -> Iterator[ObserverWatcher]:
    watcher = ObserverWatcher(changes.note)
    yield watcher
    watcher.close()
    assert not watcher.alive


def test_appended_created_and_deeper_transcripts_are_reported(
    watcher: ObserverWatcher, changes: Changes, tmp_path: Path
) -> None:
    root = Path(os.path.realpath(tmp_path))
    project = root / "-p"
    project.mkdir()
    assert watcher.watch(str(root))
    for _ in range(2):
        with (project / "s1.jsonl").open("ab") as file:
            file.write(b"{}\n")
        changes.wait_for(project / "s1.jsonl")
        changes.paths.clear()
    deeper = root / "-q" / "s2" / "subagents"
    deeper.mkdir(parents=True)
    changes.wait_for(root / "-q")
    (deeper / "agent-1.jsonl").write_bytes(b"{}\n")
    changes.wait_for(deeper / "agent-1.jsonl")


def test_both_ends_of_a_rename_are_reported(
    watcher: ObserverWatcher, changes: Changes, tmp_path: Path
) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "a.jsonl").write_bytes(b"{}\n")
    watcher.watch(str(root))
    (root / "a.jsonl").rename(root / "b.jsonl")
    changes.wait_for(root / "a.jsonl")
    changes.wait_for(root / "b.jsonl")


def test_other_files_are_not_reported(watcher: ObserverWatcher, changes: Changes, tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    watcher.watch(str(root))
    (root / "notes.txt").write_bytes(b"x")
    (root / "last.jsonl").write_bytes(b"{}\n")
    changes.wait_for(root / "last.jsonl")
    assert str(root / "notes.txt") not in changes.paths


def test_a_directory_below_a_watched_one_is_covered(watcher: ObserverWatcher, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    assert watcher.watch(str(tmp_path))
    assert watcher.watch(str(tmp_path / "below"))
    assert (watcher.asked, watcher.held, watcher.unwatched) == (2, 2, set())
    assert watcher.alive


def test_a_directory_that_cannot_be_watched_is_listed_until_it_can(
    watcher: ObserverWatcher, tmp_path: Path
) -> None:
    missing = tmp_path / "missing"
    assert not watcher.watch(str(missing))
    assert (watcher.asked, watcher.held, watcher.unwatched) == (1, 0, {str(missing)})
    missing.mkdir()
    assert watcher.watch(str(missing))
    assert (watcher.held, watcher.unwatched) == (1, set())
