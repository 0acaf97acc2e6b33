"""Many processes write into the same handoffs at once, and some are killed while they do."""

import random
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from flowd.store.database import Database
from flowd.store.threads.records import ThreadError
from flowd.store.threads.threads import Threads
from tests.support.repository import ROOT

WRITER = ROOT / "tests" / "support" / "thread_writer.py"
WRITERS = 8
HANDOFFS = 20
ADDS = 2000
DEADLINE_S = 600


class Note(NamedTuple):
    """An entry that a writer was told is stored."""

    seq: int
    handoff_id: str
    client: str
    content: str


def shared_handoffs(database: Database) -> list[str]:
    return [
        Threads(database).create(title=f"thread {number}", content="start", client="chat").handoff.id
        for number in range(HANDOFFS)
    ]


def start_writer(database: Database, notes: Path, adds: int, ids: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(WRITER), str(database.path), str(notes), str(adds), notes.stem, *ids],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def acknowledged(folder: Path) -> list[Note]:
    notes = []
    for file in sorted(folder.glob("*.notes")):
        for line in file.read_text().splitlines():
            seq, handoff_id, client, content = line.split(" ", 3)
            notes.append(Note(int(seq), handoff_id, client, content))
    return notes


def stored(database: Database) -> dict[int, Note]:
    with database.reading() as connection:
        rows = connection.execute(
            "select seq, handoff_id, from_client, content from handoff_entries where type = 'progress'"
        )
        return {row[0]: Note(*row) for row in rows}


def check_cursors(database: Database, ids: list[str]) -> None:
    for handoff_id in ids:
        result = Threads(database).get(handoff_id=handoff_id, client="chat")
        for client in ("chat", "code"):
            own = [entry.seq for entry in result.entries if entry.from_client == client]
            cursor = result.handoff.chat_last_seen if client == "chat" else result.handoff.code_last_seen
            assert cursor == max(own, default=0)


def test_eight_processes_add_to_twenty_shared_handoffs_without_a_loss(
    database: Database, tmp_path: Path
) -> None:
    """Every entry is there once, in order, each cursor is right, and nobody hears of a lock."""
    ids = shared_handoffs(database)
    writers = [start_writer(database, tmp_path / f"{n}.notes", ADDS, ids) for n in range(WRITERS)]
    for writer in writers:
        _, errors = writer.communicate(timeout=DEADLINE_S)
        assert (writer.returncode, errors) == (0, "")
    notes = acknowledged(tmp_path)
    assert len(notes) == len({note.seq for note in notes}) == WRITERS * ADDS
    assert stored(database) == {note.seq: note for note in notes}
    for n in range(WRITERS):
        own = [note.seq for note in notes if note.content.startswith(f"{n}-")]
        assert own == sorted(own)
    check_cursors(database, ids)


def test_writers_killed_at_random_leave_no_half_entry_and_lose_no_acknowledged_one(
    database: Database, tmp_path: Path
) -> None:
    """What was acknowledged is stored whole; what was not is stored whole or not at all."""
    ids = shared_handoffs(database)
    chance = random.Random(7)
    for turn in range(12):
        writers = [start_writer(database, tmp_path / f"{turn}{n}.notes", 10**6, ids) for n in range(3)]
        wait_for_notes(tmp_path, f"{turn}[0-2].notes", chance.randrange(3, 60))
        for writer in chance.sample(writers, len(writers)):
            writer.kill()
            assert writer.communicate(timeout=DEADLINE_S)[1] == ""
    kept = stored(database)
    for note in acknowledged(tmp_path):
        assert kept[note.seq] == note
    assert all(entry.content.rstrip("x").count("-") == 2 for entry in kept.values())
    check_cursors(database, ids)
    with sqlite3.connect(database.path) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_close_amid_adds_leaves_no_entry_behind(database: Database) -> None:
    """Whether a handoff is open is decided in the same transaction that writes into it."""
    other = Database(database.path)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(100):
            handoff_id = Threads(database).create(title="t", content="c", client="chat").handoff.id
            refusal = pool.submit(add_until_refused, Threads(other), handoff_id)
            Threads(database).close(handoff_id=handoff_id)
            assert refusal.result(timeout=DEADLINE_S) == f"Handoff '{handoff_id}' is already completed."
            assert Threads(database).get(handoff_id=handoff_id, client="code").entries == ()
    other.close()


def add_until_refused(threads: Threads, handoff_id: str) -> str:
    try:
        while True:
            threads.add(handoff_id=handoff_id, entry_type="progress", content="more", client="code")
    except ThreadError as error:
        return str(error)


def wait_for_notes(folder: Path, pattern: str, lines: int) -> None:
    """Return once the writers have noted so many entries."""
    deadline = time.monotonic() + DEADLINE_S
    while sum(file.read_bytes().count(b"\n") for file in folder.glob(pattern)) < lines:
        assert time.monotonic() < deadline, "the writers stand still"
        time.sleep(0.002)
