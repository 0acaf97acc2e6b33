"""A comparison with the disk finds every transcript that differs, and watches where new ones appear."""

import os
from pathlib import Path

import pytest

from flowd.daemon.reading.identity import KnownFiles
from flowd.daemon.reading.reconcile import Reconciler
from flowd.daemon.reading.watcher import NoWatcher
from flowd.extractors.transcript.records import transcript_name
from tests.support.transcript_lines import line


class Watched(NoWatcher):
    """Watches everything that exists, except what it was told not to."""

    def __init__(self) -> None:
        super().__init__(lambda: None)
        self.directories: list[str] = []
        self.refused: set[str] = set()

    def watch(self, directory: str) -> bool:
        if directory in self.refused:
            return super().watch(directory)
        if not Path(directory).is_dir():
            return False
        self.directories.append(directory)
        return True


class Disk:
    """A ``projects`` directory, what is known of it, and a reconciler."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.known = KnownFiles([])
        self.watcher = Watched()
        self.reconciler = Reconciler(str(root), self.watcher)

    def write(self, name: str, mtime: float = 1000.0) -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(line(1))
        os.utime(path, (mtime, mtime))
        return str(path)

    def learn(self, path: str) -> None:
        """Have *path* known as it is now."""
        name = transcript_name(path[len(str(self.root)) + 1 :])
        assert name is not None
        descriptor = os.open(path, os.O_RDONLY)
        try:
            status = os.fstat(descriptor)
            recognised = self.known.recognise(path, name, descriptor, status)
        finally:
            os.close(descriptor)
        assert recognised is not None
        recognised.source.size, recognised.source.mtime_ns = status.st_size, status.st_mtime_ns


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path / "projects")


def test_changed_transcripts_are_found_newest_first_and_unchanged_ones_are_not(disk: Disk) -> None:
    old, new = disk.write("-p/old.jsonl", 1000.0), disk.write("-p/new.jsonl", 2000.0)
    disk.learn(disk.write("-p/known.jsonl"))
    difference = disk.reconciler.scan(disk.known)
    assert difference.changed == [new, old]
    assert (difference.missing, difference.seen, difference.sessions) == ([], 3, 3)


def test_a_known_transcript_that_grew_or_is_gone_is_found(disk: Disk) -> None:
    grown, gone = disk.write("-p/grown.jsonl"), disk.write("-p/gone.jsonl")
    disk.learn(grown)
    disk.learn(gone)
    with Path(grown).open("ab") as file:
        file.write(line(2))
    Path(gone).unlink()
    difference = disk.reconciler.scan(disk.known)
    assert (difference.changed, difference.missing) == ([grown], [gone])


def test_subagents_are_transcripts_but_no_sessions(disk: Disk) -> None:
    disk.write("-p/s1.jsonl")
    disk.write("-p/agent-1.jsonl")
    disk.write("-p/s1/subagents/agent-2.jsonl")
    disk.write("-p/s1/tool-results/agent-3.jsonl")
    difference = disk.reconciler.scan(disk.known)
    assert (difference.seen, difference.sessions) == (3, 1)
    assert str(disk.root / "-p" / "s1" / "subagents") in disk.watcher.directories
    assert str(disk.root / "-p" / "s1" / "tool-results") not in disk.watcher.directories


def test_before_projects_exists_its_nearest_ancestor_is_watched(disk: Disk) -> None:
    assert disk.reconciler.scan(disk.known).seen == 0
    assert disk.watcher.directories == [str(disk.root.parent)]


def test_one_directory_is_compared_without_the_others(disk: Disk) -> None:
    here = disk.write("-here/s1.jsonl")
    disk.write("-there/s2.jsonl")
    assert disk.reconciler.scan_directory(str(disk.root / "-here"), disk.known) == [here]
    assert disk.reconciler.scan_directory(str(disk.root.parent), disk.known) == []


def test_only_directories_that_could_not_be_watched_are_polled(disk: Disk) -> None:
    polled = disk.write("-polled/s1.jsonl")
    disk.write("-watched/s2.jsonl")
    disk.watcher.refused.add(str(disk.root / "-polled"))
    disk.reconciler.scan(disk.known)
    assert disk.reconciler.sees_new_projects
    assert disk.reconciler.scan_unwatched(disk.known) == [polled]


def test_a_directory_that_was_deleted_is_no_longer_polled(disk: Disk) -> None:
    file = Path(disk.write("-polled/s1.jsonl"))
    disk.watcher.refused.add(str(file.parent))
    disk.reconciler.scan(disk.known)
    file.unlink()
    file.parent.rmdir()
    assert disk.reconciler.scan_unwatched(disk.known) == []
    assert disk.watcher.unwatched == set()


def test_when_the_root_is_polled_new_projects_are_not_reported(disk: Disk) -> None:
    disk.write("-p/s1.jsonl")
    disk.watcher.refused.add(str(disk.root))
    disk.reconciler.scan(disk.known)
    assert not disk.reconciler.sees_new_projects
