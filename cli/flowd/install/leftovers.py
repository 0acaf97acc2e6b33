"""What ``flowd uninstall`` leaves: the data and files of projects, listed, and with ``--purge`` removed."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flowd.actions.context import Context
from flowd.cli.output import home_relative, size
from flowd.config.paths import Paths
from flowd.handoff.markdown.directory import handoffs_dir
from flowd.store.handoff_fields import HandoffYamlStates, folder_identity
from flowd.system.errors import FlowdError
from flowd.workspace.project import FOLDER

# What flowd itself puts into a .flow-guardian.
OWN_NAMES = ("handoff.yaml", ".gitignore", ".lock")
OWN_STARTS = ("handoff.yaml.", ".handoff.yaml")


class Leftover(NamedTuple):
    """One file or folder: what it is, and whether ``--purge`` may remove it."""

    path: Path
    what: str
    removable: bool


def leftovers(paths: Paths) -> list[Leftover]:
    """Return everything that flowd has written and that still exists."""
    found = [*_project_folders(paths), *_documents(paths)]
    places = {
        paths.data_dir: "sessions, works, threads, knowledge (core.db and its backups)",
        paths.socket.parent: "the control socket",
        paths.state_dir: "logs, backups of edited files",
        paths.config_file: "your settings",
    }
    kept = [place for place in places if os.path.lexists(place)]
    found += [Leftover(place, places[place], removable=True) for place in kept if not _is_within(place, kept)]
    return found


def print_left(found: list[Leftover]) -> None:
    """Print what stays, and how to remove it."""
    if not found:
        return
    print("left as it is:")
    for one in found:
        print(f"  {home_relative(str(one.path))}  ({one.what}, {_measure(one.path)})")
    print("`flowd uninstall --purge` removes it, but the handoff documents and what others wrote")


def purge(found: list[Leftover], *, dry_run: bool) -> None:
    """Remove what is flowd's own; print each path removed, and what stays."""
    kept = []
    for one in found:
        if not one.removable:
            kept.append(one)
            continue
        word = "would remove" if dry_run else "removed"
        print(f"{word}  {home_relative(str(one.path))}  ({_measure(one.path)})")
        if not dry_run:
            _remove(one.path)
    for one in kept:
        print(f"left     {home_relative(str(one.path))}  ({one.what})")


def _project_folders(paths: Paths) -> Iterator[Leftover]:
    """Yield the .flow-guardian folders; those that flowd created and only flowd wrote to are removable."""
    for project, created in _projects(paths):
        folder = Path(project, FOLDER)
        if not folder.is_dir() or folder.is_symlink():
            continue
        foreign = [name for name in sorted(os.listdir(folder)) if not _is_own(name)]
        if created and not foreign:
            yield Leftover(folder, "handoff.yaml of a project", removable=True)
        else:
            also = f", also {', '.join(foreign)}" if foreign else ", not created by flowd"
            yield Leftover(folder, f"handoff.yaml of a project{also}", removable=False)


def _projects(paths: Paths) -> list[tuple[str, bool]]:
    """Return the projects that flowd knows, and whether it created the .flow-guardian of each."""
    with Context(paths) as context:
        try:
            if not paths.database_at(context.settings.store.path).exists():
                return []
            states = HandoffYamlStates(context.database)
            projects = sorted({*states.projects(), *context.journal.projects()})
            created = [(project, states.get(project).folder) for project in projects]
        except FlowdError:
            return []
    return [(project, bool(folder) and folder == folder_identity(project)) for project, folder in created]


def _documents(paths: Paths) -> Iterator[Leftover]:
    try:
        with Context(paths) as context:
            directory = Path(handoffs_dir(context.settings.claude.config_dir))
    except FlowdError:
        return
    if directory.is_dir():
        yield Leftover(directory, "handoff documents, yours and automatic ones", removable=False)


def _is_own(name: str) -> bool:
    return name in OWN_NAMES or name.startswith(OWN_STARTS)


def _is_within(place: Path, others: list[Path]) -> bool:
    return any(other in place.parents for other in others)


def _measure(path: Path) -> str:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    total = sum(file.lstat().st_size for file in files)
    return f"{len(files)} file{'s' if len(files) != 1 else ''}, {size(total)}"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    parent = path.parent
    if parent.name == "flowd" and parent.is_dir() and not any(parent.iterdir()):
        parent.rmdir()
