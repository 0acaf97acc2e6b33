"""``.flow-guardian/handoff.yaml``: the current work of the project; user edits are kept."""

import os
import time
from datetime import UTC, datetime
from typing import Any

import msgspec

from flowd.config.settings import LiveSettings
from flowd.handoff.errors import TrackedHandoffError, UnsafeHandoffError
from flowd.handoff.yaml.api import Merged, merge_into_file
from flowd.handoff.yaml.document import default_fields
from flowd.model.facts import Fact, WorkChanged
from flowd.model.work import Work
from flowd.redaction.data import Redact
from flowd.redaction.live import LiveRedactor
from flowd.sinks.protocol import PermanentFailureError
from flowd.store.database import Database
from flowd.store.handoff_fields import GUARDED, HandoffYamlState, HandoffYamlStates, folder_identity
from flowd.store.journal import Journal
from flowd.store.trust import TrackedGuard
from flowd.store.works import Works
from flowd.workspace.git import origin
from flowd.workspace.project import FOLDER

MAX_FILES = 20
DAY_S = 86_400.0
# So long after its last record a work no longer holds its file against another one that goes on.
HELD_S = 600.0
MAX_CACHED = 256


class HandoffYamlSink:
    """Keeps one file per project up to date with its current work."""

    name = "handoff_yaml"
    low_latency = True

    def __init__(self, database: Database, settings: LiveSettings, redact: Redact | None = None) -> None:
        self._settings = settings
        self._redact = redact or LiveRedactor(settings)
        self._handoffs = HandoffYamlStates(database)
        self._works = Works(database)
        self._cached: dict[str, HandoffYamlState] = {}
        self._files: dict[str, Merged] = {}
        self._unsaved: dict[str, HandoffYamlState] = {}
        self._asked: dict[str, tuple[str, float]] = {}
        self._journal = Journal(database)
        self._tracked = TrackedGuard()

    @property
    def debounce_s(self) -> float:
        """Return the minimum time between two writes of one project's file."""
        return self._settings.current.handoff_yaml.debounce_s

    def key(self, fact: Fact) -> str | None:
        """Return the work, not the project: an older work must not replace a newer one in the queue."""
        return fact.body.work.id if fact.project and isinstance(fact.body, WorkChanged) else None

    def accept(self, fact: Fact) -> None:
        """Write the work of *fact* unless the project wants no file or its file shows a newer work."""
        work = fact.body.work if isinstance(fact.body, WorkChanged) else None
        if work is None or not self._is_wanted(work):
            return
        shown = self._state_of_file(work.project)
        if not self._is_newer(shown, work) and not self._is_held(shown, work):
            try:
                self._tracked.check(self._journal, work.project)
            except TrackedHandoffError as error:
                raise PermanentFailureError(str(error), hint=error.hint) from error
            self._write(work, shown)

    def _is_held(self, shown: HandoffYamlState, work: Work) -> bool:
        """Return True if the file shows another work under way, which the person asked for later.

        Without this two sessions at work would take the file from each other at every record.
        """
        held, asked_at = self._asked.get(work.project, ("", 0.0))
        is_other = bool(held) and held != work.id and held == shown.work
        is_held = is_other and asked_at > work.asked_at and work.touched_at - shown.last_activity_at < HELD_S
        if not is_held:
            _remember(self._asked, work.project, (work.id, work.asked_at))
        return is_held

    def flush(self) -> None:
        """Store which work each file shows; the files themselves were synced when they were written."""
        if self._unsaved:
            self._handoffs.put(*self._unsaved.values())
            self._unsaved.clear()

    def _is_wanted(self, work: Work) -> bool:
        settings = self._settings.current.handoff_yaml
        if settings.projects == "none":
            return False
        if time.time() - max(work.touched_at, work.written_at) > settings.fresh_days * DAY_S:
            return False
        required = work.project if settings.projects == "all" else os.path.join(work.project, FOLDER)
        return os.path.isdir(required)  # noqa: PTH112 hot path

    def _is_newer(self, shown: HandoffYamlState, work: Work) -> bool:
        """Return True if the file shows another work that was touched later and is still kept."""
        is_other = shown.session_id not in ("", work.session_id) and shown.last_activity_at > work.touched_at
        return is_other and (shown.work in ("", work.id) or self._works.exists(shown.work))

    def _write(self, work: Work, shown: HandoffYamlState) -> None:
        is_new = not os.path.exists(os.path.join(work.project, FOLDER))  # noqa: PTH110 hot path
        offered = handoff_of(work)
        intended = _intended(work, shown, offered)
        if work.project not in self._cached:
            intended = msgspec.structs.replace(intended, origin=origin(work.project))
        if intended.written != shown.written:
            # Record our values first: after a crash they must still be recognised as ours.
            self._handoffs.put(intended)
        # The user's edits of the file were about the work before.
        is_other_work = bool(shown.work) and shown.work != work.id and not work.is_tentative

        def merge(present: dict[str, Any] | None) -> dict[str, Any] | None:
            merged = merged_handoff(present or {}, offered, intended, override=is_other_work)
            return None if merged == present else merged

        try:
            done = merge_into_file(
                work.project, merge, known=self._files.get(work.project), touch=True, redact=self._redact
            )
        except UnsafeHandoffError as error:
            raise PermanentFailureError(str(error), hint=error.hint) from error
        _remember(self._files, work.project, done)
        if is_new:
            intended = msgspec.structs.replace(intended, folder=folder_identity(work.project))
            self._handoffs.put(intended)
            self._unsaved.pop(work.project, None)
        else:
            self._unsaved[work.project] = intended
        _remember(self._cached, work.project, intended)

    def _state_of_file(self, project: str) -> HandoffYamlState:
        if project in self._unsaved:
            return self._unsaved[project]
        # Until the folder is known to be flowd's own, `flow save` may create it in the meantime.
        shown = self._cached.get(project)
        return shown if shown is not None and shown.folder else self._handoffs.get(project)


def merged_handoff(
    present: dict[str, Any], offered: dict[str, Any], shown: HandoffYamlState, *, override: bool = False
) -> dict[str, Any]:
    """Merge *offered* into *present*; user edits, unknown keys and the order of keys are kept.

    With *override* the user's edits are replaced: they were about other work.
    """
    merged = dict(present)
    for field, value in offered.items():
        is_users = field in GUARDED and merged.get(field) and not shown.is_ours(field, merged[field])
        if (override or not is_users) and (value is not None or field in GUARDED or field not in merged):
            merged[field] = value
    return merged


def handoff_of(work: Work) -> dict[str, Any]:
    """Return the fields of handoff.yaml for *work*."""
    moment = datetime.fromtimestamp(work.touched_at, UTC)
    defaults = default_fields(work.project, in_session=True)
    return {
        "goal": work.goal or work.title or defaults["goal"],
        "status": work.status,
        "now": work.now or defaults["now"],
        "hypothesis": work.hypothesis or None,
        "outcome": work.outcome or None,
        "files": list(work.files[:MAX_FILES]),
        "branch": work.branch or None,
        "timestamp": moment.isoformat(timespec="seconds"),
        "session_id": work.session_id,
    }


def _intended(work: Work, shown: HandoffYamlState, offered: dict[str, Any]) -> HandoffYamlState:
    """Return *shown* with the offered values added to those that flowd wrote."""
    return msgspec.structs.replace(
        shown.with_written({field: offered[field] for field in GUARDED}),
        session_id=work.session_id,
        last_activity_at=work.touched_at,
        work=work.id,
    )


def _remember(cache: dict[str, Any], key: str, value: object) -> None:
    cache.pop(key, None)
    cache[key] = value
    if len(cache) > MAX_CACHED:
        del cache[next(iter(cache))]
