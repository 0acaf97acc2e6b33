"""Whatever is wrong with core.db: status names it, nothing is made anew over it, and it mends by itself."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowd.daemon.store_gate import StoreGate
from flowd.store.database import Database
from flowd.store.migrations import migrate
from flowd.system.errors import StoreError
from tests.support.transcript_lines import append, line, lines
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome


@pytest.fixture
def transcript(daemon_home: "DaemonHome") -> Path:
    """A session with three records."""
    folder = daemon_home.claude_dir / "projects" / "-work-project"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").write_bytes(lines(1, 3))
    return folder / "s1.jsonl"


@pytest.fixture
def core_db(daemon_home: "DaemonHome") -> Path:
    """A sound core.db, closed."""
    path = daemon_home.paths.database
    migrate(path)
    return path


def names(condition: str) -> Callable[[dict[str, Any]], bool]:
    return lambda status: status["store"]["condition"] == condition


def serves(records: int) -> Callable[[dict[str, Any]], bool]:
    """All *records* were taken, once, and all is well again."""
    return lambda status: (status["healthy"], status["counts"]["captured"]) == (True, records)


def see_it_named(home: "DaemonHome", condition: str) -> None:
    status = home.wait_for(names(condition))
    assert f"core.db is {condition} (run `flowd doctor`)" in status["reasons"]
    assert not status["healthy"]


def test_an_encrypted_file_is_left_alone_and_a_new_one_is_made_once_it_is_gone(
    daemon_home: "DaemonHome", transcript: Path
) -> None:
    path = daemon_home.paths.database
    path.parent.mkdir()
    secret = os.urandom(8192)
    path.write_bytes(secret)
    daemon_home.start()
    see_it_named(daemon_home, "encrypted or not SQLite")
    shown = daemon_home.command("status")
    assert shown.returncode == 1
    assert "core.db is encrypted or not SQLite" in shown.stdout
    assert path.read_bytes() == secret
    path.rename(path.with_name("kept"))
    daemon_home.wait_for(serves(3))
    assert path.with_name("kept").read_bytes() == secret


def test_a_corrupt_core_db_is_left_alone_and_read_on_once_it_is_restored(
    daemon_home: "DaemonHome", core_db: Path, transcript: Path
) -> None:
    sound = core_db.read_bytes()
    core_db.write_bytes(sound[:100] + b"\xa5" * 4000 + sound[4100:])
    broken = core_db.read_bytes()
    daemon_home.start()
    see_it_named(daemon_home, "corrupt")
    assert core_db.read_bytes() == broken
    core_db.with_name("sound").write_bytes(sound)
    core_db.with_name("sound").rename(core_db)
    daemon_home.wait_for(serves(3))


def test_a_core_db_locked_for_longer_than_the_busy_timeout_is_waited_for(
    daemon_home: "DaemonHome", core_db: Path, transcript: Path
) -> None:
    daemon_home.start()
    daemon_home.wait_for(serves(3))
    holder = sqlite3.connect(core_db, isolation_level=None)
    try:
        holder.execute("begin immediate")
        append(transcript, line(4))
        see_it_named(daemon_home, "locked")
    finally:
        holder.close()
    daemon_home.wait_for(serves(4))


def test_a_core_db_made_by_a_newer_flowd_is_left_alone(
    daemon_home: "DaemonHome", core_db: Path, transcript: Path
) -> None:
    connection = sqlite3.connect(core_db, isolation_level=None)
    connection.execute(
        "insert into flow_migrations (migration_set, name, applied_at) "
        "values ('flowd', '9999_later', '2030-01-01')"
    )
    before = "\n".join(connection.iterdump())
    daemon_home.start()
    see_it_named(daemon_home, "newer than this flowd")
    assert "\n".join(connection.iterdump()) == before
    connection.execute("delete from flow_migrations where name = '9999_later'")
    connection.close()
    daemon_home.wait_for(serves(3))


@pytest.mark.parametrize("comes_back", [True, False], ids=["moved back", "gone for good"])
def test_a_core_db_taken_away_while_flowd_runs_is_noticed(
    daemon_home: "DaemonHome", transcript: Path, tmp_path: Path, comes_back: bool
) -> None:
    """SQLite itself would go on writing into the file that nobody can find any more."""
    path = daemon_home.paths.database
    daemon_home.start()
    daemon_home.wait_for(serves(3))
    aside = tmp_path / "aside"
    path.parent.rename(aside)
    if comes_back:
        aside.rename(path.parent)
        append(transcript, line(4))
        daemon_home.wait_for(serves(4))
        return
    append(transcript, line(4))
    # A new one, into which everything was read again; what only the old one knew is gone, and that is named.
    status = daemon_home.wait_for(lambda status: status["counts"]["captured"] == 4)
    assert "core.db was gone, a new one was made" in status["reasons"][0]
    daemon_home.wait_for(lambda status: status["store"]["size_bytes"] > 0)
    daemon_home.wait_for(lambda status: all(one["delivered"] for one in status["sinks"][:1]))
    old = sqlite3.connect(aside / "core.db")
    assert old.execute("select sum(records) from flow_sources").fetchone() == (3,)
    old.close()


class OwnDisk:
    """A daemon whose data directory is a small disk of its own, in a namespace of its own."""

    wrap = ("unshare", "--user", "--map-root-user", "--mount")

    def __init__(self, home: "DaemonHome") -> None:
        self._home = home
        self.data = home.paths.data_dir

    def start(self, *, prepare: str = "true") -> None:
        """Mount the disk, have the shell *prepare* it, and start the daemon on it."""
        script = f'mount -t tmpfs -o size=2m tmpfs "$1" && cd "$1" && {prepare} && exec "$0" -m flowd run'
        words = [*self.wrap, "sh", "-c", script, sys.executable, str(self.data)]
        self._home.process = subprocess.Popen(words, env=self._home.env)

    def run(self, *words: str) -> str:
        """Run a command where the disk is seen."""
        assert self._home.process is not None
        enter = [
            "nsenter",
            f"--target={self._home.process.pid}",
            "--user",
            "--mount",
            "--preserve-credentials",
        ]
        return subprocess.run([*enter, *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def own_disk(daemon_home: "DaemonHome") -> OwnDisk:
    """Such a disk, where the system lets a user mount one."""
    disk = OwnDisk(daemon_home)
    disk.data.mkdir(exist_ok=True)
    probe = [*disk.wrap, "mount", "-t", "tmpfs", "tmpfs", str(disk.data)]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("this system lets no user mount a disk")
    return disk


READ_ONLY = {
    "disk": ("mount -o remount,ro .", ("mount", "-o", "remount,rw")),
    "file": (
        "mount --bind core.db core.db && mount -o remount,bind,ro core.db",
        ("umount", "--lazy"),
    ),
}


@pytest.mark.parametrize("what", ["disk", "file"])
def test_a_read_only_core_db_is_named_left_alone_and_used_once_it_is_writable(
    daemon_home: "DaemonHome", core_db: Path, transcript: Path, own_disk: OwnDisk, what: str
) -> None:
    forbid, allow = READ_ONLY[what]
    sound = core_db.rename(core_db.parent.with_name("sound"))
    own_disk.start(prepare=f"cp {sound} core.db && {forbid}")
    status = daemon_home.wait_for(lambda status: bool(status["store"]["condition"]))
    assert status["store"]["condition"] in ("read-only", "cannot open")
    assert not status["healthy"]
    own_disk.run("cmp", str(sound), f"{own_disk.data}/core.db")
    own_disk.run(*allow, str(own_disk.data if what == "disk" else core_db))
    daemon_home.wait_for(serves(3))


def test_a_full_disk_is_named_and_read_on_when_there_is_room(
    daemon_home: "DaemonHome", transcript: Path, own_disk: OwnDisk
) -> None:
    own_disk.start()
    daemon_home.wait_for(serves(3))
    own_disk.run("sh", "-c", f"cat /dev/zero > {own_disk.data}/filler 2>/dev/null || true")
    for number in range(4, 60):
        append(transcript, line(number))
        if names("full")(daemon_home.status()):
            break
    see_it_named(daemon_home, "full")
    own_disk.run("rm", f"{own_disk.data}/filler")
    daemon_home.wait_for(serves(transcript.read_bytes().count(b"\n")))


def test_opening_ends_when_it_is_told_to_stop(tmp_path: Path) -> None:
    """The gate waits on a plain event, not on anybody's queue."""
    path = tmp_path / "core.db"
    path.write_text("not a database, and too long to be taken for an empty one" * 10)
    gate, stop = StoreGate(Database(path)), threading.Event()
    opened: list[bool] = []
    thread = threading.Thread(target=lambda: opened.append(gate.open(stop)))
    thread.start()
    wait_until(lambda: gate.condition, "the condition to be known")
    stop.set()
    thread.join(30)
    assert (opened, gate.is_open) == ([False], False)
    assert not gate.open(stop)


def test_a_successful_write_makes_the_next_wait_short_again(tmp_path: Path) -> None:
    migrate(tmp_path / "core.db")
    gate = StoreGate(Database(tmp_path / "core.db"))
    for _ in range(3):
        gate.failed(StoreError("no", condition="full"))
    assert (gate.failures, gate.condition) == (3, "full")
    gate.passed()
    assert (gate.failures, gate.condition) == (0, "")
