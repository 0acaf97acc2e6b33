"""A reader that a test drives by hand."""

from pathlib import Path
from typing import Any

import msgspec

from flowd.daemon.control.status import SessionLine
from flowd.daemon.reading.queue import ReaderQueue
from flowd.daemon.reading.reader import Reader
from flowd.daemon.reading.watcher import NoWatcher
from flowd.daemon.store_gate import StoreGate
from flowd.model.facts import Fact
from flowd.store.database import Database
from flowd.store.journal import Journal


class Following:
    """A reader without its thread: ``catch_up`` and ``look`` do what it would do until nothing is left."""

    def __init__(self, database: Database, projects: Path) -> None:
        self.projects = projects
        self.folder = projects / "-work-project"
        self.folder.mkdir(parents=True)
        self.transcript = self.folder / "s1.jsonl"
        self.database = database
        self.reader: Reader
        self.restart()

    def restart(self) -> None:
        """Begin anew with what core.db holds."""
        self.hints = ReaderQueue(least_rest_s=0)
        watcher = NoWatcher(lambda: None)
        self.reader = Reader(
            str(self.projects), StoreGate(self.database), self.hints, watcher, lambda *_: None
        )
        self.reader._load()
        self._settle()

    def lines(self, idle_after_s: float) -> list[SessionLine]:
        """Return the sessions that status would show."""
        return msgspec.json.decode(self.reader.recent.lines(idle_after_s), type=list[SessionLine])

    def catch_up(self) -> None:
        """Compare everything with the disk and read what differs."""
        self.hints.put_task(self.reader.reconcile)
        self._settle()

    def look(self, *paths: Path) -> None:
        """Take an event for each of *paths*."""
        for path in paths:
            self.hints.put(str(path))
        self._settle()

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
        """Have the second that a missing file is given be over."""
        self.hints._later = dict.fromkeys(self.hints._later, 0.0)

    def _settle(self) -> None:
        while self.hints.waiting or self.hints.has_urgent or self.hints._later:
            if not self.hints.waiting and not self.hints.has_urgent:
                self.let_grace_pass()
            self.reader._turn()
