"""``flowd setup``, ``flowd install`` without a service manager, and ``flowd uninstall --purge``."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowd.cli.flowd.install.login_shell import BEGIN
from tests.support.daemon_home import DaemonHome


@pytest.fixture
def home(daemon_home: DaemonHome, private_home: Path) -> Iterator[DaemonHome]:
    """A home without systemd and without Claude Code."""
    programs = private_home / "bin"
    programs.mkdir()
    for name in ("git", "sh", "env"):
        (programs / name).symlink_to(f"/usr/bin/{name}")
    daemon_home.env |= {"PATH": str(programs), "SHELL": "/bin/bash", "HOME": str(private_home)}
    yield daemon_home
    daemon_home.command("stop")


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_without_a_terminal_nothing_is_done_unless_everything_is_wanted(home: DaemonHome) -> None:
    refused = home.command("setup")
    assert refused.returncode == 1
    assert "flowd setup --yes" in refused.stderr
    assert home.command("status").returncode == 3


def test_it_starts_connects_completes_and_checks(home: DaemonHome, private_home: Path) -> None:
    done = home.command("setup", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert home.command("status").returncode == 0
    assert BEGIN in (private_home / ".profile").read_text()
    assert "SessionStart" in (home.claude_dir / "settings.json").read_text()
    assert (private_home / ".local/share/bash-completion/completions/flow").exists()
    assert done.stdout.index("Check everything") < done.stdout.index("ok       running")
    assert home.command("setup", "--yes").returncode == 0


def test_a_dry_run_changes_nothing(home: DaemonHome, private_home: Path) -> None:
    before = files_in(private_home)
    assert home.command("setup", "--dry-run").returncode == 0
    assert files_in(private_home) == before
    assert home.command("status").returncode == 3


def test_what_setup_changed_is_undone_to_the_byte(home: DaemonHome, private_home: Path) -> None:
    (private_home / ".profile").write_bytes(b"# mine, without a line end")
    home.claude_dir.mkdir(parents=True)
    (home.claude_dir / "settings.json").write_bytes(b'{ "model":"x" }')
    before = files_in(private_home), files_in(home.claude_dir)
    home.command("setup", "--yes")
    left = home.command("uninstall")
    assert left.returncode == 0
    assert (files_in(private_home), files_in(home.claude_dir)) == before
    assert "left as it is:" in left.stdout
    assert str(home.paths.data_dir) in left.stdout


def test_a_purge_removes_data_and_what_flowd_made_in_projects_and_names_the_rest(
    home: DaemonHome, project: Path, private_home: Path
) -> None:
    shared = project.parent / "shared"
    (shared / ".git").mkdir(parents=True)
    (shared / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (shared / ".flow-guardian").mkdir()
    (shared / ".flow-guardian" / "notes.md").write_text("not flowd's")
    for root in (project, shared):
        assert home.flow("-C", str(root), "save", "x").returncode == 0
    refused = home.command("uninstall", "--purge")
    assert refused.returncode == 1
    assert home.paths.data_dir.exists()
    done = home.command("uninstall", "--purge", "--yes")
    assert done.returncode == 0, done.stderr
    assert not home.paths.data_dir.exists()
    assert not home.paths.state_dir.exists()
    assert not (project / ".flow-guardian").exists()
    assert (shared / ".flow-guardian" / "notes.md").exists()
    assert "notes.md" in done.stdout


def test_an_installation_without_a_manager_starts_flowd_and_says_what_is_missing(home: DaemonHome) -> None:
    done = home.command("install")
    assert done.returncode == 0
    assert "does not start at login" in done.stdout
    assert "flowd install --profile" in done.stdout
    assert home.command("status").returncode == 0


def test_a_start_that_cannot_work_says_so_at_once(home: DaemonHome) -> None:
    home.paths.state_dir.mkdir(parents=True)
    home.paths.state_dir.chmod(0o500)
    try:
        if os.access(home.paths.state_dir, os.W_OK):
            pytest.skip("the administrator may write everywhere")
        failed = home.command("start")
        assert failed.returncode == 1
        assert failed.stderr.startswith(f"flowd: cannot write to {home.paths.state_dir}: Permission denied\n")
        assert "0500: flowd cannot write to it" in home.command("doctor").stdout
    finally:
        home.paths.state_dir.chmod(0o700)


def test_a_file_in_the_place_of_a_directory_is_named(home: DaemonHome) -> None:
    home.paths.state_dir.write_text("in the way")
    failed = home.command("start")
    assert failed.returncode == 1
    assert failed.stderr.startswith(f"flowd: {home.paths.state_dir} is not a directory\n")


def test_doctor_repairs_what_it_can(home: DaemonHome) -> None:
    home.command("start")
    home.command("stop")
    home.paths.state_dir.chmod(0o755)
    broken = home.command("doctor")
    assert broken.returncode == 1
    assert "`flowd doctor --fix`" in broken.stdout.splitlines()[-1]
    fixed = home.command("doctor", "--fix")
    assert fixed.returncode == 0, fixed.stdout
    assert "fixed    flowd start" in fixed.stdout
    assert home.paths.state_dir.stat().st_mode & 0o777 == 0o700
    assert home.command("status").returncode == 0


def test_a_claude_directory_that_cannot_be_read_is_named_and_no_sudo_advised(home: DaemonHome) -> None:
    projects = home.claude_dir / "projects"
    projects.mkdir(parents=True)
    projects.chmod(0)
    try:
        if os.access(projects, os.R_OK):
            pytest.skip("the administrator may read everywhere")
        found = home.command("doctor").stdout
        assert f"{projects} cannot be read: Permission denied  ->  chmod u+rwx {projects}" in found
        assert "sysctl" not in found
    finally:
        projects.chmod(0o700)


def test_a_retry_with_nothing_to_retry_says_so(home: DaemonHome) -> None:
    home.command("start")
    assert home.command("retry").stdout == "nothing to retry: no delivery has failed\n"
