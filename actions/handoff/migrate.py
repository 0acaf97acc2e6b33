"""Rename handoff directories that the first version of the contract named."""

import os

from flowd.actions.context import Context
from flowd.actions.daemon_client import poke_daemon
from flowd.handoff.markdown.directory import Move, handoffs_dir, migrate_directory, planned_moves
from flowd.handoff.markdown.index import refresh_index
from flowd.store.documents import moved_fact


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
