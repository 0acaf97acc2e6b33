"""Load, save, update and merge handoff.yaml; each change is one step under the file's lock."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from flowd.handoff.errors import (
    BrokenHandoffError,
    HandoffError,
    HandoffValidationError,
    UnsafeHandoffError,
    warn,
    wrap_os_errors,
)
from flowd.handoff.yaml.codec import MAX_FILE_BYTES, render
from flowd.handoff.yaml.document import (
    Handoff,
    copied,
    in_file_order,
    is_same,
    plain_mapping,
    same_but_for_time,
    updated,
    validated,
)
from flowd.handoff.yaml.storage import (
    HANDOFF,
    LOCK_WAIT_S,
    NOTHING,
    Folder,
    Signature,
    Stored,
    read_file,
    read_stored,
    remove_file,
    set_aside,
    signature_of,
    sweep,
    write_file,
)
from flowd.redaction.data import Redact, redact_data
from flowd.system.times import is_moment
from flowd.workspace.project import FOLDER, find_project_root

Merge = Callable[[Handoff | None], Handoff | None]


class Merged(NamedTuple):
    """The file after a merge; pass it as *known* next time to skip parsing."""

    stored: Stored
    written: bool
    kept_aside: str | None = None

    @property
    def mapping(self) -> Handoff | None:
        """The content of the file."""
        return self.stored.mapping

    @property
    def signature(self) -> Signature | None:
        """The signature of the file."""
        return self.stored.signature


def merge_into_file(
    root: str | os.PathLike[str],
    merge: Merge,
    *,
    known: Merged | None = None,
    touch: bool = False,
    wait_s: float = LOCK_WAIT_S,
    redact: Redact | None = None,
) -> Merged:
    """Call *merge* with the present mapping under the lock and write its result, new secrets masked.

    Nothing is written when it returns None, or, unless *touch*, when only the timestamp would change.
    The mapping handed to *merge* is a copy it may change; what it returns is not validated.
    """
    with Folder(root) as folder:
        folder.lock(wait_s)
        present, broken = _present(folder, known)
        wanted = merge(copied(present.mapping))
        if wanted is None:
            return Merged(present, written=False)
        wanted = redact_changes(wanted, present.mapping, redact or _built_in_redact())
        wanted = in_file_order(wanted, present.mapping)
        if not touch and not broken and same_but_for_time(present.mapping, wanted):
            return Merged(present, written=False)
        data = _rendered(wanted, present.header)
        aside = set_aside(folder) if broken else None
        signature = write_file(folder, data)
        return Merged(Stored(wanted, present.header, signature), written=True, kept_aside=aside)


def _rendered(wanted: Handoff, header: str) -> bytes:
    data = render(wanted, header)
    if len(data) > MAX_FILE_BYTES:
        raise HandoffValidationError(
            f"The handoff would take {len(data)} bytes, more than the limit of {MAX_FILE_BYTES}",
            hint="shorten its longest field or its list of files",
        )
    return data


def _built_in_redact() -> Redact:
    # Imported here: its patterns are a third of this package's start-up, and readers need none of them.
    from flowd.redaction.redactor import redact

    return redact


def _present(folder: Folder, known: Merged | None) -> tuple[Stored, bool]:
    if known and known.signature and signature_of(HANDOFF, dir_fd=folder.descriptor) == known.signature:
        return known.stored, False
    sweep(folder)
    try:
        return read_file(folder), False
    except BrokenHandoffError as error:
        warn("handoff_broken", path=os.path.join(folder.path, HANDOFF), reason=str(error))
        return NOTHING, True


def redact_changes(wanted: Mapping[str, object], present: Handoff | None, redact: Redact) -> Handoff:
    """Return *wanted* made plain, with secrets masked in every value that *present* does not already hold."""
    known = present or {}
    cleaned: Handoff = {}
    for key, value in wanted.items():
        if key in known and is_same(known[key], value):
            cleaned[key] = known[key]
        elif isinstance(value, str) and is_moment(value):
            cleaned[key] = value
        else:
            for name, news in plain_mapping({key: value}).items():
                cleaned[name] = _redact_change(name, news, known.get(name), redact)
    return cleaned


def _redact_change(key: str, value: object, present: object, redact: Redact) -> object:
    if value == present:
        return value
    if isinstance(value, list) and isinstance(present, list):
        return [item if item in present else redact_data(item, redact, key) for item in value]
    return redact_data(value, redact, key)


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


def handoff_problem(project_root: Path) -> str:
    """Return why the project's handoff.yaml cannot be used, empty if it can or if there is none."""
    try:
        read_stored(project_root)
    except HandoffError as error:
        return str(error)
    return ""


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
