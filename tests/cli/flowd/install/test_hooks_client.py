"""The client is found where people and installers put it, and asked for its version."""

from pathlib import Path

import pytest

from flowd.cli.flowd.install.hooks import client_version
from flowd.workspace.clients import find_client
from tests.support.stand_in_programs import InstallClient


def test_a_client_that_fails_or_is_not_there_has_no_version(install_client: InstallClient) -> None:
    program = install_client("2.1.75", "broken")
    assert find_client() == str(program)
    assert client_version(str(program)) == (2, 1, 75)
    program.write_text("#!/bin/sh\necho 2.1.75\nexit 1\n")
    assert client_version(str(program)) is None
    assert client_version(str(program.parent / "gone")) is None
    assert client_version(None) is None


def test_a_client_that_is_on_no_path_is_found_in_its_usual_places(
    private_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_client() is None
    program = private_home / ".claude" / "local" / "claude"
    program.parent.mkdir(parents=True)
    program.touch()
    assert find_client() is None
    program.chmod(0o755)
    assert find_client() == str(program)
