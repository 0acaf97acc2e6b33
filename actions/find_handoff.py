"""Which handoff is meant: the newest, a file, part of a name, or a track of the conductor."""

import os

from flowd.actions.project_handoffs import ProjectHandoffs
from flowd.handoff.markdown.directory import handoff_files, stat_handoff
from flowd.handoff.markdown.index import ParsedHandoff, parse_file
from flowd.system.errors import FlowdError

INDEX = "index.md"


def find_handoff(here: ProjectHandoffs, word: str | None) -> ParsedHandoff:
    """Return the handoff that *word* names, the project's newest without one; raise when there is none."""
    if not word:
        if here.shelf:
            return here.shelf[0]
        raise FlowdError(
            f"no handoff for {here.project.root} yet", hint="write one with `flow handoff create`"
        )
    found = _file(word) or _named(here.shelf, word) or _of_track(here.project.root, word)
    if found is None:
        raise FlowdError(f"no handoff is named {word!r}", hint="`flow handoff log` lists what there is")
    return found


def _file(word: str) -> ParsedHandoff | None:
    filed = stat_handoff(os.path.abspath(os.path.expanduser(word)))  # noqa: PTH100, PTH111 strings are wanted
    return parse_file(filed) if filed else None


def _named(shelf: list[ParsedHandoff], word: str) -> ParsedHandoff | None:
    return next(
        (
            shelved
            for shelved in shelf
            if os.path.basename(shelved.file.path).startswith(word)
            or shelved.document.session_id.startswith(word)
        ),
        None,
    )


def _of_track(root: str, word: str) -> ParsedHandoff | None:
    folder = os.path.join(root, "conductor", "handoffs")
    directory = os.path.join(folder, word)
    if os.path.dirname(os.path.realpath(directory)) != os.path.realpath(folder):
        return None
    files = [filed for filed in handoff_files(directory) if os.path.basename(filed.path) != INDEX]
    return parse_file(files[0]) if files else None
