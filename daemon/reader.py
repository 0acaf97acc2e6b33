"""The reader: the one thread that reads transcripts and writes the journal."""

import os
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from flowd.config.errors import StoreError
from flowd.config.logs import log
from flowd.daemon import heap
from flowd.daemon.branches import Branches
from flowd.daemon.checkpointer import Checkpointer
from flowd.daemon.conductors import Conductors
from flowd.daemon.handoff_files import HandoffFiles
from flowd.daemon.hints import Hints
from flowd.daemon.hook_input import HookInput
from flowd.daemon.identity import KnownFiles, Recognised
from flowd.daemon.pipeline import Pipeline
from flowd.daemon.places import Places
from flowd.daemon.recent import SESSIONS_SHOWN, RecentSessions
from flowd.daemon.reconcile import Reconciler
from flowd.daemon.store_gate import StoreGate
from flowd.daemon.tailer import LineReader
from flowd.daemon.task_files import TaskFiles
from flowd.daemon.watcher import Watcher
from flowd.extractors.session import StaleMemoryError
from flowd.extractors.transcript_paths import TranscriptName, transcript_name
from flowd.handoff.git_files import read_branch
from flowd.store.facts import (
    Compacted,
    Fact,
    HandoffTaken,
    SessionEnded,
    SessionState,
    StateChanged,
    Trigger,
    WentIdle,
    latest_activity,
)
from flowd.store.idle import IdleTable, Pause
from flowd.store.journal import Batch, Journal
from flowd.store.schema import made_at
from flowd.store.sources import Source

BATCH_BYTES = 8 << 20
BATCH_SESSIONS = 64
MISSING_GRACE_S = 1.0
LIVE_S = 86_400.0
STOPS_KEPT = 5
HOOK_TRIGGERS: dict[str, Trigger] = {"PreCompact": "precompact", "Stop": "stop", "SessionEnd": "session-end"}
CATCHING_UP_SWITCH_S = 0.0002
USUAL_SWITCH_S = 0.005


class Progress(NamedTuple):
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
        hints: Hints,
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
        self._branches = Branches(watcher)
        self._conductors = Conductors(watcher)
        self._task_globs = task_globs
        self._tasks = TaskFiles(watcher, task_globs)
        beside = os.path.join(os.path.dirname(projects_dir), "handoffs")
        self.handoffs = HandoffFiles(handoffs_dir or beside, self._journal, watcher)
        self._on_commit = on_commit
        self._lines = LineReader()
        places = Places()
        self._pipeline = Pipeline(self._journal.memory, places)
        self._checkpointer = Checkpointer(self._pipeline, places)
        self._made_at = 0.0
        self._missing: set[str] = set()
        self._unreadable: set[str] = set()
        self._batch = Batch()
        self._idle = IdleTable(gate.database)
        self._known = KnownFiles([])
        self.progress = Progress()
        self.totals: dict[str, int] = {}
        self.recent = RecentSessions()

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
        difference = self._reconciler.everything(self._known)
        for path in difference.missing:
            self._look(path)
        self._hints.put_backlog(difference.changed)
        self._hints.put_backlog(self._tasks.roots)
        self._hints.put_backlog(self._conductors.places)
        self._batch.facts.extend(self.handoffs.everything())
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
            self._hints.put_backlog(self._reconciler.unheld(self._known))
            self._batch.facts.extend(self.handoffs.everything())
        else:
            self.reconcile()

    def use_watcher(self, watcher: Watcher) -> None:
        """Go on with a new watcher; to be run as a task of the hints."""
        self._reconciler = Reconciler(self._root, watcher)
        self._branches = Branches(watcher)
        self._conductors.use_watcher(watcher)
        self._tasks = TaskFiles(watcher, self._task_globs)
        self.handoffs.use_watcher(watcher)
        self.reconcile()

    def tell_idle(self, pause: Pause) -> None:
        """Note that a session has gone idle; to be run as a task of the hints."""
        minutes = int((time.time() - pause.last_activity_at) // 60)
        key = f"{pause.session_id}:idle:{pause.last_activity_at}"
        self._batch.facts.append(Fact(key, pause.session_id, pause.project, time.time(), WentIdle(minutes)))
        self._with_memory(
            pause.session_id, partial(self._checkpointer.make, pause.session_id, "idle", self._batch)
        )
        self._commit()
        self._idle.told(pause)

    def on_hook(self, hook: HookInput, done: Callable[[], None]) -> None:
        """Take what a hook announces: read the transcript up to now, keep the moment, then say *done*."""
        try:
            for path in (hook.transcript_path, hook.agent_transcript_path):
                if path:
                    self._look(os.path.realpath(os.path.expanduser(path)))  # noqa: PTH111 a string is wanted
            if hook.session_id:
                self._with_memory(hook.session_id, partial(self._keep_moment, hook))
            self._commit()
        finally:
            done()

    def _keep_moment(self, hook: HookInput) -> None:
        trigger = HOOK_TRIGGERS.get(hook.hook_event_name)
        if hook.hook_event_name == "SessionEnd":
            at = hook.at or time.time()
            self._pipeline.end(hook.session_id, at)
            key = f"{hook.session_id}:ended:{at}"
            self._batch.facts.append(Fact(key, hook.session_id, "", at, SessionEnded(hook.reason)))
        if trigger is not None:
            message = hook.last_assistant_message
            since = self._compactions_since(hook) if trigger == "precompact" else 0
            self._checkpointer.make(
                hook.session_id, trigger, self._batch, message=message, cwd=hook.cwd, compactions_since=since
            )

    def _compactions_since(self, hook: HookInput) -> int:
        """Return how many compactions the transcript tells of after *hook* was fired: it may come late."""
        known = [*self._journal.facts_of_session(hook.session_id, "compacted"), *self._batch.facts]
        keys = {
            fact.key
            for fact in known
            if isinstance(fact.body, Compacted) and fact.session_id == hook.session_id and fact.at > hook.at
        }
        return len(keys) if hook.at else 0

    def _with_memory(self, session_id: str, action: Callable[[], None]) -> None:
        """Run *action*; when the session's memory is of an older format, rebuild it instead."""
        try:
            action()
        except StaleMemoryError as error:
            self._rebuild(session_id, error)

    def _live(self) -> None:
        try:
            self._load()
            self._follow()
        except StoreError as error:
            # Nothing of the batch was kept, so nothing may be remembered of it: it is read again.
            self._gate.failed(error)
            self._pipeline.forget_all()
            self._batch = Batch()

    def _load(self) -> None:
        self._known = KnownFiles(self._journal.sources())
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
        if urgent and not tasks:
            self._hints.pace.spent(time.thread_time() - started_s, len(urgent))

    def _catch_up(self, path: str) -> None:
        if not self.progress.catching_up:
            sys.setswitchinterval(CATCHING_UP_SWITCH_S)  # so that status is answered meanwhile
            self.progress = self.progress._replace(catching_up=True)
        self._look(path)
        if not self._hints.has_backlog:
            sys.setswitchinterval(USUAL_SWITCH_S)
            heap.give_back()
            self.progress = self.progress._replace(catching_up=False)

    def _look(self, path: str) -> None:
        """Read what is new at *path*, whatever it is."""
        name = transcript_name(path[len(self._root) + 1 :]) if path.startswith(self._root + "/") else None
        if name is None:
            self._look_elsewhere(path)
            return
        try:
            path.encode()  # core.db keeps text: a name that is none is passed over
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            self._miss(path)
            return
        except (OSError, ValueError) as error:
            self._pass_over(path, error)
            return
        try:
            self._read(path, name, descriptor)
        except OSError as error:
            self._pass_over(path, error)
        finally:
            os.close(descriptor)

    def _pass_over(self, path: str, error: Exception) -> None:
        """Count a transcript that cannot be read, and say so once."""
        if path not in self._unreadable:
            self._unreadable.add(path)
            self._batch.counters["unreadable"] += 1
            log.warning("transcript_unreadable", path=path, error=str(error))

    def _look_elsewhere(self, path: str) -> None:
        """Look at what is no transcript: HEAD of a project's git, or a directory that has appeared."""
        if path.endswith("/HEAD"):
            for root in self._branches.roots_of(path):
                self._pipeline.move_branch(read_branch(root), self.recent.at_work_in(root))
        elif self._conductors.owns(path):
            self._hear_conductor(path)
        elif self.handoffs.owns(path):
            self._batch.facts.extend(self.handoffs.look(path))
        elif path.endswith(".md"):
            self._batch.facts.extend(self._tasks.facts(path))
        elif self._root == path or self._root.startswith(path + "/"):
            self.reconcile()  # ``projects`` itself has just come into being
        elif path in self._tasks.roots:
            self._hints.put_backlog(self._tasks.scan(path))
        else:
            self._hints.put_backlog(self._reconciler.directory(path, self._known))
            self._look_below_if_gone(path)

    def _hear_conductor(self, path: str) -> None:
        """Keep what a conductor did as a moment of the project's latest session, if one is at work."""
        for seen in self._conductors.look(path):
            session_id = self.recent.latest_at_work_in(seen.root)
            if session_id:
                make = partial(self._checkpointer.make, track=seen.track, epic=seen.epic, cwd=seen.root)
                self._with_memory(session_id, partial(make, session_id, seen.trigger, self._batch))

    def _look_below_if_gone(self, directory: str) -> None:
        """Miss every transcript of a directory that was moved or deleted as a whole."""
        if not os.path.isdir(directory):  # noqa: PTH112 hot path
            for path in [path for path in self._known.by_path if path.startswith(directory + "/")]:
                self._look(path)

    def _read(self, path: str, name: TranscriptName, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"not a regular file: {path}")
        self._unreadable.discard(path)
        recognised = self._known.recognise(path, name, descriptor, status)
        if recognised is None:
            return
        source = recognised.source
        self._note_event(recognised)
        source.size, source.mtime_ns = status.st_size, status.st_mtime_ns
        try:
            self._take_all(source, descriptor)
        except StaleMemoryError as error:
            self._rebuild(source.session_id, error)

    def _take_all(self, source: Source, descriptor: int) -> None:
        for chunk in self._lines.chunks(descriptor, source):
            self._pipeline.take(source, chunk, self._batch)
            if self._is_full():
                self._commit()
            if self._hints.closed or source.state != "live":
                return
            self._yield_to_urgent(source)

    def _yield_to_urgent(self, source: Source) -> None:
        """Let what happens now pass before the rest of a long file."""
        if not self.progress.catching_up or not self._hints.has_urgent:
            return
        tasks, urgent, _ = self._hints.take()
        for task in tasks:
            task()
        for path in urgent:
            if path != source.path:
                self._look(path)
        self._commit()

    def _note_event(self, recognised: Recognised) -> None:
        source, event = recognised.source, recognised.event
        self._missing.discard(source.path)
        if recognised.replaced is not None:
            self._batch.add_source(recognised.replaced)
        if not event:
            return
        self._batch.counters[event] += 1
        self._batch.add_source(source)
        log.info("transcript_" + event, path=source.path, offset=source.offset)
        if source.is_subagent or not source.session_id:
            return
        if source.offset == 0:
            self._pipeline.start_over(source.session_id)
        else:
            self._pipeline.touch(source.session_id)

    def _miss(self, path: str) -> None:
        """Take a missing file as vanished only when it is still missing a moment later."""
        source = self._known.by_path.get(path)
        if source is None:
            self._missing.discard(path)
            return
        # While older changes wait, one of them may be this file under its new name.
        if path not in self._missing or self._hints.has_backlog:
            self._missing.add(path)
            self._hints.put_later(path, MISSING_GRACE_S)
            return
        self._missing.discard(path)
        self._known.vanish(source)
        try:
            self._pipeline.vanish(source, self._batch)
        except StaleMemoryError:
            log.warning("vanished_without_memory", path=path)
        log.info("transcript_vanished", path=path, records=source.records, bytes=source.offset)

    def _rebuild(self, session_id: str, reason: StaleMemoryError) -> None:
        """Read a session again from its start: an upgrade changed what is remembered of it."""
        log.info("memory_rebuilt", session=session_id, reason=str(reason))
        self._batch.counters["rebuilt"] += 1
        self._pipeline.start_over(session_id)
        mine = [source for source in self._known.by_path.values() if source.session_id == session_id]
        for source in mine:
            source.offset = source.lines = source.records = 0
            source.tail = b""
            self._batch.add_source(source)
        self._hints.put_backlog(source.path for source in mine)

    def _is_full(self) -> bool:
        """Say whether the batch holds enough; many small transcripts make as much work as a large one."""
        return self._batch.bytes_read >= BATCH_BYTES or self._pipeline.moved >= BATCH_SESSIONS

    def _commit(self) -> None:
        self._pipeline.finish(self._batch)
        self._checkpointer.make_missed(self._batch, self._made_at)
        if not self._batch:
            return
        batch, self._batch = self._batch, Batch()
        newest = self._journal.commit(batch)
        self._gate.passed()
        self._publish(batch)
        if newest:
            self._on_commit(newest, batch.stored)

    def _publish(self, batch: Batch) -> None:
        now = time.time()
        self.totals = dict(Counter(self.totals) + batch.counters)
        lags = {
            source.session_id: max(0, source.size - source.offset)
            for source in batch.sources.values()
            if not source.is_subagent
        }
        for fact in batch.facts:
            if isinstance(fact.body, StateChanged):
                self._show(fact.body.state, lags.get(fact.session_id, 0), now)
        self.recent.publish()
        if any(isinstance(fact.body, HandoffTaken) for fact in batch.facts):
            self.handoffs.refresh()
        self.progress = self.progress._replace(last_commit_at=now)
        if len(self._known.by_path) > self.progress.transcripts:
            self._recount()

    def _recount(self) -> None:
        live = self._known.by_path.values()
        sessions = sum(not source.is_subagent for source in live)
        self.progress = self.progress._replace(transcripts=len(live), sessions=sessions)

    def _show(self, state: SessionState, lag_bytes: int, progress_at: float) -> None:
        self.recent.put(state, lag_bytes, progress_at)
        if state.project and time.time() - latest_activity(state) < LIVE_S:
            self._branches.follow(state.project)
            self._conductors.follow(state.project)
            if self._tasks.follow(state.project):
                self._hints.put_backlog([state.project])
