"""Fixtures of the tests that drive real programs."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.client import Ran, has_npm, install_claude, install_node, run_program, sealed_environment
from tests.e2e.fake_api import FakeApi
from tests.e2e.place import Place, RunClaude, StartClaude
from tests.e2e.running_flowd import RunningFlowd, kill_group


@pytest.fixture(scope="session")
def claude() -> Path:
    """The native Claude Code client."""
    if not has_npm():
        pytest.skip("npm is needed to install Claude Code")
    return install_claude()


@pytest.fixture(scope="session")
def node() -> Path:
    """A recent node."""
    if not has_npm():
        pytest.skip("npm is needed to install node")
    return install_node()


@pytest.fixture
def fake_api() -> Iterator[FakeApi]:
    """A Messages API that answers as the test scripts it."""
    with FakeApi() as api:
        yield api


@pytest.fixture
def place(tmp_path: Path, fake_api: FakeApi) -> Place:
    """An empty home and an empty project, with the fake API as the only API."""
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()
    return Place(home, project, sealed_environment(home, fake_api.url))


@pytest.fixture
def run_claude(claude: Path, place: Place) -> RunClaude:
    """Runs the client in the test's project: ``run_claude("-p", "hello", EXTRA="variable")``."""

    def run(*words: str, deadline_s: float = 180, **variables: str) -> Ran:
        environment = {**place.environment, **variables}
        return run_program([str(claude), *words], environment, place.project, deadline_s=deadline_s)

    return run


@pytest.fixture
def start_claude(claude: Path, place: Place) -> Iterator[StartClaude]:
    """Starts the client in the project and does not wait for it; what runs at the end is killed."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str, **variables: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [str(claude), *words],
            env={**place.environment, **variables},
            cwd=place.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            kill_group(process)


@pytest.fixture
def flowd(place: Place, claude: Path) -> Iterator[RunningFlowd]:
    """A flowd whose hooks Claude Code calls; its daemon runs. The project is a repository on ``topic``."""
    # Paths of sockets are short; those of tests are not.
    runtime = tempfile.mkdtemp(prefix="flowd-e2e-", dir="/tmp")
    # flowd runs no program out of a checkout, and the client is installed in this one.
    programs = place.home / "bin"
    programs.mkdir()
    (programs / "claude").symlink_to(claude)
    place.environment.update(
        PATH=f"{programs}{os.pathsep}{place.environment['PATH']}",
        FLOWD_RUNTIME_DIR=runtime,
        FLOWD_STATE_DIR=str(place.home / "state"),
        FLOWD_DATA_DIR=str(place.home / "data"),
        FLOWD_CONFIG=str(place.home / "flowd.yaml"),
    )
    subprocess.run(["git", "init", "-q", "-b", "topic", str(place.project)], check=True)
    running = RunningFlowd(place.environment, place.project)
    installed = running.flowd("install", "--hooks")
    assert installed.returncode == 0, installed.stderr
    running.start()
    try:
        yield running
    finally:
        running.stop()
        shutil.rmtree(runtime)
