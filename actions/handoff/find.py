"""Find a handoff document by its file, a part of its name, its session or its track."""

import os

from flowd.actions.handoff.project import ProjectHandoffs
from flowd.handoff.markdown.directory import handoff_files, stat_handoff
from flowd.handoff.markdown.index import ParsedHandoff, parse_file
from flowd.system.errors import FlowdError

INDEX = "index.md"


def find_handoff(handoffs: ProjectHandoffs, name: str | None) -> ParsedHandoff:
    """Return the handoff called *name*, without a name the newest; raise FlowdError if there is none."""
    if not name:
        if handoffs.newest:
            return handoffs.newest
        raise FlowdError(f"no handoff for {handoffs.root} yet", hint="write one with `flow handoff create`")
    found = _by_path(name) or _by_name(handoffs.documents, name) or _by_track(handoffs.root, name)
    if found is None:
        raise FlowdError(f"no handoff matches {name!r}", hint="list them with `flow handoff log`")
    return found


def _by_path(name: str) -> ParsedHandoff | None:
    file = stat_handoff(os.path.abspath(os.path.expanduser(name)))  # noqa: PTH100, PTH111 strings are wanted
    return parse_file(file) if file else None


def _by_name(documents: list[ParsedHandoff], name: str) -> ParsedHandoff | None:
    for parsed in documents:
        if os.path.basename(parsed.file.path).startswith(name) or parsed.document.session_id.startswith(name):
            return parsed
    return None


def _by_track(root: str, name: str) -> ParsedHandoff | None:
    folder = os.path.join(root, "conductor", "handoffs")
    directory = os.path.join(folder, name)
    if os.path.dirname(os.path.realpath(directory)) != os.path.realpath(folder):
        return None
    files = [file for file in handoff_files(directory) if os.path.basename(file.path) != INDEX]
    return parse_file(files[0]) if files else None
