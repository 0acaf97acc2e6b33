"""``.flow-guardian/handoff.yaml``: the most recently active session of the project; user edits are kept."""

import os
import time
from datetime import UTC, datetime
from typing import Any

import msgspec

from flowd.config.live import LiveSettings
from flowd.handoff.errors import UnsafeHandoffError
from flowd.handoff.yaml.document import default_fields
from flowd.handoff.yaml.merge import Merged, merge_into_file
from flowd.model.facts import Checkpointed, Fact, StateChanged
from flowd.model.session import SessionState, latest_activity
from flowd.redaction.data import Redact
from flowd.redaction.live import LiveRedactor
from flowd.sinks.protocol import PermanentFailureError
from flowd.store.database import Database
from flowd.store.handoff_yaml_state import HandoffYamlState, HandoffYamlStates, folder_identity
from flowd.store.user_fields import GUARDED
from flowd.workspace.project import FOLDER

MAX_FILES = 20
DAY_S = 86_400.0
MAX_CACHED = 256


class HandoffYamlSink:
    """Keeps one file per project up to date with its latest main session."""

    name = "handoff_yaml"
    low_latency = True

    def __init__(self, database: Database, settings: LiveSettings, redact: Redact | None = None) -> None:
        self._settings = settings
        self._redact = redact or LiveRedactor(settings)
        self._handoffs = HandoffYamlStates(database)
        self._cached: dict[str, HandoffYamlState] = {}
        self._files: dict[str, Merged] = {}
        self._unsaved: dict[str, HandoffYamlState] = {}

    @property
    def debounce_s(self) -> float:
        """Return the minimum time between two writes of one project's file."""
        return self._settings.current.handoff_yaml.debounce_s

    def key(self, fact: Fact) -> str | None:
        """Return the session, not the project: an older session must not replace a newer one in the queue."""
        return fact.session_id if fact.project and _state_of(fact) is not None else None

    def accept(self, fact: Fact) -> None:
        """Write the state of *fact* unless the project wants no file or its file shows a newer session."""
        state = _state_of(fact)
        if state is None or not self._is_wanted(state):
            return
        shown = self._state_of_file(state.project)
        if shown.session_id not in ("", state.session_id) and shown.last_activity_at > latest_activity(state):
            return
        self._write(state, shown)

    def flush(self) -> None:
        """Store which session each file shows; the files themselves were synced when they were written."""
        if self._unsaved:
            self._handoffs.put(*self._unsaved.values())
            self._unsaved.clear()

    def _is_wanted(self, state: SessionState) -> bool:
        settings = self._settings.current.handoff_yaml
        if settings.projects == "none" or state.vanished_at:
            return False
        if time.time() - latest_activity(state) > settings.fresh_days * DAY_S:
            return False
        required = state.project if settings.projects == "all" else os.path.join(state.project, FOLDER)
        return os.path.isdir(required)  # noqa: PTH112 hot path

    def _write(self, state: SessionState, shown: HandoffYamlState) -> None:
        is_new = not os.path.exists(os.path.join(state.project, FOLDER))  # noqa: PTH110 hot path
        offered = _offered(state)
        intended = _intended(state, shown, offered)
        if intended.written != shown.written:
            # Record our values first: after a crash they must still be recognised as ours.
            self._handoffs.put(intended)

        def merge(present: dict[str, Any] | None) -> dict[str, Any] | None:
            merged = merged_handoff(present or {}, offered, intended)
            return None if merged == present else merged

        try:
            done = merge_into_file(
                state.project, merge, known=self._files.get(state.project), touch=True, redact=self._redact
            )
        except UnsafeHandoffError as error:
            raise PermanentFailureError(str(error), hint=error.hint) from error
        _remember(self._files, state.project, done)
        if is_new:
            intended = msgspec.structs.replace(intended, folder=folder_identity(state.project))
            self._handoffs.put(intended)
            self._unsaved.pop(state.project, None)
        else:
            self._unsaved[state.project] = intended
        _remember(self._cached, state.project, intended)

    def _state_of_file(self, project: str) -> HandoffYamlState:
        if project in self._unsaved:
            return self._unsaved[project]
        # Until the folder is known to be flowd's own, `flow save` may create it in the meantime.
        shown = self._cached.get(project)
        return shown if shown is not None and shown.folder else self._handoffs.get(project)


def _state_of(fact: Fact) -> SessionState | None:
    if isinstance(fact.body, StateChanged):
        return fact.body.state
    # A session without a transcript has checkpoints only.
    if isinstance(fact.body, Checkpointed) and not fact.body.state.records:
        return fact.body.state
    return None


def merged_handoff(
    present: dict[str, Any], offered: dict[str, Any], shown: HandoffYamlState
) -> dict[str, Any]:
    """Merge *offered* into *present*; user edits, unknown keys and the order of keys are kept."""
    merged = dict(present)
    for field, value in offered.items():
        is_users = field in GUARDED and merged.get(field) and not shown.is_ours(field, merged[field])
        if not is_users and (value is not None or field in GUARDED or field not in merged):
            merged[field] = value
    return merged


def _offered(state: SessionState) -> dict[str, Any]:
    moment = datetime.fromtimestamp(latest_activity(state), UTC)
    defaults = default_fields(state.project, in_session=True)
    return {
        "goal": state.goal or state.title or defaults["goal"],
        "status": state.status,
        "now": state.now or defaults["now"],
        "hypothesis": state.hypothesis or None,
        "outcome": state.outcome or None,
        "files": list(state.files[:MAX_FILES]),
        "branch": state.branch or None,
        "timestamp": moment.isoformat(timespec="seconds"),
        "session_id": state.session_id,
    }


def _intended(state: SessionState, shown: HandoffYamlState, offered: dict[str, Any]) -> HandoffYamlState:
    """Return *shown* with the offered values added to those that flowd wrote."""
    return msgspec.structs.replace(
        shown.with_written({field: offered[field] for field in GUARDED}),
        session_id=state.session_id,
        last_activity_at=latest_activity(state),
    )


def _remember(cache: dict[str, Any], key: str, value: object) -> None:
    cache.pop(key, None)
    cache[key] = value
    if len(cache) > MAX_CACHED:
        del cache[next(iter(cache))]
