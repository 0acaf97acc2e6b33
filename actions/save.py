"""Save a person's fields about the work: to core.db first, then to handoff.yaml."""

from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.context import Context
from flowd.actions.daemon_client import poke_daemon
from flowd.actions.handoff_yaml import claim_folder, has_folder
from flowd.actions.session import current_state
from flowd.handoff.errors import HandoffError
from flowd.handoff.yaml.api import get_handoff_path
from flowd.handoff.yaml.document import Handoff, default_fields, updated
from flowd.handoff.yaml.merge import merge_into_file
from flowd.model.checkpoints import checkpoint_fact, moment
from flowd.store.user_fields import UserFields, user_fields_fact
from flowd.system.errors import FlowdError, StoreError
from flowd.workspace.git import read_branch, uncommitted_files
from flowd.workspace.project import Project


class SaveRequest(msgspec.Struct, frozen=True):
    """The fields that a person sets; None leaves a field as it is."""

    now: str | None = None
    goal: str | None = None
    hypothesis: str | None = None
    outcome: str | None = None
    status: str | None = None
    files: tuple[str, ...] = ()

    def redacted(self, context: Context) -> UserFields:
        """Return the fields that are set, without secrets."""
        names = ("goal", "now", "hypothesis", "outcome", "status")
        given: UserFields = {
            name: context.redact(text) for name in names if (text := getattr(self, name)) is not None
        }
        return given | ({"files": [context.redact(name) for name in self.files]} if self.files else {})


class SaveResult(msgspec.Struct, frozen=True):
    """The handoff.yaml as it is now. ``store_error`` is set when core.db could not take the fields."""

    path: Path
    handoff: Handoff
    is_daemon_running: bool
    store_error: StoreError | None = None


def save(context: Context, project: Project, request: SaveRequest) -> SaveResult:
    """Record *request* in core.db, project it to handoff.yaml, and wake the daemon.

    core.db is the truth, so it comes first: after a crash in between, the daemon still knows the fields.
    The file is written even if core.db is unavailable, because then it is the only copy.
    """
    fields = request.redacted(context)
    store_error = _record(context, project, fields)
    try:
        handoff = _project(context, project.root, fields)
    except HandoffError as error:
        if store_error is not None:
            raise
        raise FlowdError(f"saved in core.db, but not in handoff.yaml: {error}", hint=error.hint) from error
    is_running = store_error is None and poke_daemon(context.paths)
    return SaveResult(get_handoff_path(Path(project.root)), handoff, is_running, store_error)


def _record(context: Context, project: Project, fields: UserFields) -> StoreError | None:
    """Append the fields and a manual checkpoint in one transaction; return why core.db refused."""
    try:
        journal = context.journal
        state = current_state(journal, project, context.session_id)
        values: dict[str, Any] = {
            field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()
        }
        state = msgspec.structs.replace(state, **values)
        facts = [checkpoint_fact(state, "manual", moment("manual", state), "")]
        if fields:
            facts.append(user_fields_fact(journal, project.root, fields, state.session_id))
        journal.append(*facts)
    except StoreError as error:
        return error
    return None


def _project(context: Context, root: str, fields: UserFields) -> Handoff:
    """Merge the fields, the branch and the uncommitted files into handoff.yaml; return what it holds."""
    is_new_folder = not has_folder(root)
    changed = uncommitted_files(root)

    def merge(present: Handoff | None) -> Handoff:
        return updated(present, _updates(root, present or {}, fields, changed))

    merged = merge_into_file(root, merge, touch=True, redact=context.redact)
    if is_new_folder:
        claim_folder(context, root)
    return merged.mapping or {}


def _updates(root: str, present: Handoff, fields: UserFields, changed: list[str]) -> Handoff:
    defaults = default_fields(root, in_session=False)
    updates: Handoff = dict(fields)
    updates.setdefault("files", changed or present.get("files") or [])
    updates["branch"] = read_branch(root) or None
    if not present.get("goal"):
        updates.setdefault("goal", fields.get("now") or defaults["goal"])
    if not present.get("now"):
        updates.setdefault("now", defaults["now"])
    return updates
