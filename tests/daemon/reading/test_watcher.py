"""Events are hints: without watches, or when events are lost, everything still arrives."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowd.daemon.reading.inotify import InotifyWatcher
from flowd.daemon.reading.watcher import NoWatcher, make_watcher
from tests.support.transcript_lines import append, line, lines

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
SMALL_LIMIT = 'echo {limit} > /proc/sys/user/{kind} && exec "$0" -m flowd run'


def captured(number: int) -> Callable[[dict[str, Any]], bool]:
    return lambda status: status["counts"]["captured"] >= number


@pytest.fixture
def folders(daemon_home: "DaemonHome") -> list[Path]:
    """Three project directories."""
    made = [daemon_home.claude_dir / "projects" / f"-project{number}" for number in range(3)]
    for folder in made:
        folder.mkdir(parents=True)
    return made


def see_all_arrive(home: "DaemonHome", folders: list[Path]) -> None:
    """Append in every directory, in a new one too, and see each line arrive."""
    status = home.wait_for(
        lambda status: any("are polled: no watches left" in reason for reason in status["reasons"])
    )
    assert not status["healthy"]
    count = status["counts"]["captured"]
    later = folders[0].with_name("-later")
    later.mkdir()
    for _ in range(2):
        for folder in (*folders, later):
            append(folder / f"{folder.name}.jsonl", line(1, folder.name))
            count += 1
            home.wait_for(captured(count))
    assert home.status()["counts"]["captured"] == count


def test_when_the_setting_allows_no_more_watches_the_rest_is_polled_and_said(
    daemon_home: "DaemonHome", folders: list[Path]
) -> None:
    daemon_home.paths.config_file.write_text("watch: {most_watches: 2, poll_s: 0.05}\n")
    daemon_home.start()
    see_all_arrive(daemon_home, folders)
    watches = daemon_home.status()["watches"]
    assert watches["held"] == 2
    assert watches["asked"] == watches["held"] + watches["polled"]


@pytest.mark.parametrize(
    ("kind", "limit"), [("max_inotify_watches", 0), ("max_inotify_watches", 2), ("max_inotify_instances", 0)]
)
def test_when_the_kernel_has_no_more_watches_the_rest_is_polled_and_said(
    daemon_home: "DaemonHome", folders: list[Path], kind: str, limit: int
) -> None:
    """A user namespace has limits of its own."""
    wrap = ["unshare", "--user", "--map-root-user"]
    probe = subprocess.run([*wrap, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("this system gives no user namespaces")
    daemon_home.paths.config_file.write_text("watch: {poll_s: 0.05}\n")
    script = SMALL_LIMIT.format(limit=limit, kind=kind)
    daemon_home.process = subprocess.Popen([*wrap, "sh", "-c", script, sys.executable], env=daemon_home.env)
    see_all_arrive(daemon_home, folders)
    assert daemon_home.status()["watches"]["held"] == limit


def test_directories_that_go_away_are_no_longer_counted_as_polled(
    daemon_home: "DaemonHome", folders: list[Path]
) -> None:
    daemon_home.paths.config_file.write_text("watch: {most_watches: 1, poll_s: 0.05}\n")
    daemon_home.start()
    daemon_home.wait_for(lambda status: status["watches"]["polled"] >= len(folders))
    for folder in folders:
        folder.rmdir()
    daemon_home.wait_for(lambda status: status["watches"]["polled"] < len(folders))


def test_when_events_are_lost_everything_is_compared_with_the_disk(
    daemon_home: "DaemonHome", folders: list[Path]
) -> None:
    """The daemon is held still until the kernel's queue has overflown."""
    busy = [folders[0] / f"busy{number}.jsonl" for number in range(2)]
    process = daemon_home.start()
    for transcript in busy:
        append(transcript, line(1, transcript.stem))
    daemon_home.wait_for(captured(2))
    queue = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    for _ in range(queue // 2 + 10):
        for transcript in busy:
            append(transcript, b"\n")
    for folder in folders:
        append(folder / f"{folder.name}.jsonl", lines(1, 2, folder.name))
    process.send_signal(signal.SIGCONT)
    daemon_home.wait_for(captured(2 + 2 * len(folders)))
    assert '"event": "events_lost"' in (daemon_home.paths.log_dir / "flowd.log").read_text()


def test_a_directory_that_may_not_be_watched_is_polled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    watcher = InotifyWatcher(told.append, lambda: None, lambda: told.append("unwatched"))
    try:
        monkeypatch.setattr(watcher._fd, "add_callback", lambda *_: -1)
        assert not watcher.watch(str(tmp_path))
        assert watcher.unwatched == {str(tmp_path)}
        assert told == ["unwatched"]
    finally:
        watcher.close()


def test_a_missing_directory_is_neither_watched_nor_polled(tmp_path: Path) -> None:
    watcher = InotifyWatcher(lambda _: None, lambda: None, lambda: None, max_watches=1)
    try:
        assert watcher.watch(str(tmp_path))
        assert not watcher.watch(str(tmp_path / "missing"))
        assert (watcher.asked, watcher.held, watcher.unwatched) == (1, 1, set())
    finally:
        watcher.close()


def test_without_inotify_everything_is_polled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("flowd.daemon.reading.inotify.InotifyWatcher", refuse)
    told: list[str] = []
    watcher = make_watcher(lambda _: None, lambda: None, lambda: told.append("unwatched"), 0)
    assert isinstance(watcher, NoWatcher)
    assert not watcher.watch(str(tmp_path))
    assert (watcher.asked, watcher.held, told) == (1, 0, ["unwatched"])
