"""What a check of ``flowd doctor`` finds, and what the checks have to go by."""

from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from flowd.actions.daemon_client import Holder, ask, control_socket, running_holder
from flowd.config.live import LiveSettings
from flowd.config.paths import Paths, claude_config_dir
from flowd.system.errors import FlowdError, SettingsError

Level = Literal["ok", "info", "warning", "trouble"]
ASK_DEADLINE_S = 3.0


class CheckResult(msgspec.Struct, frozen=True):
    """One line: which check, how it went, what was seen, and the way out."""

    check: str
    level: Level
    seen: str
    fix: str = ""


class DoctorContext(NamedTuple):
    """Everything the checks look at, gathered once; nothing in it was changed to get it."""

    paths: Paths
    settings_error: SettingsError | None
    claude_dir: Path
    database: Path
    holder: Holder | None
    socket: Path
    status: dict[str, Any] | None
    silence: str


def gather_context(paths: Paths) -> DoctorContext:
    """Gather what there is to see, with whatever works."""
    settings, settings_error = _settings(paths)
    status, silence = _status(paths)
    current = settings.current if settings else None
    claude = current.claude.config_dir if current else None
    database = current.store.path if current else None
    return DoctorContext(
        paths=paths,
        settings_error=settings_error,
        claude_dir=claude_config_dir(claude),
        database=paths.database_at(database),
        holder=running_holder(paths.lock),
        socket=control_socket(paths),
        status=status,
        silence=silence,
    )


def _settings(paths: Paths) -> tuple[LiveSettings | None, SettingsError | None]:
    try:
        return LiveSettings(paths.config_file), None
    except SettingsError as error:
        return None, error


def _status(paths: Paths) -> tuple[dict[str, Any] | None, str]:
    try:
        return ask(control_socket(paths), "status", deadline_s=ASK_DEADLINE_S), ""
    except FlowdError as error:
        return None, str(error)
