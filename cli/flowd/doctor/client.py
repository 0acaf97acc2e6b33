"""Asking the installed Claude Code whether it takes a settings.json with hooks for certain events."""

import json
import shlex
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from flowd.cli.flowd.install.client import client_name, client_version, find_client, sealed_environment
from flowd.model.client import Version
from flowd.system.errors import FlowdError
from flowd.system.processes import run_program

DEADLINE_S = 30.0


class ClientAnswer(NamedTuple):
    """The client of this machine, and whether it runs the hooks it was asked about; None: it did not tell."""

    program: str | None
    version: Version | None
    accepts: bool | None

    @property
    def name(self) -> str:
        """The client as it is named to people."""
        return client_name(self.version)


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
