"""Checks of what ``flowd install`` sets up: the service, and the hooks of Claude Code."""

import sys

from flowd.cli.flowd.doctor.finding import CheckResult, DoctorContext
from flowd.cli.flowd.install.hooks import HooksState, hooks_state
from flowd.cli.flowd.install.program import this_program
from flowd.cli.flowd.manager.manager import manager_for
from flowd.system.errors import FlowdError


def check_service(case: DoctorContext, platform: str = sys.platform) -> CheckResult:
    """Say whether flowd starts at login, with this interpreter and this environment."""
    manager = manager_for(platform)
    file = manager.unit_file
    if not file.exists():
        return CheckResult("service", "info", "flowd does not start at login", "flowd install")
    if sys.executable not in file.read_text(encoding="utf-8", errors="replace"):
        seen = f"{file} runs another interpreter than this one ({sys.executable})"
        return CheckResult("service", "warning", seen, "flowd install")
    if not manager.reachable():
        return CheckResult(
            "service", "info", f"{file} is there; {manager.name} is not reachable in this session"
        )
    if not manager.enabled():
        return CheckResult("service", "warning", f"{file} is there but not enabled", "flowd install")
    if case.holder and case.holder.pid != manager.owned_pid():
        return CheckResult("service", "warning", f"flowd runs outside {manager.name}", "flowd install")
    if file.read_text(encoding="utf-8", errors="replace") != manager.unit_text(this_program(case.paths)):
        return CheckResult(
            "service", "info", f"{file} differs from what this version writes", "flowd install"
        )
    return CheckResult("service", "ok", f"{file} is enabled and runs this interpreter")


def check_hooks(case: DoctorContext) -> CheckResult:
    """Say whether Claude Code calls flowd, which makes checkpoints prompter but is not needed."""
    file = case.claude_dir / "settings.json"
    try:
        state = hooks_state(file)
    except FlowdError as error:
        return CheckResult("hooks", "warning", str(error), f"check {file}")
    if not state.present:
        return _without_settings_hooks(state)
    if state.disabled:
        return CheckResult("hooks", "warning", f"{file} turns all hooks off", "remove disableAllHooks there")
    if state.missing or state.broken:
        wrong = ", ".join(dict.fromkeys((*state.missing, *state.broken)))
        return CheckResult(
            "hooks", "warning", f"hooks that do not reach flowd: {wrong}", "flowd install --hooks"
        )
    return CheckResult("hooks", "ok", f"{file} calls flowd")


def _without_settings_hooks(state: HooksState) -> CheckResult:
    if state.plugin:
        return CheckResult("hooks", "ok", "Claude Code calls flowd by its plugin")
    return CheckResult("hooks", "info", "not installed; flowd works without them", "flowd install --hooks")
