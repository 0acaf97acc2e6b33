"""The handoffs of the project a command runs in, on disk and in core.db alike."""

import os
from functools import partial
from pathlib import Path
from typing import NamedTuple

from flowd.actions.context import current_session, open_store, settings_in_force, this_project
from flowd.handoff.markdown.directory import directory_name, handoffs_dir, stat_handoff
from flowd.handoff.markdown.index import ParsedHandoff, parse_file, parsed_handoffs
from flowd.model.facts import HandoffIndexed
from flowd.model.session import SessionState
from flowd.store.documents import Escalation, Ownership, indexed_fact, of_project, open_escalations
from flowd.store.journal import Journal
from flowd.workspace.project import Project

STATES_LOOKED_AT = 20


class ProjectHandoffs(NamedTuple):
    """A project, its journal, and its handoffs, newest first."""

    project: Project
    journal: Journal
    handoffs: str
    shelf: list[ParsedHandoff]
    ownership: Ownership

    @property
    def directory(self) -> str:
        """Where new handoffs go; raises where the path is too long for a name."""
        return os.path.join(self.handoffs, directory_name(self.project.root))

    @property
    def escalations(self) -> list[Escalation]:
        """What waits for a person in this project."""
        return of_project(open_escalations(self.journal), self.project.root)

    def state(self) -> SessionState:
        """Return the state of the session this runs in, else of the project's latest."""
        mine, root = current_session(), self.project.root
        states = self.journal.states_of(root, self.project.repository, STATES_LOOKED_AT)
        known = [state for state in states if (state.session_id == mine if mine else state.project == root)]
        return known[0] if known else SessionState(session_id=mine, project=root)


def open_project() -> ProjectHandoffs:
    """Return the project of the working directory; its handoffs are in core.db from now on."""
    project = this_project()
    handoffs = handoffs_dir(settings_in_force().claude.config_dir)
    journal = Journal(open_store())
    ownership = Ownership(journal)
    places = (project.root, str(Path.cwd()))
    shelf = parsed_handoffs(handoffs, places, partial(ownership.is_foreign, project.root))
    here = ProjectHandoffs(project, journal, handoffs, shelf, ownership)
    _take_in(here)
    return here


def index_file(here: ProjectHandoffs, path: str) -> ParsedHandoff | None:
    """Have core.db know the handoff at *path* as it is now; return it."""
    filed = stat_handoff(path)
    shelved = parse_file(filed) if filed else None
    if shelved is not None:
        here.journal.append(indexed_fact(shelved, here.project.root))
    return shelved


def _take_in(here: ProjectHandoffs) -> None:
    """Tell core.db what a daemon that is not running could not."""
    new = [shelved for shelved in here.shelf if not _is_known(here.journal, shelved)]
    facts = [
        indexed_fact(shelved, here.ownership.owner(shelved.file.path, shelved.document)) for shelved in new
    ]
    if facts:
        here.journal.append(*facts)


def _is_known(journal: Journal, shelved: ParsedHandoff) -> bool:
    fact = journal.fact(f"handoff:{shelved.file.path}")
    if fact is None or not isinstance(fact.body, HandoffIndexed):
        return False
    return (fact.body.modified_ns, fact.body.size) == (shelved.file.modified_ns, shelved.file.size)
