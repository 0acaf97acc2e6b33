"""Saving where a project stands without a session's words: when, on which branch, with which files open."""

from pathlib import Path

import msgspec

from flowd.actions.context import open_store
from flowd.handoff.yaml.document import Handoff, is_absent
from flowd.handoff.yaml.merge import merge_into_file
from flowd.store.handoff_yaml_state import HandoffYamlStates, folder_identity
from flowd.store.user_fields import GUARDED
from flowd.system.errors import StoreError
from flowd.system.times import utc_now
from flowd.workspace.git import read_branch, uncommitted_files
from flowd.workspace.project import FOLDER


def save_state(root: Path) -> None:
    """Renew timestamp, branch and files of the project's handoff.yaml; a person's words stay as they are."""
    is_new = not (root / FOLDER).exists()
    fillings = _fillings(root)
    _claim(root, fillings)
    found = _found(root)
    merge_into_file(root, lambda present: merged(present or {}, fillings, found), touch=True)
    if is_new:
        _claim(root, fillings, folder_identity(str(root)))


def merged(present: Handoff, fillings: Handoff, found: Handoff) -> Handoff:
    """Return *present* with what was *found*, and *fillings* where a required field says nothing."""
    missing = {field: value for field, value in fillings.items() if is_absent(present.get(field))}
    return {**present, **missing, **found, "timestamp": utc_now()}


def _fillings(root: Path) -> Handoff:
    return {"goal": f"Working on {root.name}", "status": "in_progress", "now": "Session in progress"}


def _found(root: Path) -> Handoff:
    known: Handoff = {"branch": read_branch(root), "files": uncommitted_files(str(root))}
    return {field: value for field, value in known.items() if value}


def _claim(root: Path, fillings: Handoff, folder: str = "") -> None:
    """Note these values, and the folder when it is new, as flowd's own: strangers' are not believed."""
    try:
        handoffs = HandoffYamlStates(open_store())
        shown = handoffs.get(str(root))
        ours = {field: str(fillings[field]) for field in GUARDED if field in fillings}
        written = {
            field: (value, *shown.written.get(field, ()))[:2]
            for field, value in ours.items()
            if not shown.is_ours(field, value)
        }
        folder = folder or shown.folder
        handoffs.put(msgspec.structs.replace(shown, written=shown.written | written, folder=folder))
    except StoreError:
        # Without core.db the file is still worth having; `flow trust` can vouch for it.
        return
