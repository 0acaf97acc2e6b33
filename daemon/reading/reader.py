"""The reader: the one thread that reads transcripts and writes the journal."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from flowd.config.logs import log
from flowd.daemon import memory as heap
from flowd.daemon.hooks.checkpoints import Checkpointer, Moments
from flowd.daemon.projects.handoff_files import HandoffFiles
from flowd.daemon.projects.resolver import ProjectResolver
from flowd.daemon.projects.watchers import ProjectWatchers, default_handoffs_dir
from flowd.daemon.reading.follower import Follower
from flowd.daemon.reading.identity import KnownFiles
from flowd.daemon.reading.pipeline import Pipeline
from flowd.daemon.reading.queue import ReaderQueue
from flowd.daemon.reading.recent import SESSIONS_SHOWN, RecentSessions
from flowd.daemon.reading.reconcile import Reconciler
from flowd.daemon.reading.watcher import Watcher
from flowd.daemon.store_gate import StoreGate
from flowd.extractors.transcript.paths import transcript_name
from flowd.extractors.transcript.session import StaleMemoryError
from flowd.model.facts import Fact, HandoffIndexed, StateChanged
from flowd.model.hook_input import HookInput
from flowd.model.session import SessionState, latest_activity
from flowd.store.idle import IdleTable, Pause
from flowd.store.journal import Batch, Journal
from flowd.store.schema import made_at
from flowd.store.sources import Source
from flowd.system.errors import StoreError

BATCH_BYTES = 8 << 20
BATCH_SESSIONS = 32
# In the middle of a file the state is a passing one, and every sink would take it for nothing.
LONG_FILE_BYTES = 4 * BATCH_BYTES
LIVE_S = 86_400.0
# Transcripts that are written to at present are asked for again and again.
AT_HAND = 256
FOLD_WITHIN_S = 0.3
STOPS_KEPT = 5
CATCHING_UP_SWITCH_S = 0.0001
USUAL_SWITCH_S = 0.005


class ReaderProgress(NamedTuple):
    """How far the reader is, for status: replaced as a whole, never changed."""

    transcripts: int = 0
    sessions: int = 0
    last_commit_at: float = 0.0
    last_reconciled_at: float = 0.0
    scan_s: float = 0.0
    catching_up: bool = False


class Reader:
    """Follows every transcript that a hint names; facts and positions are stored together."""

    def __init__(
        self,
        projects_dir: str,
        gate: StoreGate,
        hints: ReaderQueue,
        watcher: Watcher,
        on_commit: Callable[[int, Sequence[Fact]], None],
        task_globs: Sequence[str] = (),
        handoffs_dir: str = "",
    ) -> None:
        self._root = projects_dir
        self._gate = gate
        self._journal = Journal(gate.database)
        self._hints = hints
        self._reconciler = Reconciler(projects_dir, watcher)
        handoffs_dir = handoffs_dir or default_handoffs_dir(projects_dir)
        self._around = ProjectWatchers(self._journal, watcher, task_globs, handoffs_dir)
        self._on_commit = on_commit
        places = ProjectResolver()
        self._pipeline = Pipeline(self._journal.memory, places)
        self._checkpointer = Checkpointer(self._pipeline, places)
        self._files = Follower(hints, self._pipeline, self._between_chunks)
        self._moments = Moments(self._pipeline, self._checkpointer, self._journal)
        self._made_at = 0.0
        self._idle = IdleTable(gate.database)
        self.progress = ReaderProgress()
        self.totals: dict[str, int] = {}
        self.recent = RecentSessions()

    @property
    def handoffs(self) -> HandoffFiles:
        """The handoff documents being followed."""
        return self._around.handoffs

    def run(self) -> None:
        """Read until the hints are closed, and leave every cursor at a line boundary."""
        try:
            while not self._hints.closed and self._gate.open(self._hints):
                self._live()
        finally:
            self._gate.database.drop_connection()

    def reconcile(self) -> None:
        """Find by comparison what events did not tell; to be run as a task of the hints."""
        started = time.monotonic()
        self._gate.database.connection()  # raises when core.db was taken away meanwhile
        difference = self._reconciler.everything(self._files.known)
        for path in difference.missing:
            self._look(path)
        self._hints.put_backlog(difference.changed)
        self._hints.put_backlog(self._around.places())
        self._files.batch.facts.extend(self.handoffs.everything())
        scan_s = time.monotonic() - started
        self.progress = self.progress._replace(
            transcripts=difference.seen,
            sessions=difference.sessions,
            last_reconciled_at=time.time(),
            scan_s=scan_s,
        )
        log.debug(
            "reconciled", seen=difference.seen, changed=len(difference.changed), seconds=round(scan_s, 4)
        )

    def poll(self) -> None:
        """Look into the directories that could not be watched; to be run as a task of the hints."""
        if self._reconciler.sees_new_projects:
            self._hints.put_backlog(self._reconciler.unheld(self._files.known))
            self._files.batch.facts.extend(self.handoffs.everything())
        else:
            self.reconcile()

    def use_watcher(self, watcher: Watcher) -> None:
        """Go on with a new watcher; to be run as a task of the hints."""
        self._reconciler = Reconciler(self._root, watcher)
        self._around.use_watcher(watcher)
        self.reconcile()

    def tell_idle(self, pause: Pause) -> None:
        """Note that a session has gone idle; to be run as a task of the hints."""
        self._with_memory(pause.session_id, partial(self._moments.idle, pause, self._files.batch))
        self._commit()
        self._idle.mark_reported(pause)

    def on_hook(self, hook: HookInput, done: Callable[[], None]) -> None:
        """Take what a hook announces: read the transcript up to now, keep the moment, then say *done*."""
        try:
            for path in (hook.transcript_path, hook.agent_transcript_path):
                if path:
                    self._look(os.path.realpath(os.path.expanduser(path)))  # noqa: PTH111 a string is wanted
            if hook.session_id:
                self._with_memory(hook.session_id, partial(self._moments.hook, hook, self._files.batch))
            self._commit()
        finally:
            done()

    def _with_memory(self, session_id: str, action: Callable[[], None]) -> None:
        """Run *action*; when the session's memory is of an older format, rebuild it instead."""
        try:
            action()
        except StaleMemoryError as error:
            self._files.rebuild(session_id, error)

    def _live(self) -> None:
        try:
            self._load()
            self._follow()
        except StoreError as error:
            # Nothing of the batch was kept, so nothing may be remembered of it: it is read again.
            self._gate.failed(error)
            self._pipeline.forget_all()
            self._files.batch = Batch()

    def _load(self) -> None:
        self._files.known = KnownFiles(self._journal.sources())
        self._made_at = made_at(self._gate.database)
        self.handoffs.load()
        self._journal.prune(STOPS_KEPT)
        self.totals = self._journal.counters()
        for state in self._journal.latest_states(SESSIONS_SHOWN):
            self._show(state, 0, latest_activity(state))
        self.recent.publish()
        self.reconcile()

    def _follow(self) -> None:
        while not self._hints.closed:
            self._turn()
        self._commit()

    def _turn(self) -> None:
        """Wait for hints and follow them."""
        tasks, urgent, backlog = self._hints.take()
        started_s = time.thread_time()
        for task in tasks:
            task()
        for path in urgent:
            self._look(path)
        if backlog is not None:
            self._catch_up(backlog)
        if backlog is None or not self._hints.has_backlog or self._is_full():
            self._commit()
        if not self._files.batch:
            self._release_memory()
        if urgent and not tasks:
            self._hints.pace.spent(time.thread_time() - started_s, len(urgent))

    def _catch_up(self, path: str) -> None:
        if not self.progress.catching_up:
            sys.setswitchinterval(CATCHING_UP_SWITCH_S)  # so that status is answered meanwhile
            self.progress = self.progress._replace(catching_up=True)
        self._look(path)

    def _release_memory(self) -> None:
        """All is stored: keep nothing that only reading or catching up has needed."""
        self._files.known.settle(0 if self.progress.catching_up else AT_HAND)
        if not self.progress.catching_up:
            return
        has_read = self._pipeline.release_memory()
        if self._hints.has_backlog:
            return
        sys.setswitchinterval(USUAL_SWITCH_S)
        self.progress = self.progress._replace(catching_up=False)
        if has_read:
            self._gate.database.shrink()
            heap.trim()

    def _look(self, path: str) -> None:
        """Look at *path*, whatever it is."""
        name = transcript_name(path[len(self._root) + 1 :]) if path.startswith(self._root + "/") else None
        if name is None:
            self._look_elsewhere(path)
        else:
            self._files.look(path, name)

    def _look_elsewhere(self, path: str) -> None:
        """Look at what is no transcript: a project's surroundings, or a directory that has appeared."""
        if self._root == path or self._root.startswith(path + "/"):
            self.reconcile()  # ``projects`` itself has just come into being
        elif self._around.owns(path):
            self._look_around(path)
        else:
            self._hints.put_backlog(self._reconciler.directory(path, self._files.known))
            self._look_below_if_gone(path)

    def _look_around(self, path: str) -> None:
        for root, branch in self._around.moved_branches(path):
            self._pipeline.move_branch(branch, self.recent.at_work_in(root))
        for seen in self._around.conducted(path):
            session_id = self.recent.latest_at_work_in(seen.root)
            if session_id:
                keep = partial(self._moments.conductor, session_id, seen, self._files.batch)
                self._with_memory(session_id, keep)
        self._files.batch.facts.extend(self._around.facts(path))
        self._hints.put_backlog(self._around.scan(path))

    def _look_below_if_gone(self, directory: str) -> None:
        """Miss every transcript of a directory that was moved or deleted as a whole."""
        if not os.path.isdir(directory):  # noqa: PTH112 hot path
            for path in [path for path in self._files.known.by_path if path.startswith(directory + "/")]:
                self._look(path)

    def _between_chunks(self, source: Source) -> None:
        """Store what is enough, and let what happens now pass before the rest of a long file."""
        if self._files.batch.bytes_read >= LONG_FILE_BYTES:
            self._commit()
        if not self.progress.catching_up or not self._hints.has_urgent:
            return
        tasks, urgent, _ = self._hints.take()
        for task in tasks:
            task()
        for path in urgent:
            if path != source.path:
                self._look(path)
        if urgent:
            self._commit()

    def _is_full(self) -> bool:
        """Say whether the batch holds enough; many small transcripts make as much work as a large one."""
        return self._files.batch.bytes_read >= BATCH_BYTES or self._pipeline.moved >= BATCH_SESSIONS

    def _commit(self) -> None:
        self._pipeline.finish(self._files.batch)
        self._checkpointer.make_missed(self._files.batch, self._made_at)
        if not self._files.batch:
            return
        batch, self._files.batch = self._files.batch, Batch()
        newest = self._journal.commit(batch)
        self._gate.passed()
        if self._gate.database.wal_is_large:
            self._hints.put_task_later(self._gate.database.checkpoint_wal, FOLD_WITHIN_S)
        self._publish(batch)
        if newest:
            self._on_commit(newest, batch.stored)

    def _publish(self, batch: Batch) -> None:
        now = time.time()
        totals = dict(self.totals)
        for name, value in batch.counters.items():
            totals[name] = totals.get(name, 0) + value
        self.totals = totals
        lags = {
            source.session_id: max(0, source.size - source.offset)
            for source in batch.sources.values()
            if not source.is_subagent
        }
        has_handoffs = False
        for fact in batch.facts:
            if isinstance(fact.body, StateChanged):
                self._show(fact.body.state, lags.get(fact.session_id, 0), now)
            elif isinstance(fact.body, HandoffIndexed):
                has_handoffs = True
        if has_handoffs:
            self.handoffs.refresh()
        self.recent.publish()
        self.progress = self.progress._replace(last_commit_at=now)
        if len(self._files.known.by_path) > self.progress.transcripts:
            self._recount()

    def _recount(self) -> None:
        live = self._files.known.by_path.values()
        sessions = sum(not source.is_subagent for source in live)
        self.progress = self.progress._replace(transcripts=len(live), sessions=sessions)

    def _show(self, state: SessionState, lag_bytes: int, progress_at: float) -> None:
        self.recent.put(state, lag_bytes, progress_at)
        if state.project and time.time() - latest_activity(state) < LIVE_S:
            places = self._around.follow(state.project)
            if places:
                self._hints.put_backlog(places)
