"""core.db as each released version left it: literal SQL, independent of the migrations under test.

The first script makes the oldest schema with one row of each kind; each later one is the change of a release.
"""

import sqlite3
from pathlib import Path

from tests.support.repository import ROOT

SCHEMAS = ROOT / "tests" / "store" / "schemas"


def make_released(name: str, path: Path) -> Path:
    """Make *path* the core.db of the version that ended with migration *name*; create its directory."""
    scripts = sorted(SCHEMAS.glob("*.sql"))
    newest = scripts.index(SCHEMAS / f"{name}.sql")
    path.parent.mkdir(exist_ok=True)
    for script in scripts[: newest + 1]:
        connection = sqlite3.connect(
            path
        )  # a script that writes sqlite_master needs a new connection after it
        connection.executescript(script.read_text(encoding="utf-8"))
        connection.close()
    return path
