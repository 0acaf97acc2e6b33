"""Any interleaving of the five operations by both clients matches a plain model."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from flowd.store.database import Database
from flowd.store.migrations import migrate
from flowd.store.threads import threads
from flowd.store.threads.records import CLIENTS, ENTRY_TYPES, ThreadError
from flowd.store.threads.threads import Threads

clients = st.sampled_from(CLIENTS)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@dataclass
class Thread:
    """What the specification says a handoff is, in the plainest Python."""

    title: str
    project: str | None
    status: str = "active"
    seen: dict[str, int] = field(default_factory=lambda: {"chat": 0, "code": 0})
    entries: list[dict[str, Any]] = field(default_factory=list)

    def unseen(self, client: str) -> list[dict[str, Any]]:
        return [entry for entry in self.entries if entry["seq"] > self.seen[client]]


def plain(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in entry.items() if key != "created_at"} for entry in entries]


class ThreadsMachine(RuleBasedStateMachine):
    """Drives core.db and the model with the same operations."""

    handoffs = Bundle("handoffs")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "core.db"
        migrate(path)
        self.database = Database(path, durable=False)
        self.model: dict[str, Thread] = {}
        self.last_seq = 0

    def teardown(self) -> None:
        self.database.close()
        self.folder.cleanup()

    @rule(target=handoffs, title=words, project=st.none() | words, content=words, client=clients)
    def create(self, title: str, project: str | None, content: str, client: str) -> str:
        result = msgspec.to_builtins(
            Threads(self.database).create(title=title, content=content, client=client, project=project)
        )
        thread = Thread(title, project)
        handoff_id = str(result["handoff"]["id"])
        assert handoff_id not in self.model
        self.model[handoff_id] = thread
        self._written(handoff_id, result["entries"][0], client, "context", content)
        self._same_record(result["handoff"], handoff_id)
        return handoff_id

    @rule(handoff_id=handoffs, kind=st.sampled_from(ENTRY_TYPES), content=words, client=clients)
    def add(self, handoff_id: str, kind: str, content: str, client: str) -> None:
        thread = self.model[handoff_id]
        if thread.status == "completed":
            with pytest.raises(ThreadError, match="is already completed"):
                self._add(handoff_id, kind, content, client)
            return
        missed = [entry for entry in thread.unseen(client) if entry["from_client"] != client]
        result = self._add(handoff_id, kind, content, client)
        assert plain(result["missed_entries"]) == plain(missed)
        self._written(handoff_id, result["entry"], client, kind, content)
        self._same_record(result["handoff"], handoff_id)

    @rule(handoff_id=handoffs, client=clients)
    def get(self, handoff_id: str, client: str) -> None:
        thread = self.model[handoff_id]
        result = msgspec.to_builtins(Threads(self.database).get(handoff_id=handoff_id, client=client))
        assert plain(result["entries"]) == plain(thread.entries)
        assert plain(result["new_entries"]) == plain(thread.unseen(client))
        assert result["new_count"] == len(thread.unseen(client))
        self._same_record(result["handoff"], handoff_id)

    @rule(handoff_id=handoffs, client=clients)
    def mark_read(self, handoff_id: str, client: str) -> None:
        thread = self.model[handoff_id]
        thread.seen[client] = max((entry["seq"] for entry in thread.entries), default=0)
        marked = Threads(self.database).mark_read(handoff_id=handoff_id, client=client)
        assert msgspec.to_builtins(marked) == {
            "marked_read": True,
            "client": client,
            "last_seen": thread.seen[client],
        }

    @rule(target=handoffs, handoff_id=consumes(handoffs), keep=st.booleans())
    def close(self, handoff_id: str, keep: bool) -> Any:
        thread = self.model[handoff_id]
        thread.status, thread.entries = "completed", []
        closed = Threads(self.database).close(handoff_id=handoff_id)
        assert msgspec.to_builtins(closed) == {"closed": True, "id": handoff_id, "title": thread.title}
        return handoff_id if keep else multiple()

    @invariant()
    def counts_agree(self) -> None:
        active = [thread for thread in self.model.values() if thread.status == "active"]
        counts = threads.counts(self.database)
        assert counts.active == len(active)
        assert counts.unread_chat == sum(len(thread.unseen("chat")) for thread in active)
        assert counts.unread_code == sum(len(thread.unseen("code")) for thread in active)

    def _add(self, handoff_id: str, kind: str, content: str, client: str) -> Any:
        return msgspec.to_builtins(
            Threads(self.database).add(handoff_id=handoff_id, entry_type=kind, content=content, client=client)
        )

    def _written(self, handoff_id: str, entry: dict[str, Any], client: str, kind: str, content: str) -> None:
        assert entry["seq"] > self.last_seq
        self.last_seq = entry["seq"]
        expected = {
            "seq": entry["seq"],
            "handoff_id": handoff_id,
            "from_client": client,
            "type": kind,
            "content": content,
        }
        assert plain([entry]) == [expected]
        self.model[handoff_id].entries.append(expected)
        self.model[handoff_id].seen[client] = entry["seq"]

    def _same_record(self, record: dict[str, Any], handoff_id: str) -> None:
        thread = self.model[handoff_id]
        assert (record["id"], record["title"], record["project"]) == (
            handoff_id,
            thread.title,
            thread.project,
        )
        assert record["status"] == thread.status
        assert (record["chat_last_seen"], record["code_last_seen"]) == (
            thread.seen["chat"],
            thread.seen["code"],
        )


TestThreads = ThreadsMachine.TestCase
TestThreads.settings = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
