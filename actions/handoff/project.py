"""The handoff documents of one project, on disk and in core.db."""

import os
from functools import partial
from pathlib import Path
from typing import NamedTuple

from flowd.actions.context import Context, current_state, find_project
from flowd.actions.daemon_client import poke_daemon
from flowd.handoff.markdown.directory import (
    Move,
    directory_name,
    handoffs_dir,
    migrate_directory,
    planned_moves,
)
from flowd.handoff.markdown.index import ParsedHandoff, parsed_handoffs, refresh_index
from flowd.model.facts import HandoffIndexed
from flowd.model.session import SessionState
from flowd.store.documents import (
    Escalation,
    Ownership,
    indexed_fact,
    moved_fact,
    of_project,
    open_escalations,
)
from flowd.store.journal import Journal
from flowd.workspace.project import Project


class ProjectHandoffs(NamedTuple):
    """A project with its handoff documents, the newest first."""

    context: Context
    project: Project
    handoffs_dir: str
    documents: list[ParsedHandoff]
    ownership: Ownership

    @property
    def root(self) -> str:
        """The project's directory."""
        return self.project.root

    @property
    def journal(self) -> Journal:
        """The journal of core.db."""
        return self.context.journal

    @property
    def newest(self) -> ParsedHandoff | None:
        """The newest handoff document, None without any."""
        return self.documents[0] if self.documents else None

    @property
    def directory(self) -> str:
        """The directory for new handoff documents; raise HandoffNameError if the path is too long for one.

        The contract names it after the working directory, which may lie below the project's root.
        """
        return os.path.join(self.handoffs_dir, directory_name(str(Path.cwd())))

    @property
    def escalations(self) -> list[Escalation]:
        """The escalations of this project that no person has acknowledged."""
        return of_project(open_escalations(self.journal), self.root)

    def state(self) -> SessionState:
        """Return the state of the session this process runs in, else of the latest one in this project."""
        return current_state(self.journal, self.project, self.context.session_id)


def open_project(context: Context) -> ProjectHandoffs:
    """Read the handoffs of the working directory's project, and index in core.db those that are new."""
    project = find_project()
    handoffs = handoffs_dir(context.settings.claude.config_dir)
    ownership = Ownership(context.journal)
    places = (project.root, str(Path.cwd()))
    documents = parsed_handoffs(handoffs, places, partial(ownership.is_foreign, project.root))
    _index_new(context, documents, ownership)
    return ProjectHandoffs(context, project, handoffs, documents, ownership)


def _index_new(context: Context, documents: list[ParsedHandoff], ownership: Ownership) -> None:
    """Index what a daemon that is not running could not."""
    journal = context.journal
    new = [parsed for parsed in documents if not _is_indexed(journal, parsed)]
    facts = [
        indexed_fact(parsed, ownership.owner(parsed.file.path, parsed.document), context.redact)
        for parsed in new
    ]
    if facts:
        journal.append(*facts)


def _is_indexed(journal: Journal, parsed: ParsedHandoff) -> bool:
    fact = journal.fact(f"handoff:{parsed.file.path}")
    if fact is None or not isinstance(fact.body, HandoffIndexed):
        return False
    return (fact.body.modified_ns, fact.body.size) == (parsed.file.modified_ns, parsed.file.size)


def plan_migration(context: Context) -> list[Move]:
    """Return the directories that would be renamed."""
    return planned_moves(handoffs_dir(context.settings.claude.config_dir))


def migrate(context: Context, moves: list[Move]) -> None:
    """Carry out *moves*. The old name, which identifies the project better, is kept in core.db."""
    for move in moves:
        before = os.path.basename(move.source)
        facts = [moved_fact(path, before) for path in migrate_directory(move)]
        if facts:
            context.journal.append(*facts)
        refresh_index(move.target, context.redact)
    if moves:
        poke_daemon(context.paths)
