"""The context of one process: paths, settings, redactor and core.db, each loaded on first use."""

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from flowd.config.paths import Paths, resolve_paths
from flowd.config.settings import LiveSettings, Settings
from flowd.handoff.track.rules import project_patterns
from flowd.model.session import PERSON, SessionState
from flowd.redaction.data import Redact
from flowd.redaction.live import LiveRedactor
from flowd.redaction.redactor import redact as redact_built_in
from flowd.store.database import Database
from flowd.store.journal import Journal
from flowd.store.schema import ensure_current
from flowd.system.errors import FlowdError, SettingsError
from flowd.workspace.project import Project, resolve_project

# Enough to find the session at work; older ones are no longer candidates.
STATES_READ = 20


class Context:
    """The paths, settings, redactor and database of this process. Use as a context manager.

    The daemon passes *settings* and *database*, and closes them itself; a command leaves them out and
    gets them on first use.
    """

    def __init__(
        self,
        paths: Paths | None = None,
        settings: LiveSettings | None = None,
        database: Database | None = None,
    ) -> None:
        self.paths = paths or resolve_paths()
        self._given_settings = settings
        self._given_database = database
        self._opened: Database | None = None

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close core.db if this context has opened it."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @cached_property
    def live_settings(self) -> LiveSettings:
        """The settings together with their ``reload``."""
        return self._given_settings or LiveSettings(self.paths.config_file)

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self.live_settings.current

    @cached_property
    def redact(self) -> LiveRedactor:
        """The redactor for every text that is written; in a command, with the project's patterns."""
        project = "" if self._given_database is not None else _project_here()
        return LiveRedactor(self.live_settings, project_patterns, project)

    @property
    def lenient_redact(self) -> Redact:
        """The redactor, or the built-in rules alone if the settings are invalid."""
        try:
            return self.redact
        except SettingsError:
            return redact_built_in

    @property
    def database(self) -> Database:
        """core.db, created or migrated on first use; raise StoreError while it is unavailable."""
        if self._given_database is not None:
            return self._given_database
        if self._opened is None:
            database = Database(self.paths.database_at(self.settings.store.path))
            try:
                ensure_current(database)
            except BaseException:
                database.close()
                raise
            self._opened = database
        return self._opened

    @property
    def journal(self) -> Journal:
        """The journal of core.db."""
        return Journal(self.database)

    @cached_property
    def session_id(self) -> str:
        """The Claude Code session that this process runs in, empty outside of one."""
        return os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def _project_here() -> str:
    try:
        return find_project().root
    except FlowdError:
        return ""


def find_project(directory: str | None = None) -> Project:
    """Return the project of *directory* (default: the working directory); raise FlowdError without one."""
    start = os.path.abspath(directory) if directory else _working_directory()  # noqa: PTH100 no resolving yet
    if not os.path.isdir(start):  # noqa: PTH112 a string
        raise FlowdError(f"there is no directory {start}", hint="give the directory of a project")
    project = resolve_project(start)
    if project is None:
        raise FlowdError(f"{start} is not in a project", hint="change into a project directory and try again")
    return project


def _working_directory() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        raise FlowdError(
            "the working directory has been deleted", hint="change into a project directory and try again"
        ) from None


def find_session(states: Iterable[SessionState], session_id: str, root: str) -> SessionState | None:
    """Return the session with *session_id*; without an id, the latest one that worked in *root*.

    *states* are those of the repository, the latest first. A session of another worktree is never
    chosen for a person who works in *root*.
    """
    if session_id:
        return next((state for state in states if state.session_id == session_id), None)
    return next((state for state in states if state.project == root), None)


def current_state(journal: Journal, project: Project, session_id: str) -> SessionState:
    """Return the state of the session that a command runs in, an empty one for a person or a new session."""
    states = journal.states_of(project.root, project.repository, STATES_READ)
    found = find_session(states, session_id, project.root)
    return found or SessionState(session_id=session_id or PERSON, project=project.root)
