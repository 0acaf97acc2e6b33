"""A project with Beads, and the stand-in bd that reads them."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from flowd.config.settings import BeadsSettings, load_settings

STAND_IN = Path(__file__).parent / "stand_ins" / "bd.py"


class BeadsProject:
    """A project whose .beads the stand-in reads; ``program`` is the way to run it."""

    def __init__(self, root: Path, program: Path) -> None:
        self.root = root
        self.program = program
        self._data = root / ".beads" / "issues.json"
        self.settings: BeadsSettings = msgspec.structs.replace(
            load_settings(root / "none").settings.beads, program=str(program)
        )

    @property
    def path(self) -> str:
        """The project as facts name it."""
        return str(self.root)

    def put(self, identity: str, *, status: str = "open", notes: str = "", age_s: float = 3600) -> None:
        """Make an issue that was last changed *age_s* ago."""
        self._data.parent.mkdir(exist_ok=True)
        issues = json.loads(self._data.read_text()) if self._data.exists() else {}
        moment = (datetime.now(UTC) - timedelta(seconds=age_s)).isoformat()
        issues[identity] = {"id": identity, "title": identity, "status": status, "updated_at": moment}
        if notes:
            issues[identity]["notes"] = notes
        self._data.write_text(json.dumps(issues))

    def notes(self, identity: str) -> str:
        """Return what is kept of the issue's notes."""
        return str(json.loads(self._data.read_text())[identity].get("notes", ""))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Every run of the stand-in so far."""
        file = self._data.with_name("calls")
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def verbs(self) -> list[str]:
        """The first word of each run."""
        return [call["words"][0] for call in self.calls]


def make_project(folder: Path) -> BeadsProject:
    """Return a project in *folder* without issues yet, and beside it a program to run."""
    program = folder / "bin" / "bd"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{STAND_IN}" "$@"\n')
    program.chmod(0o755)
    root = folder / "shop"
    root.mkdir()
    return BeadsProject(root, program)
