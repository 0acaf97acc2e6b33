"""Fixtures of the sinks' tests: settings, and a project with Beads."""

from pathlib import Path

import pytest

from flowd.config.settings import LiveSettings
from tests.support.beads_project import BeadsProject, make_project


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
