"""Commit the batch: facts, memories and offsets in one transaction."""

from flowd.actions.works import WorkUpdater
from flowd.daemon.activity_log import ActivityLog
from flowd.daemon.hooks.checkpoints import CheckpointRecorder
from flowd.daemon.reading.failures import UnstorableError
from flowd.daemon.reading.pipeline import Pipeline
from flowd.daemon.reading.queue import ReaderScheduler
from flowd.daemon.store_gate import StoreGate
from flowd.model.facts import Compacted
from flowd.store.journal import Batch, Journal
from flowd.system.errors import StoreError

BATCH_BYTES = 8 << 20
BATCH_SESSIONS = 32
# The state in the middle of a file is soon outdated, and every sink would process it for nothing.
UNFINISHED_BATCH_BYTES = 4 * BATCH_BYTES
WAL_CHECKPOINT_DELAY_S = 0.3


class BatchWriter:
    """Owns the batch. Other parts of the reader add to it; only ``commit`` stores it."""

    def __init__(
        self,
        gate: StoreGate,
        pipeline: Pipeline,
        checkpoints: CheckpointRecorder,
        scheduler: ReaderScheduler,
    ) -> None:
        self._gate = gate
        self._journal = Journal(gate.database)
        self._pipeline = pipeline
        self._checkpoints = checkpoints
        self._scheduler = scheduler
        self._works = WorkUpdater(gate.database)
        self._activity = ActivityLog()
        self.batch = Batch()

    def is_full(self, *, unfinished: bool) -> bool:
        """Return True if the batch is large enough to commit; *unfinished*: in the middle of a file."""
        if unfinished:
            return self.batch.bytes_read >= UNFINISHED_BATCH_BYTES
        return self.batch.bytes_read >= BATCH_BYTES or self._pipeline.changed >= BATCH_SESSIONS

    def commit(self) -> Batch | None:
        """Store the batch in one transaction and return it; return None if there is nothing to store.

        Raise UnstorableError if its content cannot be stored, StoreError if core.db cannot be written.
        """
        batch = self.batch
        try:
            return self._commit(batch)
        except StoreError:
            raise
        except Exception as error:
            raise UnstorableError(error) from error

    def _commit(self, batch: Batch) -> Batch | None:
        self._pipeline.finish(batch)
        if any(isinstance(fact.body, Compacted) for fact in batch.facts):
            self._checkpoints.record_missed(batch)
        if not batch:
            return None
        self.batch = Batch()
        self._works.update(batch)
        self._journal.commit(batch)
        self._activity.sessions_seen(batch.facts)
        if self._gate.failures:
            self._gate.passed()
        if self._gate.database.wal_is_large:
            self._scheduler.submit_later(self._gate.database.checkpoint_wal, WAL_CHECKPOINT_DELAY_S)
        return batch

    def discard(self) -> None:
        """Drop the batch: it could not be stored and will be read again."""
        self._works.forget()
        self.batch = Batch()
