"""A project with a conductor: its tracks, plans and workers, and checkpoints of sessions in it."""

import json
import os
import time
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no types of its own
import msgspec

from flowd.model.checkpoints import checkpoint_fact
from flowd.model.facts import Fact, Trigger
from flowd.model.session import SessionState

PLAN = """\
# Plan
## Epic 1: Tokens
- [{0}] Sign
- [{1}] Store
## Epic 2: Rotation
- [{2}] Rotate
- [{3}] Revoke
"""
SCHEMA = json.loads(resources.files("flowd.handoff.track").joinpath("metadata.schema.json").read_text())


class TrackProject:
    """One project; ``state`` is what its session has come to."""

    def __init__(self, root: Path, track: str = "jwt_20260301") -> None:
        self.root = root
        self.track = track
        self.folder = root / "conductor" / "tracks" / track
        self.handoffs = root / "conductor" / "handoffs" / track
        self.state = SessionState(
            session_id="s1",
            project=str(root),
            goal="Ship JWT login",
            now="Signing tokens",
            next=("Rotate the keys",),
            decisions=("RS256",),
            files=("auth.py",),
            started_at=time.time() - 3600,
            last_activity_at=time.time() - 10,
        )

    def make(self, **fields: Any) -> "TrackProject":
        """Create the track."""
        self.folder.mkdir(parents=True)
        whole = {"title": "JWT", "status": "in_progress", "workflow": {"tdd": True}, **fields}
        (self.folder / "metadata.json").write_text(json.dumps(whole, indent=2) + "\n")
        self.plan("    ")
        return self

    def plan(self, marks: str) -> None:
        """Write plan.md with one mark for each of its four tasks."""
        (self.folder / "plan.md").write_text(PLAN.format(*marks))

    def workers(self, *names: str) -> None:
        """Have parallel workers run."""
        state = {"workers": [{"name": name, "status": "running"} for name in names]}
        (self.folder / "parallel_state.json").write_text(json.dumps(state))

    def checkpoint(self, trigger: Trigger, epic: str = "", **changes: Any) -> Fact:
        """Return the fact of a checkpoint made now."""
        state = msgspec.structs.replace(self.state, **changes)
        return checkpoint_fact(state, trigger, f"{trigger}:{epic}:{time.time()}", "", epic=epic)

    @property
    def metadata(self) -> dict[str, Any]:
        """metadata.json, valid by the shipped schema."""
        whole: dict[str, Any] = json.loads((self.folder / "metadata.json").read_text())
        jsonschema.validate(whole, SCHEMA)
        return whole

    @property
    def history(self) -> list[tuple[int, str, str | None]]:
        """Section, trigger and bead of each handoff."""
        section = self.metadata.get("handoff", {"history": [], "section_count": 0})
        assert [entry["section"] for entry in section["history"]] == list(
            range(1, section["section_count"] + 1)
        )
        return [(e["section"], e["trigger"], e.get("bead_id")) for e in section["history"]]

    @property
    def files(self) -> list[str]:
        """The handoffs, by name; every one stands in the index exactly once."""
        if not self.handoffs.exists():
            return []
        names = sorted(name for name in os.listdir(self.handoffs) if name != "index.md")
        index = (self.handoffs / "index.md").read_text()
        assert [index.count(f"](./{name})") for name in names] == [1] * len(names)
        return names
