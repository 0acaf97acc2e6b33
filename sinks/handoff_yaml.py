"""``.flow-guardian/handoff.yaml``: the project's most recently active session; a person's words stand."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from flowd.config.live import LiveSettings
from flowd.handoff.errors import UnsafeHandoffError
from flowd.handoff.yaml.merge import Merged, merge_into_file
from flowd.model.facts import Checkpointed, Fact, StateChanged
from flowd.model.session import SessionState, latest_activity
from flowd.sinks.protocol import PermanentFailureError
from flowd.store.database import Database
from flowd.store.handoff_yaml_state import HandoffYamlState, HandoffYamlStates, folder_identity
from flowd.store.user_fields import GUARDED
from flowd.workspace.project import FOLDER

FILES_SHOWN = 20
DAY_S = 86_400.0
FILES_REMEMBERED = 256
VALUES_KEPT = 16


class HandoffYamlSink:
    """Keeps one file per project in step with its latest main session."""

    name = "handoff_yaml"
    low_latency = True

    def __init__(self, database: Database, settings: LiveSettings) -> None:
        self._settings = settings
        self._handoffs = HandoffYamlStates(database)
        self._shown: dict[str, HandoffYamlState] = {}
        self._files: dict[str, Merged] = {}
        self._unnoted: dict[str, HandoffYamlState] = {}

    @property
    def debounce_s(self) -> float:
        """The least time between two writes of one project's file."""
        return self._settings.current.handoff_yaml.debounce_s

    def key(self, fact: Fact) -> str | None:
        """Return the session; projects share a file, so an older session must not hide a newer one."""
        return fact.session_id if fact.project and _state_of(fact) is not None else None

    def accept(self, fact: Fact) -> None:
        """Write the state of *fact* unless the project has no file to keep or shows a newer session."""
        state = _state_of(fact)
        if state is None or not self._wanted(state):
            return
        shown = self._shown_for(state.project)
        if shown.session_id not in ("", state.session_id) and shown.last_activity_at > latest_activity(state):
            return
        self._write(state, shown)

    def flush(self) -> None:
        """Note which sessions are shown; every file was synced when it was written."""
        if self._unnoted:
            self._handoffs.put(*self._unnoted.values())
            self._unnoted.clear()

    def _wanted(self, state: SessionState) -> bool:
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
        if intended.written != shown.written:  # what is written must be known as flowd's own before it is
            self._handoffs.put(intended)

        def merge(present: dict[str, Any] | None) -> dict[str, Any] | None:
            merged = merged_handoff(present or {}, offered, intended)
            return None if merged == present else merged

        try:
            done = merge_into_file(state.project, merge, known=self._files.get(state.project), touch=True)
        except UnsafeHandoffError as error:
            raise PermanentFailureError(str(error), hint=error.hint) from error
        _remember(self._files, state.project, done)
        if is_new:
            intended = msgspec.structs.replace(intended, folder=folder_identity(state.project))
            self._handoffs.put(intended)
            self._unnoted.pop(state.project, None)
        else:
            self._unnoted[state.project] = intended
        _remember(self._shown, state.project, intended)

    def _shown_for(self, project: str) -> HandoffYamlState:
        if project in self._unnoted:
            return self._unnoted[project]
        # Until flowd's own folder is known, `flow save` may have made it in the meantime.
        shown = self._shown.get(project)
        return shown if shown is not None and shown.folder else self._handoffs.get(project)


def _state_of(fact: Fact) -> SessionState | None:
    if isinstance(fact.body, StateChanged):
        return fact.body.state
    # A session without a transcript is known by its checkpoints alone.
    if isinstance(fact.body, Checkpointed) and not fact.body.state.records:
        return fact.body.state
    return None


def merged_handoff(
    present: dict[str, Any], offered: dict[str, Any], shown: HandoffYamlState
) -> dict[str, Any]:
    """Return *present* with what *offered* may change in it; unknown keys and order stay."""
    merged = dict(present)
    for field, value in offered.items():
        theirs = field in GUARDED and merged.get(field) and not shown.is_ours(field, merged[field])
        if not theirs and (value is not None or field in GUARDED or field not in merged):
            merged[field] = value
    return merged


def _offered(state: SessionState) -> dict[str, Any]:
    moment = datetime.fromtimestamp(latest_activity(state), UTC)
    return {
        "goal": state.goal or state.title or f"Working on {Path(state.project).name}",
        "status": state.status,
        "now": state.now or "Session in progress",
        "hypothesis": state.hypothesis or None,
        "outcome": state.outcome or None,
        "files": list(state.files[:FILES_SHOWN]),
        "branch": state.branch or None,
        "timestamp": moment.isoformat(timespec="seconds"),
        "session_id": state.session_id,
    }


def _intended(state: SessionState, shown: HandoffYamlState, offered: dict[str, Any]) -> HandoffYamlState:
    """Return *shown* with the values about to be offered, so that they are known as flowd's own."""
    written = dict(shown.written)
    for field in GUARDED:
        value = offered[field]
        if value and value not in written.get(field, ())[:1]:
            before = tuple(old for old in written.get(field, ()) if old != value)
            written[field] = (value, *before)[:VALUES_KEPT]
    return msgspec.structs.replace(
        shown, session_id=state.session_id, last_activity_at=latest_activity(state), written=written
    )


def _remember(cache: dict[str, Any], key: str, value: object) -> None:
    cache.pop(key, None)
    cache[key] = value
    if len(cache) > FILES_REMEMBERED:
        del cache[next(iter(cache))]
