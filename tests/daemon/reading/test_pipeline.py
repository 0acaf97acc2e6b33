"""What the reader remembers of sessions: those at work stay in memory, the others are loaded when needed."""

import time

from flowd.daemon.projects.resolver import ProjectResolver
from flowd.daemon.reading.pipeline import ACTIVE_S, Pipeline
from flowd.daemon.reading.tailer import Chunk
from flowd.store.journal import Batch
from flowd.store.sources import Source
from tests.support.redactor import live_redactor
from tests.support.transcript_lines import line


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


def test_what_is_not_stored_yet_is_not_let_go() -> None:
    """A memory that has moved since the last commit is nowhere else."""
    stored, batch = Stored(), Batch()
    pipeline = Pipeline(stored.load, ProjectResolver(), live_redactor())
    read(pipeline, "resting", ACTIVE_S + 60, batch)
    assert not pipeline.release_memory()
    assert pipeline.knows("resting")
