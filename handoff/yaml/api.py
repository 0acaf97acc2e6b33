"""The functions of the handoff specification: where handoff.yaml is, and loading, saving, updating it."""

import os
from collections.abc import Mapping
from pathlib import Path

from flowd.handoff.errors import BrokenHandoffError, HandoffError, UnsafeHandoffError, warn, wrap_os_errors
from flowd.handoff.yaml.document import Handoff, updated, validated
from flowd.handoff.yaml.merge import merge_into_file
from flowd.handoff.yaml.storage import HANDOFF, Folder, read_stored, remove_file
from flowd.workspace.project import FOLDER, find_project_root


def get_handoff_path(project_root: Path | None = None) -> Path:
    """Return where the project's handoff.yaml is, whether it exists or not."""
    return _root(project_root) / FOLDER / HANDOFF


def load_handoff(project_root: Path | None = None) -> Handoff | None:
    """Return the project's handoff, creating its folder; None without a file, or after a warning.

    The specification wants the folder created; what only reads uses ``read_handoff``.
    """
    root = _root(project_root)
    try:
        Folder(root).close()
    except UnsafeHandoffError:
        pass  # read_handoff logs it
    except HandoffError:
        # A folder that is missing and cannot be created holds no handoff; anything else is worth an error.
        if os.path.lexists(root / FOLDER):
            raise
    return read_handoff(root)


def read_handoff(project_root: Path) -> Handoff | None:
    """Return the project's handoff, None without a file, or after a warning. Create nothing."""
    try:
        return read_stored(project_root).mapping
    except (BrokenHandoffError, UnsafeHandoffError) as error:
        warn("handoff_not_loaded", path=str(project_root / FOLDER / HANDOFF), reason=str(error))
        return None


def save_handoff(data: Mapping[str, object], project_root: Path | None = None) -> Path:
    """Write *data* as the project's whole handoff; raise ``ValueError`` with the name of a wrong field."""
    root, handoff = _root(project_root), validated(data)
    _make_root(root)
    merge_into_file(root, lambda _: handoff, touch=True)
    return root / FOLDER / HANDOFF


def update_handoff(updates: Mapping[str, object], project_root: Path | None = None) -> Handoff:
    """Merge *updates* into the project's handoff, new or present; return the result."""
    root = _root(project_root)
    _make_root(root)
    merged = merge_into_file(root, lambda present: updated(present, updates), touch=True)
    assert merged.mapping is not None
    return merged.mapping


def clear_handoff(project_root: Path | None = None) -> bool:
    """Delete the project's handoff file but not its folder; return True if there was one."""
    root = _root(project_root)
    if not os.path.lexists(root / FOLDER):
        return False
    with Folder(root) as folder:
        folder.lock()
        return remove_file(folder)


def _root(project_root: Path | None) -> Path:
    return find_project_root() if project_root is None else Path(project_root)


def _make_root(root: Path) -> None:
    with wrap_os_errors("making", root):
        root.mkdir(parents=True, exist_ok=True)
