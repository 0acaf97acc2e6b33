"""The reader: the one thread that reads transcripts and writes the journal."""

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from flowd.config.logs import log
from flowd.daemon.hooks.checkpoints import CheckpointRecorder, CheckpointRequest
from flowd.daemon.hooks.handler import HookEvent
from flowd.daemon.projects.documents import HandoffFiles
from flowd.daemon.projects.watchers import ProjectResolver, ProjectWatchers
from flowd.daemon.reading.batch_writer import BatchWriter
from flowd.daemon.reading.failures import Failures, Isolation, name_of
from flowd.daemon.reading.follower import Follower
from flowd.daemon.reading.identity import KnownFiles
from flowd.daemon.reading.pipeline import Pipeline
from flowd.daemon.reading.progress import SESSIONS_SHOWN, CatchUp, ReaderStatus
from flowd.daemon.reading.queue import ReaderQueue, ReaderScheduler
from flowd.daemon.reading.reconcile import Reconciler
from flowd.daemon.reading.watcher import Watcher
from flowd.daemon.store_gate import StoreGate
from flowd.extractors.transcript.records import transcript_name
from flowd.model.client import HookInput
from flowd.model.facts import Fact, HandoffIndexed, StateChanged
from flowd.model.session import SessionState
from flowd.redaction.live import LiveRedactor
from flowd.store.journal import Journal
from flowd.store.schema import made_at
from flowd.store.sessions import IdleTable, Pause
from flowd.system.errors import StoreError

# A changed file is read up to this at once. What is longer is read on as backlog, one chunk at a time, so
# that urgent work never waits for more than a slice.
URGENT_SLICE_BYTES = 4 << 20
BACKLOG_SLICE_BYTES = 1
STOPS_KEPT = 5
# A client writes the first records of a session at most this long after its first hooks.
LATE_TRANSCRIPT_S = 2.0

OnCommit = Callable[[int, Sequence[Fact]], None]


class ReaderPaths(NamedTuple):
    """What the reader reads: transcripts, handoff documents, and the task files of projects."""

    projects_dir: str
    handoffs_dir: str
    task_globs: Sequence[str] = ()
    # The directory below projects/ of the sessions in which flowd itself asks a model: never read.
    own_sessions: str = ""


class Reader:
    """Processes changed paths; facts and offsets are stored together.

    ``run`` may be called again after a crash: it starts from what core.db holds.
    """

    def __init__(
        self,
        paths: ReaderPaths,
        gate: StoreGate,
        queue: ReaderQueue,
        scheduler: ReaderScheduler,
        watcher: Watcher,
        on_commit: OnCommit,
        redact: LiveRedactor,
    ) -> None:
        self._root = paths.projects_dir
        self._own = f"{paths.projects_dir}/{paths.own_sessions}" if paths.own_sessions else "\0"
        self._gate = gate
        self._journal = Journal(gate.database)
        self._idle = IdleTable(gate.database)
        self._queue = queue
        self._scheduler = scheduler
        self._on_commit = on_commit
        self._reconciler = Reconciler(paths.projects_dir, watcher)
        self.failures = Failures(redact)
        self._isolation = Isolation(self.failures, scheduler, self.commit, self.load)
        self._watchers = ProjectWatchers(
            self._journal, watcher, paths.task_globs, paths.handoffs_dir, redact, self.failures
        )
        self._pipeline = Pipeline(self._journal.memory, ProjectResolver(), redact)
        self._follower = Follower(queue, scheduler, self._pipeline)
        self._checkpoints = CheckpointRecorder(self._pipeline, self._journal, redact)
        self._writer = BatchWriter(gate, self._pipeline, self._checkpoints, scheduler)
        self.status = ReaderStatus()
        self._catch_up = CatchUp(self.status, self._follower, self._pipeline, gate.database)

    @property
    def handoffs(self) -> HandoffFiles:
        """The handoff documents being followed."""
        return self._watchers.handoffs

    def run(self) -> None:
        """Read until the queue is closed; every offset is then at a line boundary."""
        try:
            while not self._queue.closed.is_set() and self._gate.open(self._queue.closed):
                self._run_until_store_fails()
        finally:
            self._gate.database.drop_connection()

    def request_beat(self, beat: Callable[[], None]) -> None:
        """Have the thread call *beat*."""
        self._queue.submit(beat)

    def load(self) -> None:
        """Start from what core.db holds, and queue everything that differs from the disk."""
        self._pipeline.reset()
        self._writer.discard()
        self._watchers.forget_seen()
        self._follower.known = KnownFiles(self._journal.sources())
        self._checkpoints.missed_since = made_at(self._gate.database)
        self.handoffs.load()
        self._journal.prune(STOPS_KEPT)
        states = self._journal.latest_states(SESSIONS_SHOWN)
        self.status.load(self._journal.counters(), states)
        self._pipeline.unknown_types.load(self.status.totals)
        for state in states:
            self._follow_project(state)
        self.reconcile()

    def step(self) -> None:
        """Wait for work, do it, and commit unless more of the backlog fits into the batch."""
        work = self._queue.take()
        started_s = time.thread_time()
        if work.urgent:
            self._scheduler.start_rest(work.urgent)
        for task in work.tasks:
            self._isolation.run(name_of(task), task)
        for path in work.urgent:
            if self._process_path(path, URGENT_SLICE_BYTES):
                self._queue.put_next(path)
        unfinished = work.backlog is not None and self._process_backlog(work.backlog)
        if work.backlog is None or not self._queue.has_backlog or self._writer.is_full(unfinished=unfinished):
            self._isolation.run("what was read", self.commit)
        if not self._writer.batch:
            self._catch_up.release_memory(done=not self._queue.has_backlog)
        if work.urgent and not work.tasks:
            self._scheduler.spent(time.thread_time() - started_s, len(work.urgent))

    def reconcile(self) -> None:
        """Compare everything with the disk and queue what differs."""
        started = time.monotonic()
        self._gate.database.connection()  # raises if core.db was removed meanwhile
        difference = self._reconciler.scan(self._follower.known)
        self._queue.put_backlog([*difference.changed, *difference.missing])
        self._queue.put_backlog([*self._watchers.paths(), self.handoffs.root])
        scan_s = time.monotonic() - started
        self.status.note_scan(difference, scan_s)
        log.debug(
            "reconciled", seen=difference.seen, changed=len(difference.changed), seconds=round(scan_s, 4)
        )

    def poll(self) -> None:
        """Compare the directories that could not be watched with the disk."""
        if self._reconciler.sees_new_projects:
            self._queue.put_backlog(self._reconciler.scan_unwatched(self._follower.known))
            self._queue.put_backlog([self.handoffs.root])
        else:
            self.reconcile()

    def use_watcher(self, watcher: Watcher) -> None:
        """Replace the watcher and compare everything with the disk."""
        self._reconciler = Reconciler(self._root, watcher)
        self._watchers.use_watcher(watcher)
        self.reconcile()

    def record_idle(self, pause: Pause) -> None:
        """Record that a session has gone idle."""
        batch = self._writer.batch
        with self._follower.rebuilding(pause.session_id, batch):
            self._checkpoints.record_idle(pause, batch)
        self.commit()
        self._idle.mark_reported(pause)

    def record_hook(self, event: HookEvent) -> None:
        """Read the session's transcript up to now, then record the event.

        While more of a long transcript is left, other urgent work goes first and the event is queued again.
        """
        try:
            if self._read_transcripts(event.input):
                self.submit_hook(event)
                return
            if event.input.session_id:
                with self._follower.rebuilding(event.input.session_id, self._writer.batch):
                    if not self._checkpoints.record_hook(event.input, self._writer.batch):
                        self._retry_hook(event)
            self.commit()
        except Exception:
            event.on_done(False)
            raise
        event.on_done(True)

    def submit_hook(self, event: HookEvent) -> None:
        """Record *event*; may be called from any thread."""
        self._queue.submit(partial(self.record_hook, event))

    def _retry_hook(self, event: HookEvent) -> None:
        """Record a new *event* once more: a session's first hooks may come before its transcript exists."""
        hook, fired_at = event.input, event.input.at or time.time()
        if not event.is_retry and time.time() - fired_at < LATE_TRANSCRIPT_S:
            again = HookEvent(msgspec.structs.replace(hook, at=fired_at), lambda _: None, is_retry=True)
            self._scheduler.submit_later(partial(self.record_hook, again), LATE_TRANSCRIPT_S)
        else:
            log.info("hook_dropped", event_name=hook.hook_event_name, reason="its session has no transcript")

    def _run_until_store_fails(self) -> None:
        try:
            self.load()
            while not self._queue.closed.is_set():
                self.step()
            self.commit()
        except StoreError as error:
            # Nothing of the batch was stored: ``load`` drops what is in memory, and it is read again.
            self._gate.failed(error)

    def _process_backlog(self, path: str) -> bool:
        """Process one path of the backlog; return True if more of it is left."""
        self._catch_up.begin()
        unfinished = self._process_path(path, BACKLOG_SLICE_BYTES)
        if unfinished:
            self._queue.put_next(path)
        return unfinished

    def retry(self) -> None:
        """Process the files on the list of failures again."""
        self._queue.put_backlog(self.failures.release())

    def _follow_project(self, state: SessionState) -> None:
        try:
            self._queue.put_backlog(self._watchers.follow(state))
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 one project must not keep the others from being followed
            self.failures.add(state.project, error)

    def _process_path(self, path: str, max_bytes: int) -> bool:
        """Process *path* unless it is to be left alone; return True if more of it is left."""
        return self._isolation.process(path, partial(self._process, path, max_bytes))

    def _process(self, path: str, max_bytes: int) -> bool:
        """Process whatever is at *path*; return True if it is a transcript of which more is left."""
        if path.startswith(self._own):
            return False
        name = transcript_name(path[len(self._root) + 1 :]) if path.startswith(self._root + "/") else None
        if name is not None:
            return self._follower.read(path, name, self._writer.batch, max_bytes)
        if self._root == path or self._root.startswith(path + "/"):
            self.reconcile()  # ``projects`` itself has just been created
        elif self._watchers.owns(path):
            self._process_project_file(path)
        else:
            self._queue.put_backlog(self._reconciler.scan_directory(path, self._follower.known))
        return False

    def _process_project_file(self, path: str) -> None:
        """Process what is watched besides transcripts: git HEAD, tracks, task files, handoff documents."""
        recent, batch = self.status.recent, self._writer.batch
        for root, branch in self._watchers.changed_branches(path):
            self._pipeline.set_branch(branch, recent.active_in(root))
        events = self._watchers.track_events(path)
        for event in events:
            session_id = recent.latest_active_in(event.root)
            if session_id:
                with self._follower.rebuilding(session_id, batch):
                    request = CheckpointRequest(session_id, event.trigger, track=event.track, epic=event.epic)
                    self._checkpoints.record(request, batch)
        if events:
            self.commit()  # they are not found again
        self._writer.batch.facts.extend(self._watchers.facts(path))
        self._queue.put_backlog(self._watchers.scan(path))

    def _read_transcripts(self, hook: HookInput) -> bool:
        """Read a slice of the transcripts that *hook* names; return True if more is left."""
        more_left = False
        for path in filter(None, (hook.transcript_path, hook.agent_transcript_path)):
            resolved = os.path.realpath(os.path.expanduser(path))  # noqa: PTH111 a string is wanted
            more_left |= self._process_path(resolved, URGENT_SLICE_BYTES)
        return more_left

    def commit(self) -> None:
        """Store the batch, watch the projects it names, publish it for status, and announce its facts."""
        batch = self._writer.commit()
        self._isolation.stored()
        if batch is None:
            return
        for fact in batch.facts:  # first of all: who sees a session in status may rely on its project's watch
            if isinstance(fact.body, StateChanged):
                self._follow_project(fact.body.state)
        self.status.note_commit(batch, self._follower.known)
        if batch.stored:
            self._on_commit(batch.stored[-1].seq, batch.stored)
        if any(isinstance(fact.body, HandoffIndexed) for fact in batch.facts):
            self.handoffs.refresh()
