"""Checks of the running daemon: lock, socket, version, health, settings, and its service manager."""

import os
import stat
import sys

from flowd import __version__
from flowd.cli.flowd.doctor.finding import CheckResult, DoctorContext
from flowd.cli.flowd.install.login_shell import is_installed, login_file
from flowd.cli.flowd.manager.manager import manager_for, this_program
from flowd.cli.output import ago
from flowd.daemon.control.status import FailureLine
from flowd.system.text import and_more

MAX_NAMED = 5


def check_running(case: DoctorContext) -> CheckResult:
    """Find out whether a daemon runs, by the kernel's lock."""
    if case.holder is None:
        return CheckResult("running", "trouble", "flowd is not running", "flowd start")
    return CheckResult("running", "ok", f"flowd is running (pid {case.holder.pid})")


def check_socket(case: DoctorContext) -> CheckResult:
    """Check that the control socket answers and is private."""
    if case.holder is None:
        return CheckResult("socket", "info", "no socket while flowd is not running")
    if case.status is None:
        return CheckResult("socket", "trouble", case.status_error, "flowd restart")
    status = case.socket.stat()
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077:
        return CheckResult(
            "socket", "trouble", f"{case.socket} has mode {mode:04o}", f"chmod 600 {case.socket}"
        )
    if status.st_uid != os.getuid():
        return CheckResult(
            "socket", "trouble", f"{case.socket} belongs to user {status.st_uid}", "flowd restart"
        )
    return CheckResult("socket", "ok", f"answers at {case.socket}, for this user only")


def check_versions(case: DoctorContext) -> CheckResult:
    """Compare the version of this command with that of the daemon."""
    if case.holder is None:
        return CheckResult("versions", "info", f"this command is {__version__}; no daemon to compare with")
    daemon = case.status.version if case.status else case.holder.version
    if daemon != __version__:
        return CheckResult(
            "versions", "warning", f"this command is {__version__}, the daemon {daemon}", "flowd restart"
        )
    return CheckResult("versions", "ok", f"command and daemon are both {__version__}")


def check_health(case: DoctorContext) -> CheckResult:
    """Report what the daemon itself finds wrong."""
    if case.status is None:
        return CheckResult("health", "info", "unknown while flowd does not answer")
    if case.status.healthy:
        return CheckResult("health", "ok", "the daemon is healthy")
    return CheckResult("health", "warning", "; ".join(case.status.reasons), "flowd status; flowd logs")


def check_files(case: DoctorContext) -> CheckResult:
    """Name the files that flowd leaves out because it cannot process them."""
    if case.status is None:
        return CheckResult("files", "info", "unknown while flowd does not answer")
    failures: list[FailureLine] = case.status.failures
    if not failures:
        return CheckResult("files", "ok", "every file could be processed")
    named = [f"{failure.path}: {failure.error} (since {ago(failure.since)})" for failure in failures]
    return CheckResult(
        "files", "warning", and_more(named, MAX_NAMED, "; "), "correct or remove it, or flowd retry"
    )


def check_config(case: DoctorContext) -> CheckResult:
    """Check that config.yaml is valid and that the daemon has loaded it."""
    file = case.paths.config_file
    if case.settings_error is not None:
        return CheckResult("config", "trouble", str(case.settings_error), case.settings_error.hint)
    if case.status is not None and case.status.settings_error:
        return CheckResult(
            "config", "warning", f"{file} is valid now, but the daemon has not loaded it", "flowd restart"
        )
    return CheckResult(
        "config", "ok", f"{file} is valid" if file.exists() else f"defaults ({file} does not exist)"
    )


def check_records(case: DoctorContext) -> CheckResult:
    """Check that flowd knows every type of record that Claude Code writes."""
    if case.status is None:
        return CheckResult("records", "info", "nothing is known while flowd does not answer")
    unknown: dict[str, int] = case.status.counts.unknown_types
    if not unknown:
        return CheckResult("records", "ok", "every type of record in the transcripts is known")
    named = ", ".join(f"{name} ({count})" for name, count in unknown.items())
    seen = f"types of records that this flowd does not know, and skips: {named}"
    return CheckResult("records", "info", seen, "upgrade flowd, if there is a newer one")


def check_service(case: DoctorContext, platform: str = sys.platform) -> CheckResult:
    """Check that flowd starts at login, with this interpreter and this environment."""
    manager = manager_for(platform)
    file = manager.unit_file
    if is_installed() and not manager.reachable():
        return CheckResult("service", "ok", f"flowd starts from {login_file()}")
    if not file.exists():
        return CheckResult("service", "info", "flowd does not start at login", "flowd install")
    if sys.executable not in file.read_text(encoding="utf-8", errors="replace"):
        seen = f"{file} runs another interpreter than this one ({sys.executable})"
        return CheckResult("service", "warning", seen, "flowd install")
    if not manager.reachable():
        return CheckResult(
            "service", "info", f"{file} exists; {manager.name} is not reachable in this session"
        )
    if not manager.enabled():
        return CheckResult("service", "warning", f"{file} exists but is not enabled", "flowd install")
    if case.holder and case.holder.pid != manager.owned_pid():
        return CheckResult("service", "warning", f"flowd runs outside {manager.name}", "flowd install")
    if file.read_text(encoding="utf-8", errors="replace") != manager.unit_text(this_program(case.paths)):
        return CheckResult(
            "service", "info", f"{file} differs from what this version writes", "flowd install"
        )
    return CheckResult("service", "ok", f"{file} is enabled and runs this interpreter")
