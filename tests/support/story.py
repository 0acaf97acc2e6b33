"""Stories of several sessions in one project, told to its works one after the other."""

from typing import Any

from flowd.extractors.transcript.session import read_transcript
from flowd.extractors.work.project_works import ProjectWorks, current_work
from flowd.model.session import SessionState
from flowd.model.work import Role, Work
from tests.support.transcript import PLACE, Transcript


class DayOfWork(Transcript):
    """One session of a story: its name, the day it takes place, and its branch."""

    def __init__(self, name: str, day: int, branch: str = "main") -> None:
        super().__init__()
        self.name, self.day, self.branch = name, day, branch

    def add(self, kind: str, **fields: Any) -> "DayOfWork":
        """Add a record of *kind* to this session, on its day."""
        number = len(self.lines) + 1
        stamp = f"2026-03-{self.day:02}T10:{number // 60:02}:{number % 60:02}.000Z"
        super().add(kind, **{"sessionId": self.name, "timestamp": stamp, "gitBranch": self.branch, **fields})
        return self

    @property
    def state(self) -> SessionState:
        """The state that the session ends in."""
        return read_transcript(self.data).memory.state(self.name, PLACE)


class Story:
    """The works of a project, as its sessions make them."""

    def __init__(self) -> None:
        self.works = ProjectWorks([], [])

    def play(self, session: Transcript) -> Role:
        """Take *session* in as it ends; return its role."""
        state = session.state
        self.works.take(state)
        return self.works.role_of(state.session_id)

    def current(self, branch: str = "main") -> Work:
        """Return the current work on *branch*."""
        work = current_work(self.works.works, branch)
        assert work is not None
        return work

    def steps(self, branch: str = "main") -> list[str]:
        """Return the open steps of the current work that somebody has named."""
        return [step.text for step in self.current(branch).steps if step.source != "state"]


def exporter(name: str = "monday", day: int = 1) -> DayOfWork:
    """Return a session that begins an exporter and names what is left."""
    session = DayOfWork(name, day)
    session.person("Write a CSV exporter for the orders in exporter.py")
    session.edit("src/exporter.py").run("pytest -q", "3 passed")
    session.assistant(
        "The exporter writes all orders.\n\nWhat's left:\n\n"
        "1. Add the VAT column to exporter.py\n2. Document the exporter in docs/export.md"
    )
    return session
