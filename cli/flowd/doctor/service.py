"""Check of what ``flowd install`` sets up at the service manager."""

import sys

from flowd.cli.flowd.doctor.finding import CheckResult, DoctorContext
from flowd.cli.flowd.install.program import this_program
from flowd.cli.flowd.manager.manager import manager_for


def check_service(case: DoctorContext, platform: str = sys.platform) -> CheckResult:
    """Check that flowd starts at login, with this interpreter and this environment."""
    manager = manager_for(platform)
    file = manager.unit_file
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
