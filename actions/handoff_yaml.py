"""Use-cases of a project's handoff.yaml: init, save the state of the checkout, read it, trust it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.context import Context
from flowd.handoff.yaml.api import get_handoff_path, merge_into_file, update_handoff
from flowd.handoff.yaml.api import read_handoff as read_file
from flowd.handoff.yaml.document import Handoff, default_fields, is_absent
from flowd.store.handoff_fields import GUARDED, HandoffYamlStates
from flowd.store.trust import TrackedGuard
from flowd.system.errors import StoreError
from flowd.system.times import utc_now
from flowd.workspace.git import read_branch, uncommitted_files
from flowd.workspace.project import FOLDER


class InitResult(msgspec.Struct, frozen=True):
    """Where the handoff.yaml is, and whether ``init_project`` created it."""

    path: Path
    is_new: bool


def has_folder(root: str | Path) -> bool:
    """Return True if the project has a .flow-guardian, even a broken link."""
    return os.path.lexists(os.path.join(root, FOLDER))


def read_handoff(root: str | Path) -> Handoff:
    """Return the project's handoff.yaml, empty without a usable one. Create nothing."""
    return read_file(Path(root)) or {}


def init_project(context: Context, root: str) -> InitResult:
    """Create the project's handoff.yaml unless it has one."""
    path = get_handoff_path(Path(root))
    if path.exists() and read_handoff(root):
        return InitResult(path, is_new=False)
    is_new_folder = not has_folder(root)
    fields = default_fields(root, in_session=False) | {"branch": read_branch(root) or None}
    update_handoff(fields, Path(root))
    if is_new_folder:
        claim_folder(context, root)
    return InitResult(path, is_new=True)


def save_state(context: Context, root: str, *, renew: bool = True) -> None:
    """Renew timestamp, branch and files of the handoff.yaml; fill required fields that are absent."""
    refuse_tracked(context, root)
    is_new_folder = not has_folder(root)
    defaults = default_fields(root, in_session=True)
    found = _checkout_state(root)
    claim_values(context, root, defaults)
    merge_into_file(
        root,
        lambda present: merged_state(present or {}, defaults, found, renew=renew),
        touch=True,
        redact=context.redact,
    )
    if is_new_folder:
        claim_folder(context, root)


def merged_state(
    present: Handoff, defaults: dict[str, str], found: Handoff, *, renew: bool = True
) -> Handoff:
    """Return *present* with what was *found*, and *defaults* where a required field is absent.

    Without *renew* it keeps its time: what it says of the work is as old as before.
    """
    missing = {field: value for field, value in defaults.items() if is_absent(present.get(field))}
    is_dated = not renew and not is_absent(present.get("timestamp"))
    timestamp = present["timestamp"] if is_dated else utc_now()
    return {**present, **missing, **found, "timestamp": timestamp}


def claim_folder(context: Context, root: str) -> None:
    """Record that flowd created the project's .flow-guardian, so that its fields are trusted.

    Without core.db the file is still worth having: `flow trust` can accept it later.
    """
    try:
        HandoffYamlStates(context.database).claim_folder(root)
    except StoreError:
        return


def _checkout_state(root: str) -> Handoff:
    known: Handoff = {"branch": read_branch(root), "files": uncommitted_files(root)}
    return {field: value for field, value in known.items() if value}


def claim_values(context: Context, root: str, values: Mapping[str, Any]) -> None:
    """Record values before they are written: after a crash they must still be recognised as ours."""
    try:
        ours = {field: values[field] for field in GUARDED if values.get(field)}
        HandoffYamlStates(context.database).add_written(root, ours)
    except StoreError:
        return  # as in claim_folder


def refuse_tracked(context: Context, root: str) -> None:
    """Raise TrackedHandoffError if git tracks the handoff.yaml and the person has not let flowd write it."""
    guard = TrackedGuard()
    try:
        guard.check(context.journal, root)
    except StoreError:
        if guard.is_tracked(root):
            raise
