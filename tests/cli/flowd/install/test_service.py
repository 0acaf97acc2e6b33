"""``flowd install`` and ``flowd uninstall`` with managers that really run what the unit says."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.cli.flowd.install import service as install_service
from flowd.cli.flowd.lifecycle import stop
from flowd.cli.flowd.manager.manager import manager_for
from flowd.config.paths import resolve_paths
from flowd.system.errors import FlowdError

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome
    from tests.support.stand_in_programs import Managers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stand-ins look into /proc")
PLATFORMS = pytest.mark.parametrize("platform", ["linux", "darwin"])


def install(platform: str, *, dry_run: bool = False) -> None:
    install_service.install(resolve_paths(), argparse.Namespace(dry_run=dry_run), platform)


def uninstall(platform: str, *, dry_run: bool = False) -> None:
    install_service.uninstall(resolve_paths(), argparse.Namespace(dry_run=dry_run), platform)


def files_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file() or path.is_symlink()}


@PLATFORMS
def test_a_dry_run_shows_the_file_and_the_commands_and_does_nothing(
    platform: str,
    managers: "Managers",
    private_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    install(platform, dry_run=True)
    shown = capsys.readouterr().out
    assert f"would write  {manager_for(platform).unit_file}" in shown
    assert sys.executable in shown
    assert "would run  " in shown
    assert managers.calls() == []
    assert files_in(private_home) == set()
    assert not (tmp_path / "state").exists()


@PLATFORMS
def test_installing_starts_a_daemon_that_the_manager_owns_in_the_same_home(
    platform: str, managers: "Managers", daemon_home: "DaemonHome", capsys: pytest.CaptureFixture[str]
) -> None:
    install(platform)
    shown = capsys.readouterr().out
    assert f"wrote  {manager_for(platform).unit_file}" in shown
    assert f"flowd is running (pid {managers.pid()})" in shown
    assert all(f"run  {call}" in shown for call in managers.calls())
    assert daemon_home.status()["pid"] == managers.pid()


@PLATFORMS
def test_installing_twice_changes_nothing(
    platform: str, managers: "Managers", capsys: pytest.CaptureFixture[str]
) -> None:
    install(platform)
    calls, pid = managers.calls(), managers.pid()
    capsys.readouterr()
    install(platform)
    assert "nothing to do" in capsys.readouterr().out
    assert (managers.calls(), managers.pid()) == (calls, pid)


@PLATFORMS
def test_a_changed_unit_is_written_again_and_the_daemon_replaced(
    platform: str, managers: "Managers", daemon_home: "DaemonHome"
) -> None:
    """On a Mac the first bootstrap after a bootout fails, and is tried again."""
    install(platform)
    first = managers.pid()
    manager_for(platform).unit_file.write_text("an older version wrote this")
    install(platform)
    assert managers.pid() != first
    assert daemon_home.status()["pid"] == managers.pid()


@PLATFORMS
def test_a_daemon_that_runs_on_its_own_is_stopped_first_and_that_is_said(
    platform: str, managers: "Managers", daemon_home: "DaemonHome", capsys: pytest.CaptureFixture[str]
) -> None:
    loose = daemon_home.start()
    daemon_home.process = None
    install(platform)
    assert (
        f"stopped  the flowd that ran outside the service manager (pid {loose.pid})"
        in capsys.readouterr().out
    )
    assert loose.wait(30) == 0
    assert daemon_home.status()["pid"] == managers.pid()


@PLATFORMS
def test_without_a_manager_the_unit_is_written_and_one_line_says_what_to_do(
    platform: str, managers: "Managers", daemon_home: "DaemonHome", capsys: pytest.CaptureFixture[str]
) -> None:
    daemon_home.start()
    managers.go_away()
    install(platform)
    shown = capsys.readouterr().out
    assert "but does not start at login" in shown
    assert manager_for(platform).unit_file.exists()
    assert daemon_home.status()["running"]


@PLATFORMS
def test_uninstalling_stops_it_removes_exactly_its_files_and_leaves_the_data(
    platform: str, managers: "Managers", private_home: Path, tmp_path: Path
) -> None:
    install(platform)
    neighbour = manager_for(platform).unit_file.with_name("neighbour")
    neighbour.touch()
    uninstall(platform, dry_run=True)
    assert manager_for(platform).unit_file.exists()
    uninstall(platform)
    assert files_in(private_home) == {neighbour}
    assert stop(resolve_paths()).value == "was not running"
    assert (tmp_path / "data").is_dir()


@PLATFORMS
def test_uninstalling_what_is_not_there_says_so_and_succeeds(
    platform: str, managers: "Managers", capsys: pytest.CaptureFixture[str]
) -> None:
    uninstall(platform)
    assert "nothing to remove" in capsys.readouterr().out
    assert managers.calls() == []


def test_uninstalling_without_a_manager_removes_its_link_too(
    managers: "Managers", private_home: Path
) -> None:
    install("linux")
    managers.go_away()
    uninstall("linux")
    assert files_in(private_home) == set()


def test_a_wrong_setting_is_named_before_anything_is_written(
    managers: "Managers", private_home: Path
) -> None:
    resolve_paths().config_file.write_text("nonsense: 1\n")
    with pytest.raises(FlowdError, match="unknown key nonsense"):
        install("linux")
    assert files_in(private_home) == set()


def test_what_the_manager_refuses_is_passed_on(managers: "Managers", private_home: Path) -> None:
    (private_home / ".config/systemd/user").mkdir(parents=True)
    (private_home / ".config/systemd/user/default.target.wants").touch()
    with pytest.raises(FlowdError, match=r"`systemctl --user enable flowd\.service` failed: "):
        install("linux")


def test_a_passing_interpreter_is_warned_about(
    managers: "Managers", monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("flowd.cli.flowd.install.service.sys.executable", "/tmp/gone/bin/python")
        install("linux", dry_run=True)
    assert "/tmp/gone/bin/python is temporary" in capsys.readouterr().err


def test_the_verbs_do_the_same_and_say_where_the_data_is(
    managers: "Managers", daemon_home: "DaemonHome"
) -> None:
    installed = daemon_home.command("install")
    # A checkout below a temporary directory is warned about, and installed all the same.
    complaints = [
        line for line in installed.stderr.splitlines() if not line.startswith(("flowd: warning", "  "))
    ]
    assert (installed.returncode, complaints) == (0, [])
    assert daemon_home.command("status").returncode == 0
    removed = daemon_home.command("uninstall")
    assert (removed.returncode, removed.stderr) == (0, "")
    assert str(daemon_home.paths.data_dir) in removed.stdout
    assert daemon_home.command("status").returncode == 3
