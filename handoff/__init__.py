"""The documents flowd keeps: handoff.yaml with the functions of its specification."""

from flowd.handoff.errors import HandoffError, HandoffValidationError
from flowd.handoff.yaml.api import (
    clear_handoff,
    get_handoff_path,
    load_handoff,
    save_handoff,
    update_handoff,
)
from flowd.workspace.project import find_project_root

__all__ = [
    "HandoffError",
    "HandoffValidationError",
    "clear_handoff",
    "find_project_root",
    "get_handoff_path",
    "load_handoff",
    "save_handoff",
    "update_handoff",
]
