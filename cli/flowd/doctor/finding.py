"""The input and the result of the checks of ``flowd doctor``."""

from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from flowd.actions.daemon_client import Holder, ask_running, control_socket, running_holder
from flowd.config.paths import Paths, claude_config_dir
from flowd.config.settings import LiveSettings
from flowd.daemon.control.status import Status
from flowd.system.errors import FlowdError, SettingsError

Level = Literal["ok", "info", "warning", "trouble"]
STATUS_DEADLINE_S = 3.0


class CheckResult(msgspec.Struct, frozen=True):
    """The result of one check: its level, what was found, and how to fix it."""

    check: str
    level: Level
    seen: str
    fix: str = ""


class DoctorContext(NamedTuple):
    """The input of all checks, gathered once without changing anything."""

    paths: Paths
    settings_error: SettingsError | None
    claude_dir: Path
    is_claude_dir_set: bool
    database: Path
    holder: Holder | None
    socket: Path
    status: Status | None
    status_error: str


def gather_context(paths: Paths) -> DoctorContext:
    """Gather the input of the checks; what cannot be read is None."""
    settings, settings_error = _settings(paths)
    status, status_error = _status(paths)
    current = settings.current if settings else None
    claude = current.claude.config_dir if current else None
    database = current.store.path if current else None
    return DoctorContext(
        paths=paths,
        settings_error=settings_error,
        claude_dir=claude_config_dir(claude),
        is_claude_dir_set=claude is not None,
        database=paths.database_at(database),
        holder=running_holder(paths.lock),
        socket=control_socket(paths),
        status=status,
        status_error=status_error,
    )


def _settings(paths: Paths) -> tuple[LiveSettings | None, SettingsError | None]:
    try:
        return LiveSettings(paths.config_file), None
    except SettingsError as error:
        return None, error


def _status(paths: Paths) -> tuple[Status | None, str]:
    try:
        answer = ask_running(paths, "status", deadline_s=STATUS_DEADLINE_S)
        return msgspec.convert(answer, Status), ""
    except FlowdError as error:
        return None, str(error)
    except msgspec.ValidationError as error:
        return None, f"the daemon of another version answers: {error}"
