"""Save a person's fields about the work: to core.db first, then to handoff.yaml."""

from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.context import Context, current_state
from flowd.actions.daemon_client import poke_daemon
from flowd.actions.handoff_yaml import claim_folder, claim_values, has_folder, refuse_tracked
from flowd.actions.works import open_works, work_here
from flowd.handoff.errors import HandoffError
from flowd.handoff.yaml.api import get_handoff_path, merge_into_file
from flowd.handoff.yaml.document import DEFAULT_STATUS, SCHEMA, Handoff, default_fields, updated
from flowd.model.checkpoints import checkpoint_event, checkpoint_fact
from flowd.model.work import Work
from flowd.sinks.handoff_yaml import handoff_of
from flowd.store.handoff_fields import RESET_BY_GOAL, UserFields, user_fields, user_fields_fact
from flowd.store.works import work_fact
from flowd.system.errors import FlowdError, StoreError
from flowd.workspace.git import read_branch, uncommitted_files
from flowd.workspace.project import Project

FIELDS = ("goal", "now", "hypothesis", "outcome", "status")


class SaveRequest(msgspec.Struct, frozen=True):
    """The fields that a person sets; None leaves a field as it is."""

    now: str | None = None
    goal: str | None = None
    hypothesis: str | None = None
    outcome: str | None = None
    status: str | None = None
    files: tuple[str, ...] = ()
    # Fields that flowd fills again.
    cleared: tuple[str, ...] = ()

    def redacted(self, context: Context) -> UserFields:
        """Return the fields that are set, without secrets; a new goal resets status and outcome."""
        given: UserFields = {
            name: context.redact(text) for name in FIELDS if (text := getattr(self, name)) is not None
        }
        for name, text in given.items():
            if not str(text).strip():
                raise FlowdError(f"the {name} is empty", hint=f"`flow save --clear {name}` clears it")
        if "goal" in given:
            given.setdefault("status", "in_progress")
            given.setdefault("outcome", "")
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
    if not fields and not request.cleared:
        raise FlowdError("nothing to save", hint='give a text: `flow save "…"`')
    cleared = (*request.cleared, *_reopened(context, project.root, fields))
    work, store_error = _record(context, project, fields, cleared)
    try:
        handoff = _project(context, project.root, fields, _found_again(project.root, work, cleared))
    except HandoffError as error:
        if store_error is not None:
            raise
        raise FlowdError(f"saved in core.db, but not in handoff.yaml: {error}", hint=error.hint) from error
    is_running = store_error is None and poke_daemon(context.paths)
    return SaveResult(get_handoff_path(Path(project.root)), handoff, is_running, store_error)


def _reopened(context: Context, root: str, fields: UserFields) -> tuple[str, ...]:
    """Return the fields that a new message ends: whoever says what they do now is not done."""
    if "now" not in fields or "status" in fields:
        return ()
    try:
        said = user_fields(context.journal, root)[0]
    except StoreError:
        return ()
    return (
        tuple(field for field in RESET_BY_GOAL if field not in fields)
        if said.get("status") == "completed"
        else ()
    )


def _record(
    context: Context, project: Project, fields: UserFields, cleared: tuple[str, ...]
) -> tuple[Work | None, StoreError | None]:
    """Append the fields and a manual checkpoint; return the work after that, and why core.db refused."""
    try:
        journal = context.journal
        work = _work(context, project)
        state = current_state(journal, project, context.session_id)
        values: dict[str, Any] = {
            field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()
        }
        state = msgspec.structs.replace(state, **values)
        about = work.id if work and not work.is_tentative else ""
        saved = user_fields_fact(journal, project.root, fields, state.session_id, cleared=cleared, work=about)
        journal.append(checkpoint_fact(state, "manual", checkpoint_event("manual", state), ""), saved)
        work = _work(context, project)
        if work:
            journal.append(work_fact(work))
    except StoreError as error:
        return None, error
    return work, None


def _work(context: Context, project: Project) -> Work | None:
    return work_here(open_works(context.database, project.root), project.root, context.session_id)


def _found_again(root: str, work: Work | None, cleared: tuple[str, ...]) -> Handoff:
    """Return the values that flowd derives for the *cleared* fields."""
    found: Handoff = handoff_of(work) if work else dict(default_fields(root, in_session=False))
    return {field: found.get(field) for field in cleared}


def _project(context: Context, root: str, fields: UserFields, found: Handoff) -> Handoff:
    """Merge the fields, the branch and the uncommitted files into handoff.yaml; return what it holds."""
    is_new_folder = not has_folder(root)
    refuse_tracked(context, root)
    changed = uncommitted_files(root)
    reopened = "now" in fields and "status" not in fields
    claim_values(context, root, found | ({"status": DEFAULT_STATUS} if reopened else {}))

    def merge(present: Handoff | None) -> Handoff:
        present = {**(present or dict.fromkeys(SCHEMA)), **found}
        if reopened and present.get("status") == "completed":
            present |= {"status": DEFAULT_STATUS, "outcome": None}
        return updated(present, _updates(root, present, fields, changed))

    merged = merge_into_file(root, merge, touch=True, redact=context.redact)
    if is_new_folder:
        claim_folder(context, root)
    return merged.mapping or {}


def _updates(root: str, present: Handoff, fields: UserFields, changed: list[str]) -> Handoff:
    defaults = default_fields(root, in_session=False)
    updates: Handoff = {field: value or None for field, value in fields.items()}
    updates.setdefault("files", changed or present.get("files") or [])
    updates["branch"] = read_branch(root) or None
    if not present.get("goal"):
        updates.setdefault("goal", fields.get("now") or defaults["goal"])
    if not present.get("now"):
        updates.setdefault("now", defaults["now"])
    return updates
