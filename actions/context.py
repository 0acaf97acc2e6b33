"""core.db for commands: they read and write it themselves, so that they work with the daemon down."""

import os
from pathlib import Path

from flowd.config.paths import resolve_paths
from flowd.config.settings import Settings, load_settings
from flowd.redaction.redactor import use_patterns
from flowd.store.database import Database
from flowd.store.schema import ensure_current
from flowd.system.errors import FlowdError
from flowd.workspace.project import Project, resolve_project


def settings_in_force() -> Settings:
    """Return the settings, with the person's redaction patterns in force from now on."""
    settings = load_settings(resolve_paths().config_file).settings
    use_patterns(settings.redaction.patterns)
    return settings


def open_store() -> Database:
    """Return core.db, made or migrated if need be."""
    database = Database(resolve_paths().database_at(settings_in_force().store.path))
    ensure_current(database)
    return database


def this_project(directory: str | None = None) -> Project:
    """Return the project of *directory* (default: the working directory), or raise where there is none."""
    start = os.path.abspath(directory) if directory else _working_directory()  # noqa: PTH100 no resolving yet
    project = resolve_project(start)
    if project is None:
        raise FlowdError(f"{start} is no project", hint="change into a project's directory first")
    return project


def current_session() -> str:
    """Return the Claude Code session this command runs inside of, if any."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def _working_directory() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        raise FlowdError("the working directory is gone", hint="change into a project's directory") from None
