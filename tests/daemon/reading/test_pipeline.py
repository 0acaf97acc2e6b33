"""From transcript lines to facts; record types that this version does not know."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.config.settings import LiveSettings
from flowd.daemon.projects.watchers import ProjectResolver
from flowd.daemon.reading.pipeline import ACTIVE_S, MAX_NAMES, Pipeline, UnknownTypes, count_by_name
from flowd.daemon.reading.tailer import Chunk
from flowd.handoff.track.rules import project_patterns
from flowd.redaction.live import LiveRedactor
from flowd.store.journal import Batch
from flowd.store.sources import Source
from tests.support.following import live_redactor
from tests.support.transcript_lines import line

if TYPE_CHECKING:
    from tests.support.following import Following


class Stored:
    """Memories as core.db would keep them; counts how often one is asked for."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}
        self.asked: list[str] = []

    def load(self, session_id: str) -> bytes | None:
        self.asked.append(session_id)
        return self.bodies.get(session_id)


def read(pipeline: Pipeline, session_id: str, age_s: float, batch: Batch) -> None:
    changed_ns = int((time.time() - age_s) * 1e9)
    source = Source(path="/t", inode=1, device=1, fingerprint="f", session_id=session_id, mtime_ns=changed_ns)
    data = line(1, session=session_id)
    pipeline.process(source, Chunk(data, len(data), b""), batch)


def test_a_session_at_rest_is_let_go_and_one_at_work_stays() -> None:
    """After a catch-up only the sessions that somebody works in are in memory."""
    stored, batch = Stored(), Batch()
    pipeline = Pipeline(stored.load, ProjectResolver(), live_redactor())
    read(pipeline, "resting", ACTIVE_S + 60, batch)
    read(pipeline, "working", 0.0, batch)
    pipeline.finish(batch)
    stored.bodies = batch.memories
    assert pipeline.release_memory()
    stored.asked.clear()
    assert pipeline.knows("resting")
    assert pipeline.knows("working")
    assert stored.asked == ["resting"]


def test_a_session_at_rest_is_dropped_when_others_are_read() -> None:
    """Without a catch-up too: a daemon that runs for weeks sees thousands of sessions."""
    stored, batch = Stored(), Batch()
    pipeline = Pipeline(stored.load, ProjectResolver(), live_redactor())
    read(pipeline, "resting", ACTIVE_S + 60, batch)
    pipeline.finish(batch)
    stored.bodies = batch.memories
    read(pipeline, "working", 0.0, batch)
    pipeline.finish(batch)
    stored.asked.clear()
    assert pipeline.knows("working")
    assert pipeline.knows("resting")
    assert stored.asked == ["resting"]


def test_what_is_not_stored_yet_is_not_let_go() -> None:
    """A memory that has moved since the last commit is nowhere else."""
    stored, batch = Stored(), Batch()
    pipeline = Pipeline(stored.load, ProjectResolver(), live_redactor())
    read(pipeline, "resting", ACTIVE_S + 60, batch)
    assert not pipeline.release_memory()
    assert pipeline.knows("resting")


def records(*kinds: str) -> bytes:
    return b"".join(json.dumps({"type": kind, "sessionId": "s1"}).encode() + b"\n" for kind in kinds)


def counted(unknown: UnknownTypes, *names: str) -> dict[str, int]:
    batch = Batch()
    for name in names:
        unknown.count({name: 1}, batch)
    return count_by_name(batch.counters)


def test_types_are_counted_by_name_the_most_frequent_first() -> None:
    assert list(counted(UnknownTypes(), "mood", "brain-wave", "brain-wave").items()) == [
        ("brain-wave", 2),
        ("mood", 1),
    ]


@pytest.mark.parametrize("name", ["", "a b", "x" * 41, "\x1b[31m", "7up", "naïve", "line\nbreak"])
def test_a_name_that_is_not_plain_is_not_repeated(name: str) -> None:
    assert counted(UnknownTypes(), name) == {"other": 1}


def test_there_are_never_more_names_than_that() -> None:
    unknown = UnknownTypes()
    found = counted(unknown, *(f"type-{number}" for number in range(3 * MAX_NAMES)))
    assert len(found) == MAX_NAMES + 1
    assert found["other"] == 2 * MAX_NAMES
    assert counted(unknown, "type-0", "other") == {"type-0": 1, "other": 1}


def test_the_names_outlast_a_restart(following: "Following") -> None:
    following.append(records("user", "mood", "mood", "brain wave"))
    following.restart()
    following.append(records(*(f"type-{number}" for number in range(2 * MAX_NAMES))))
    found = count_by_name(following.counters)
    assert (found["mood"], len(found)) == (2, MAX_NAMES + 1)
    assert following.counters["unknown_types"] == 3 + 2 * MAX_NAMES


def test_what_a_project_calls_a_secret_is_masked_before_anything_is_kept(
    project: Path, tmp_path: Path
) -> None:
    (project / "conductor").mkdir()
    rules = "handoff:\n  secrets_patterns: ['ACME-[0-9]{6}']\n"
    (project / "conductor" / "workflow.md").write_text(rules)
    redact = LiveRedactor(LiveSettings(tmp_path / "config.yaml"), project_patterns)
    pipeline, batch = Pipeline(Stored().load, ProjectResolver(), redact), Batch()
    words = {"role": "user", "content": "Please rotate ACME-123456 for the staging server today"}
    data = line(1, cwd=str(project), message=words)
    source = Source(path="/t", inode=1, device=1, fingerprint="f", session_id="s1")
    pipeline.process(source, Chunk(data, len(data), b""), batch)
    pipeline.finish(batch)
    assert "rotate [redacted:custom]" in repr(batch.facts)
    assert b"ACME-123456" not in repr((batch.facts, batch.memories)).encode()
