"""Check of the hooks by which Claude Code calls flowd: they lead to it, and the client takes them."""

from pathlib import Path

from flowd.cli.flowd.doctor.client import ClientAnswer, ask_client
from flowd.cli.flowd.doctor.finding import CheckResult, DoctorContext
from flowd.cli.flowd.install.hook_settings import HooksState, hooks_state
from flowd.hooks.command import known_events
from flowd.system.errors import FlowdError

INSTALL = "flowd install --hooks"


def check_hooks(context: DoctorContext) -> CheckResult:
    """Check that Claude Code calls flowd, which makes checkpoints prompter but is not needed."""
    file = context.claude_dir / "settings.json"
    try:
        state = hooks_state(file)
    except FlowdError as error:
        return CheckResult("hooks", "warning", str(error), f"check {file}")
    if not state.present:
        return _without_settings_hooks(state)
    if state.disabled:
        return CheckResult("hooks", "warning", f"{file} turns all hooks off", "remove disableAllHooks there")
    client = ask_client(state.events)
    if client.accepts is False:
        return _dropped(file, state, client)
    return _unfit(state, client) or CheckResult("hooks", "ok", f"{file} calls flowd{_verified(client)}")


def _without_settings_hooks(state: HooksState) -> CheckResult:
    if state.plugin:
        return CheckResult("hooks", "ok", "Claude Code calls flowd by its plugin")
    return CheckResult("hooks", "info", "not installed; flowd works without them", INSTALL)


def _dropped(file: Path, state: HooksState, client: ClientAnswer) -> CheckResult:
    """Return the finding that the client was asked and drops the whole *file*."""
    unknown = [event for event in state.events if event not in known_events(client.version)]
    listed = " or ".join(unknown) or "one of its hooks"
    seen = f"{client.name} drops all of {file}, its permissions too: it does not know {listed}"
    if set(unknown) & set(state.present):
        return CheckResult("hooks", "trouble", seen, INSTALL)
    return CheckResult("hooks", "trouble", seen, f"upgrade Claude Code, or remove {listed} from {file}")


def _unfit(state: HooksState, client: ClientAnswer) -> CheckResult | None:
    """Return what is wrong with flowd's own hooks, by what the table says of the client's version."""
    wanted = known_events(client.version)
    if wrong := [event for event in wanted if event not in state.present or event in state.broken]:
        return CheckResult("hooks", "warning", f"hooks that do not reach flowd: {', '.join(wrong)}", INSTALL)
    if surplus := [event for event in state.present if event not in wanted]:
        seen = f"not every client knows {', '.join(surplus)}, and one that does not drops all settings"
        return CheckResult("hooks", "warning", seen, INSTALL)
    return None


def _verified(client: ClientAnswer) -> str:
    if client.accepts:
        return f"; {client.name} was asked and accepts its hooks"
    if client.version:
        return f"; {client.name} could not be asked, but its version knows the events"
    return "; no claude is here to ask whether it accepts its hooks"
