"""``flowd doctor`` looks at files, settings, the machine, the service and Claude Code."""

import os
import sys
from collections import namedtuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowd.actions.daemon_client import Holder
from flowd.cli.flowd.doctor.daemon import check_config, check_service
from flowd.cli.flowd.doctor.files import check_disk, check_permissions
from flowd.cli.flowd.doctor.finding import DoctorContext, gather_context
from flowd.cli.flowd.doctor.system import check_bd, check_claude, check_git, check_watches
from flowd.cli.flowd.manager.manager import manager_for, this_program
from flowd.config.paths import Paths, resolve_paths
from tests.support.status import running_status

if TYPE_CHECKING:
    from tests.support.stand_in_programs import Managers

NOWHERE = Paths(*[Path("/nowhere")] * 4)
Usage = namedtuple("Usage", ["total", "used", "free"])
LINUX_ONLY = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


def case(**changes: Any) -> DoctorContext:
    return gather_context(resolve_paths())._replace(**changes)


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_files_and_directories_that_others_may_read_are_named_with_the_command() -> None:
    paths = resolve_paths()
    assert check_permissions(case()).level == "ok"
    paths.data_dir.mkdir(mode=0o755, parents=True)
    paths.data_dir.chmod(0o755)
    write(paths.database, "x").chmod(0o644)
    found = check_permissions(case())
    assert found.level == "trouble"
    assert f"{paths.data_dir} has mode 0755" in found.seen
    assert found.fix == f"chmod 700 {paths.data_dir}; chmod 600 {paths.database}"
    paths.data_dir.chmod(0o700)
    paths.database.chmod(0o600)
    assert check_permissions(case()).level == "ok"


@pytest.mark.parametrize(("free", "level"), [(10**12, "ok"), (5 * 10**8, "warning"), (10**6, "trouble")])
def test_little_disk_space_is_said_in_time(free: int, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowd.cli.flowd.doctor.files.shutil.disk_usage", lambda _: Usage(10**13, 0, free))
    assert check_disk(case()).level == level


def test_a_wrong_setting_is_trouble_with_the_nearest_key() -> None:
    assert check_config(case()).level == "ok"
    write(resolve_paths().config_file, "idle:\n  after_minuts: 1\n")
    found = check_config(case())
    assert (found.level, found.fix) == ("trouble", "did you mean idle.after_minutes?")
    assert "unknown key idle.after_minuts" in found.seen


def test_a_file_mended_after_a_failed_reload_is_a_warning() -> None:
    found = check_config(case(status=running_status(settings_error="was wrong")))
    assert (found.level, found.fix) == ("warning", "flowd restart")


@LINUX_ONLY
@pytest.mark.parametrize(
    ("watches", "instances", "level"),
    [(100_000_000, 100_000, "ok"), (3, 100_000, "warning"), (100_000_000, 0, "warning")],
    ids=["plenty", "few watches", "no instance"],
)
def test_too_few_watches_are_said_with_the_command(
    watches: int, instances: int, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "limits" / "max_user_watches", f"{watches}\n")
    write(tmp_path / "limits" / "max_user_instances", f"{instances}\n")
    monkeypatch.setattr("flowd.cli.flowd.doctor.system.LIMITS", tmp_path / "limits")
    for number in range(4):
        (tmp_path / "claude" / "projects" / str(number)).mkdir(parents=True)
    found = check_watches(case(claude_dir=tmp_path / "claude"))
    assert found.level == level
    assert ("sysctl" in found.fix) == (level == "warning")


@LINUX_ONLY
def test_watches_in_use_are_counted_and_polling_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only this process is counted here: others on the machine start and end watches as they like."""
    (tmp_path / "1").symlink_to(f"/proc/{os.getpid()}")
    monkeypatch.setattr("flowd.cli.flowd.doctor.system.PROCESSES", tmp_path)
    from watchdog.events import FileSystemEventHandler
    from watchdog.observers import Observer

    def in_use() -> int:
        return int(check_watches(case()).seen.split()[0])

    before = in_use()
    observer = Observer()
    observer.schedule(FileSystemEventHandler(), str(resolve_paths().config_file.parents[2]))
    observer.start()
    try:
        assert in_use() > before
    finally:
        observer.stop()
        observer.join()
    assert (
        "7 directories are polled"
        in check_watches(case(status=running_status(watches={"asked": 7, "held": 0, "polled": 7}))).seen
    )


def test_claude_code_that_was_never_started_is_only_information(tmp_path: Path) -> None:
    assert check_claude(case(claude_dir=tmp_path)).level == "info"
    (tmp_path / "projects").mkdir()
    assert check_claude(case(claude_dir=tmp_path)).level == "ok"


def test_programs_are_found_on_the_path_with_their_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (check_git(case()).level, check_bd(case()).level) == ("warning", "info")
    write(tmp_path / "bd", "#!/bin/sh\necho bd version 1.2.3\n").chmod(0o755)
    write(tmp_path / "git", "#!/bin/sh\necho broken >&2\nexit 1\n").chmod(0o755)
    assert check_bd(case()).seen == f"bd version 1.2.3 ({tmp_path}/bd)"
    assert check_git(case()).seen == f"{tmp_path}/git does not run: broken"


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_service_is_judged_by_what_its_unit_runs(platform: str, managers: "Managers") -> None:
    manager, right = manager_for(platform), manager_for(platform).unit_text(this_program(resolve_paths()))
    assert check_service(case(), platform).fix == "flowd install"
    write(manager.unit_file, right.replace(sys.executable, "/opt/old/python"))
    assert "another interpreter" in check_service(case(), platform).seen
    write(manager.unit_file, right)
    assert "not enabled" in check_service(case(), platform).seen
    _pretend_enabled(managers, manager.links)
    assert check_service(case(), platform).level == "ok"
    loose = Holder(pid=42, version="1", socket="/s", started_at=1.0)
    assert check_service(case(holder=loose), platform).seen == f"flowd runs outside {manager.name}"
    write(manager.unit_file, right + "\n")
    assert check_service(case(), platform).level == "info"
    managers.go_away()
    assert "not reachable" in check_service(case(), platform).seen


def _pretend_enabled(managers: "Managers", links: list[Path]) -> None:
    (managers.state / "loaded").touch()
    for link in links:
        link.parent.mkdir()
        link.symlink_to("../flowd.service")
