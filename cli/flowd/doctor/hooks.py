"""Check of the hooks by which Claude Code calls flowd: they reach it, and the client accepts them."""

import json
import shlex
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from flowd.cli.flowd.doctor.finding import CheckResult, DoctorContext
from flowd.cli.flowd.install.hook_settings import HooksState, hooks_state
from flowd.cli.flowd.install.hooks import client_name, client_version, sealed_environment
from flowd.hooks.command import known_events
from flowd.model.client import Version
from flowd.system.errors import FlowdError
from flowd.system.processes import run_program
from flowd.workspace.clients import find_client

INSTALL = "flowd install --hooks"


class ClientAnswer(NamedTuple):
    """The client of this machine, and whether it accepts the hooks in question; None if unknown."""

    program: str | None
    version: Version | None
    accepts: bool | None

    @property
    def name(self) -> str:
        """The client as it is named to people."""
        return client_name(self.version)


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
    """Return the finding that the client ignores the whole *file*."""
    unknown = [event for event in state.events if event not in known_events(client.version)]
    listed = " or ".join(unknown) or "one of its hooks"
    seen = f"{client.name} drops all of {file}, its permissions too: it does not know {listed}"
    if set(unknown) & set(state.present):
        return CheckResult("hooks", "trouble", seen, INSTALL)
    return CheckResult("hooks", "trouble", seen, f"upgrade Claude Code, or remove {listed} from {file}")


def _unfit(state: HooksState, client: ClientAnswer) -> CheckResult | None:
    """Return what is wrong with flowd's hooks, by the table of events that each client version knows."""
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


DEADLINE_S = 30.0


def ask_client(events: Iterable[str]) -> ClientAnswer:
    """Ask the installed client whether it takes hooks for *events*."""
    program = find_client()
    if program is None:
        return ClientAnswer(None, None, None)
    accepts = _runs_hooks(program, events)
    # A client that runs no hook even for the events that all know has another trouble.
    could_be_asked = accepts or _runs_hooks(program, ())
    return ClientAnswer(program, client_version(program), accepts if could_be_asked else None)


def _runs_hooks(program: str, events: Iterable[str]) -> bool:
    """Return True if *program* runs the hook of a settings.json that names *events* as well.

    It starts in an empty home, without credentials or an API; its first hook leaves a mark, the next one
    stops it before its first request. Where it drops the settings it ends for want of a login.
    """
    with tempfile.TemporaryDirectory(prefix="flowd-doctor-") as folder:
        home = Path(folder)
        mark = home / "ran"
        (home / "settings.json").write_text(json.dumps({"hooks": _hooks(events, mark)}), encoding="utf-8")
        command = [program, "-p", "flowd doctor tries your hooks"]
        with suppress(FlowdError, OSError):
            run_program(command, cwd=folder, env=sealed_environment(folder), timeout_s=DEADLINE_S)
        return mark.exists()


def _hooks(events: Iterable[str], mark: Path) -> dict[str, Any]:
    hooks = {event: _hook("true") for event in events}
    hooks["SessionStart"] = _hook(f": > {shlex.quote(str(mark))}")
    hooks["UserPromptSubmit"] = _hook("exit 2")
    return hooks


def _hook(command: str) -> list[dict[str, Any]]:
    return [{"hooks": [{"type": "command", "command": command}]}]
