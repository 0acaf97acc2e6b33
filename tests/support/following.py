"""A reader that a test drives by hand."""

import math
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from flowd.config.settings import LiveSettings
from flowd.daemon.control.status import SessionLine
from flowd.daemon.reading.queue import ReaderQueue, ReaderScheduler
from flowd.daemon.reading.reader import Reader, ReaderPaths
from flowd.daemon.reading.watcher import NoWatcher
from flowd.daemon.store_gate import StoreGate
from flowd.daemon.timing import Timer
from flowd.model.facts import Fact
from flowd.redaction.live import LiveRedactor
from flowd.store.database import Database
from flowd.store.journal import Journal


class Following:
    """A reader without its thread: ``catch_up`` and ``look`` do all work until nothing is left."""

    def __init__(self, database: Database, projects: Path, *patterns: str) -> None:
        self.projects = projects
        self.folder = projects / "-work-project"
        self.folder.mkdir(parents=True)
        self.transcript = self.folder / "s1.jsonl"
        self.database = database
        self.redact = live_redactor(*patterns)
        self.reader: Reader
        self.restart()

    def restart(self) -> None:
        """Start again from what core.db holds."""
        self.queue, self.timer = ReaderQueue(), Timer()
        self.reader = Reader(
            ReaderPaths(
                str(self.projects), str(self.projects.parent / "handoffs"), own_sessions="-own-sessions"
            ),
            StoreGate(self.database),
            self.queue,
            ReaderScheduler(self.queue, self.timer, min_rest_s=0),
            NoWatcher(lambda: None),
            lambda *_: None,
            self.redact,
        )
        self.reader.load()
        self.run_to_end()

    def lines(self, idle_after_s: float) -> list[SessionLine]:
        """Return the sessions that status would show."""
        return msgspec.json.decode(self.reader.status.recent.lines(idle_after_s), type=list[SessionLine])

    def catch_up(self) -> None:
        """Compare everything with the disk and read what differs."""
        self.queue.submit(self.reader.reconcile)
        self.run_to_end()

    def look(self, *paths: Path) -> None:
        """Take an event for each of *paths*."""
        for path in paths:
            self.queue.put(str(path))
        self.run_to_end()

    def append(self, data: bytes, path: Path | None = None) -> None:
        """Add *data* to a transcript and read it."""
        with (path or self.transcript).open("ab") as file:
            file.write(data)
        self.look(path or self.transcript)

    @property
    def counters(self) -> dict[str, int]:
        """What was counted since core.db was made."""
        return Journal(self.database).counters()

    def source(self, path: Path | None = None) -> dict[str, Any]:
        """Return the live row of the transcript at *path*."""
        (row,) = self.sources("path = ? and state = 'live'", str(path or self.transcript))
        return row

    def sources(self, where: str = "1", *values: object) -> list[dict[str, Any]]:
        """Return rows of flow_sources."""
        cursor = self.database.connection().execute(
            f"select * from flow_sources where {where} order by id", values
        )
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def facts(self, kind: str) -> list[Fact]:
        """Return the facts of one kind."""
        return [fact for fact in Journal(self.database).facts_after(0, 10_000) if fact.kind == kind]

    def records_of(self, session: str = "s1") -> int:
        """Return how many records the session's memory was fed."""
        (state,) = [fact.body for fact in self.facts("state") if fact.session_id == session]
        return state.state.records  # type: ignore[union-attr]  # the facts of kind state hold one

    def let_grace_pass(self) -> None:
        """Have the grace period of missing files be over."""
        self.timer.run_due(math.inf)

    def run_to_end(self) -> None:
        """Do all the work that is queued or will be due."""
        while self.timer.pending or not self.queue.is_empty:
            if self.queue.is_empty:
                self.let_grace_pass()
            self.reader.step()


def live_redactor(*patterns: str) -> LiveRedactor:
    """Return a redactor whose settings have these ``redaction.patterns``."""
    with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
        file.write(msgspec.json.encode({"redaction": {"patterns": patterns}}))  # JSON is YAML
        file.flush()
        return LiveRedactor(LiveSettings(Path(file.name)))
