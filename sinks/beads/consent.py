"""Whether bd may run in a project: it runs hooks of the .beads directory, which a clone may bring."""

# ruff: noqa: PTH114 - os.path answers False where Path raises

import hashlib
import os
from pathlib import Path

from flowd.config.paths import make_private_dir, resolve_paths
from flowd.sinks.beads.directory import FOLDER, BeadsDirectory, find_beads, main_checkout
from flowd.system.files import READ_FLAGS, atomic_write, read_capped
from flowd.workspace.git import tracked_files

HOOKS = "hooks"
CONFIG = "config.yaml"
_MAX_BYTES = 1 << 20
# What bd leaves on the machine where it is used, and keeps out of git.
_TRACES = ("last-touched", "dolt", "embeddeddolt")
_DATABASE_ENDING = ".db"


def missing_consent(beads: BeadsDirectory) -> str:
    """Return why bd may not run in the project before the person accepts it, ``""`` if it may."""
    reason = _reason(beads)
    return "" if not reason or _is_accepted(beads) else reason


def accept(beads: BeadsDirectory) -> None:
    """Record that the person lets bd run here with the hooks and settings as they are now."""
    file = _accepted_file(beads)
    make_private_dir(file.parent)
    atomic_write(file, _digest(beads))


def find_unaccepted(project: str) -> tuple[BeadsDirectory, str] | None:
    """Return the Beads of *project* and why bd may not run there; None if it may or there are none."""
    beads = find_beads(project)
    reason = missing_consent(beads) if beads else ""
    return (beads, reason) if beads and reason else None


def _reason(beads: BeadsDirectory) -> str:
    if hooks := _hooks(beads):
        return f"bd runs {', '.join(f'{FOLDER}/{HOOKS}/{name}' for name in hooks)}"
    if links := _links(beads):
        return f"{', '.join(links)} leads elsewhere"
    folder = os.path.dirname(beads.path)
    tracked = tracked_files(folder, FOLDER)
    if tracked and not _is_used(beads, tracked):
        return f"{FOLDER} came with the repository, and bd has not been used here"
    return ""


def _hooks(beads: BeadsDirectory) -> list[str]:
    folder = os.path.join(beads.path, HOOKS)
    return [name for name in _names(folder) if os.access(os.path.join(folder, name), os.X_OK)]


def _links(beads: BeadsDirectory) -> list[str]:
    """Return what of the directory leads out of the project, itself included."""
    checkouts = filter(None, (beads.project, main_checkout(beads.project)))
    own = {os.path.join(os.path.realpath(checkout), FOLDER) for checkout in checkouts}
    is_own = os.path.realpath(beads.path) in own
    inner = [f"{FOLDER}/{name}" for name in _linked_names(beads)]
    return inner if is_own else [FOLDER, *inner]


def _linked_names(beads: BeadsDirectory) -> list[str]:
    return [name for name in _names(beads.path) if os.path.islink(os.path.join(beads.path, name))]


def _is_used(beads: BeadsDirectory, tracked: frozenset[str]) -> bool:
    return any(
        (name in _TRACES or name.endswith(_DATABASE_ENDING))
        and not any(path == f"{FOLDER}/{name}" or path.startswith(f"{FOLDER}/{name}/") for path in tracked)
        for name in _names(beads.path)
    )


def _accepted_file(beads: BeadsDirectory) -> Path:
    name = hashlib.blake2b(os.fsencode(beads.project), digest_size=8).hexdigest()
    return resolve_paths().state_dir / "beads" / f"{name}.accepted"


def _is_accepted(beads: BeadsDirectory) -> bool:
    try:
        return _accepted_file(beads).read_text("ascii", "replace") == _digest(beads)
    except OSError:
        return False


def _digest(beads: BeadsDirectory) -> str:
    """Return a digest of everything here that may have bd run something."""
    digest = hashlib.blake2b(os.fsencode(os.path.realpath(beads.path)), digest_size=16)
    for name in (*(f"{HOOKS}/{hook}" for hook in _hooks(beads)), CONFIG, *_linked_names(beads)):
        digest.update(b"\0" + os.fsencode(name) + b"\0")
        digest.update(_content(os.path.join(beads.path, name)))
    return digest.hexdigest()


def _content(path: str) -> bytes:
    if os.path.islink(path):
        return os.fsencode(os.path.realpath(path))
    try:
        descriptor = os.open(path, READ_FLAGS | os.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        return read_capped(descriptor, _MAX_BYTES)
    except (OSError, ValueError):
        return os.urandom(8)  # what cannot be read is never the same as before
    finally:
        os.close(descriptor)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
