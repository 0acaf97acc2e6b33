"""Fixtures of every test: a home of its own, a project, core.db, and a real daemon when asked for."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from flowd.store.database import Database
from flowd.store.migrations import migrate
from tests.support.daemon_home import DaemonHome
from tests.support.real_home import RealHomeGuard
from tests.support.repository import SHARED

# No test is timed: speed is measured by `make bench`, and machines are shared.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

OTHER_ROOTS = ("FLOWD_", "XDG_", "CLAUDE")
GUARD = RealHomeGuard.install()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs the corpus beside the clone where there is none: tests/data has a twin of each."""
    if not SHARED.exists():
        left_out = [item for item in items if item.get_closest_marker("shared")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def real_home() -> Iterator[RealHomeGuard]:
    """Fail a test that touched the home of the person who runs it."""
    GUARD.touched.clear()
    yield GUARD
    assert not GUARD.touched, f"the test touched the real home: {GUARD.touched}"


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the test and its child processes to an empty home; nothing else says where files are."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(OTHER_ROOTS)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A core.db of this version."""
    migrate(tmp_path / "data" / "core.db")
    database = Database(tmp_path / "data" / "core.db")
    yield database
    database.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout on ``main`` in which nothing has happened yet."""
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return root


@pytest.fixture
def daemon_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DaemonHome]:
    """A home for a daemon; whatever runs in it at the end of the test is ended."""
    # Paths of sockets are short; those of tests are not.
    runtime = tempfile.mkdtemp(prefix="flowd-test-", dir="/tmp")
    monkeypatch.setenv("FLOWD_RUNTIME_DIR", runtime)
    monkeypatch.setenv("FLOWD_CONFIG", str(tmp_path / "config.yaml"))
    monkeypatch.setenv("FLOWD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FLOWD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    home = DaemonHome(tmp_path / "claude")
    try:
        yield home
    finally:
        if home.process is not None and home.process.poll() is None:
            home.kill()
        home.command("stop")
        shutil.rmtree(runtime, ignore_errors=True)
