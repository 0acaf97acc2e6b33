"""The threads as the commands use them: in the core.db that the settings name, in this version's shape."""

from collections.abc import Iterator
from contextlib import contextmanager

from flowd.config.paths import resolve_paths
from flowd.config.settings import load_settings
from flowd.handoff.redaction import Redactor
from flowd.store import schema
from flowd.store.database import Database
from flowd.store.threads import Threads


@contextmanager
def open_threads() -> Iterator[Threads]:
    """Give the block the threads of core.db, migrated if need be; what they return is on disk."""
    paths = resolve_paths()
    settings = load_settings(paths.config_file).settings
    database = Database(paths.database_at(settings.store.path), durable=True)
    try:
        schema.ensure_current(database)
        yield Threads(database, Redactor(settings.redaction.patterns))
    finally:
        database.close()
