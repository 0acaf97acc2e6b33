"""core.db as the thread commands use it: where the settings say, in this version's shape."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flowd.config.paths import resolve_paths
from flowd.config.settings import load_settings
from flowd.store import schema
from flowd.store.database import Database


@contextmanager
def open_threads() -> Iterator[Database]:
    """Give the block core.db, migrated if need be, with every write on disk when it returns."""
    paths = resolve_paths()
    named = load_settings(paths.config_file).settings.store.path
    database = Database(Path(named).expanduser() if named else paths.database, durable=True)
    try:
        schema.ensure_current(database)
        yield database
    finally:
        database.close()
