"""What the sinks' tests share: a core.db, settings, and states as the journal holds them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flowd.config.live import LiveSettings
from flowd.store.database import Database
from flowd.store.migrations import migrate
from tests.support.beads_project import BeadsProject, make_project


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A core.db of this version."""
    migrate(tmp_path / "data" / "core.db")
    database = Database(tmp_path / "data" / "core.db")
    yield database
    database.close()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A person's config.yaml, still empty."""
    path = tmp_path / "config.yaml"
    path.touch()
    return path


@pytest.fixture
def settings(config: Path) -> LiveSettings:
    """The settings in force; ``reload`` after a change of *config*."""
    return LiveSettings(config)


@pytest.fixture
def beads(tmp_path: Path) -> BeadsProject:
    """A project without issues yet, and a stand-in bd."""
    return make_project(tmp_path)
