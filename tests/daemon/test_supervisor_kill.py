"""Killed at any moment, flowd repeats work and never skips it."""

import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.transcript_lines import line

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

ROUNDS = int(os.environ.get("FLOWD_CHAOS_ROUNDS", "8"))
TRANSCRIPTS = 10
MAX_LIFETIME_S = 0.6
DEADLINE_S = 60.0


class Writer(threading.Thread):
    """Grows ten transcripts in ten projects, in pieces that end anywhere, until told to stop."""

    def __init__(self, root: Path, claude: Path) -> None:
        super().__init__(name="writer")
        self.projects = [root / f"project{number}" for number in range(TRANSCRIPTS)]
        self.transcripts: list[Path] = []
        for number, project in enumerate(self.projects):
            (project / ".git").mkdir(parents=True)
            folder = claude / "projects" / f"-project{number}"
            folder.mkdir(parents=True)
            self.transcripts.append(folder / f"session{number}.jsonl")
        self.records = [0] * TRANSCRIPTS
        self._stopped = threading.Event()

    def run(self) -> None:
        files = [open(transcript, "ab", buffering=0) for transcript in self.transcripts]  # noqa: SIM115 closed below
        chance = random.Random(7)
        try:
            while not self._stopped.wait(0.002):
                self._write(files, chance.randrange(TRANSCRIPTS), chance)
        finally:
            for file in files:
                file.close()

    def stop(self) -> None:
        self._stopped.set()
        self.join(DEADLINE_S)

    def _write(self, files: list[Any], which: int, chance: random.Random) -> None:
        self.records[which] += 1
        record = line(self.records[which], f"session{which}", cwd=str(self.projects[which]))
        cut = chance.randrange(len(record))
        files[which].write(record[:cut])
        files[which].write(record[cut:])


def begin(home: "DaemonHome", *, wait: bool) -> None:
    """Start a daemon; without *wait* it may be killed before it even answers."""
    if wait:
        home.start()
    else:
        home.process = subprocess.Popen([sys.executable, "-m", "flowd", "run"], env=home.env)


def check_handoffs(projects: list[Path]) -> int:
    """Return how many projects have a handoff.yaml, each whole and valid."""
    found = 0
    for project in projects:
        file = project / ".flow-guardian" / "handoff.yaml"
        if file.exists():
            handoff = yaml.safe_load(file.read_text(encoding="utf-8"))
            assert handoff["status"] == "in_progress"
            assert handoff["goal"]
            assert handoff["now"]
            assert handoff["session_id"] == project.name.replace("project", "session")
            found += 1
    return found


def processed(database: Path) -> dict[str, tuple[int, int]]:
    """Return for each transcript how many records were taken and how far it was read."""
    connection = sqlite3.connect(database)
    try:
        rows = connection.execute("select path, records, offset from flow_sources").fetchall()
        ((fed,),) = connection.execute("select value from flow_counters where name = 'records'").fetchall()
    finally:
        connection.close()
    assert fed == sum(row[1] for row in rows)
    return {path: (records, offset) for path, records, offset in rows}


def test_after_any_number_of_kills_every_complete_record_was_processed_exactly_once(
    daemon_home: "DaemonHome", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten transcripts grow all the while; handoff.yaml is valid after every round."""
    chance = random.Random()
    writer = Writer(tmp_path / "work", daemon_home.claude_dir)
    writer.start()
    valid = 0
    try:
        for number in range(ROUNDS):
            begin(daemon_home, wait=number % 3 > 0)
            time.sleep(chance.uniform(0, MAX_LIFETIME_S))  # the moment of the kill, not a wait for anything
            daemon_home.kill()
            valid += check_handoffs(writer.projects)
    finally:
        writer.stop()
    daemon_home.start()
    in_files = {str(path): path.read_bytes().count(b"\n") for path in writer.transcripts}
    status = daemon_home.wait_for(
        lambda status: (
            status["counts"]["captured"] >= sum(in_files.values())
            and all(sink["queue"] == 0 for sink in status["sinks"])
        )
    )
    assert daemon_home.stop() == 0
    taken = processed(daemon_home.paths.database)
    assert {path: records for path, (records, _) in taken.items()} == in_files
    assert all(offset == Path(path).stat().st_size for path, (_, offset) in taken.items())
    assert status["counts"]["troubles"] == {}
    assert check_handoffs(writer.projects) == TRANSCRIPTS
    sessions = {shown["session_id"]: shown["records"] for shown in status["sessions"]}
    assert sessions == {f"session{number}": count for number, count in enumerate(writer.records)}
    with capsys.disabled():
        print(
            f"\n{ROUNDS} kills, {sum(in_files.values())} records in {TRANSCRIPTS} transcripts: "
            f"each processed once; {valid} handoff.yaml read between the rounds, all valid"
        )
