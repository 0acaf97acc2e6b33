"""The service managers that can start flowd at login: one interface, and the command line that they run."""

import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from flowd.actions.daemon_client import Holder
from flowd.config.paths import Paths
from flowd.system.errors import FlowdError
from flowd.system.processes import DeadlineExceededError, ProcessResult, run_program, scrubbed_environment
from flowd.system.text import one_line

COMMAND_DEADLINE_S = 60
RETRY_S = 0.2


class Program(NamedTuple):
    """A command line with its environment and the file for its standard error."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    error_file: Path


class ManagerCommand(NamedTuple):
    """One command of the service manager; it is retried for *retry_for_s* seconds while it fails."""

    words: tuple[str, ...]
    retry_for_s: float = 0.0

    def __str__(self) -> str:
        return " ".join(self.words)


class Manager(Protocol):
    """Starts flowd at login and restarts it after a failure, as one unit file describes."""

    name: str

    @property
    def unit_file(self) -> Path:
        """The unit file."""
        ...

    @property
    def links(self) -> list[Path]:
        """The links that enabling creates."""
        ...

    def unit_text(self, program: Program) -> str:
        """Return the unit that runs *program*."""
        ...

    def needed_dirs(self, program: Program, /) -> list[Path]:
        """Return the directories that must exist before the manager runs *program*."""
        ...

    def reachable(self) -> bool:
        """Return True if the manager answers in this session."""
        ...

    def enabled(self) -> bool:
        """Return True if the manager starts flowd at the next login."""
        ...

    def owned_pid(self) -> int:
        """Return the pid of the flowd that the manager runs, 0 without one."""
        ...

    def commands_to_enable(self) -> list[ManagerCommand]:
        """Return the commands that start flowd now and at every login."""
        ...

    def commands_to_start(self) -> list[ManagerCommand]:
        """Return the commands that start flowd, which is enabled."""
        ...

    def commands_to_stop(self) -> list[ManagerCommand]:
        """Return the commands that stop flowd until the next start or login."""
        ...

    def commands_to_disable(self) -> list[ManagerCommand]:
        """Return the commands that stop flowd and disable its start at login."""
        ...

    def commands_to_forget(self) -> list[ManagerCommand]:
        """Return the commands to run after the unit file was deleted."""
        ...


def manager_for(platform: str) -> Manager:
    """Return the service manager of *platform*, a value of ``sys.platform``."""
    if platform == "darwin":
        from flowd.cli.flowd.manager.launchd import Launchd

        return Launchd()
    from flowd.cli.flowd.manager.systemd import Systemd

    return Systemd()


def manager_owning(holder: Holder, platform: str = sys.platform) -> Manager | None:
    """Return the manager that runs the daemon *holder*, None if it runs without one."""
    manager = manager_for(platform)
    return manager if manager.unit_file.exists() and manager.owned_pid() == holder.pid else None


def manager_serving(paths: Paths, platform: str = sys.platform) -> Manager | None:
    """Return the manager whose unit runs this interpreter with these paths, None without one."""
    manager = manager_for(platform)
    try:
        unit = manager.unit_file.read_text(encoding="utf-8")
    except OSError:
        return None
    return manager if runs_program(unit, this_program(paths)) and manager.reachable() else None


def run_all(commands: list[ManagerCommand]) -> None:
    """Run *commands* in order; raise FlowdError at the first that fails."""
    for command in commands:
        run_or_raise(command)


def run_quietly(*words: str) -> ProcessResult:
    """Run a program and return its result; a missing or hanging one counts as failed."""
    try:
        return run_program(words, cwd="/", env=scrubbed_environment(), timeout_s=COMMAND_DEADLINE_S)
    except (OSError, DeadlineExceededError) as error:
        return ProcessResult(127, "", str(error))


def run_or_raise(command: ManagerCommand) -> None:
    """Run *command*, repeating it as long as it allows; raise FlowdError with its output if it fails."""
    deadline = time.monotonic() + command.retry_for_s
    run = run_quietly(*command.words)
    while run.code != 0 and time.monotonic() < deadline:
        time.sleep(RETRY_S)
        run = run_quietly(*command.words)
    if run.code != 0:
        output = one_line(run.stderr or run.stdout) or f"exit code {run.code}"
        raise FlowdError(f"`{command}` failed: {output}", hint="run `flowd doctor`")


# These override flowd's paths: the daemon and the commands must have the same ones.
CARRIED = (
    "CLAUDE_CONFIG_DIR",
    "FLOWD_CONFIG",
    "FLOWD_DATA_DIR",
    "FLOWD_STATE_DIR",
    "FLOWD_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
)
# Where `uvx`, `pipx run` and the like keep interpreters until the next clean-up.
TEMPORARY_PATHS = ("/uv/archive-", "/uv/environments-", "/uv/builds-", "/pipx/.cache/", "/.cache/pipx/")


def this_program(paths: Paths) -> Program:
    """Return the command line of the flowd that is running now."""
    # -P: managers start in the home directory, where a folder with the name of a module would be imported.
    arguments = (sys.executable, "-P", "-m", "flowd", "run")
    environment = {name: os.environ[name] for name in CARRIED if os.environ.get(name)}
    # The PATH of managers is short and often lacks git and bd.
    environment["PATH"] = _absolute_only(os.environ.get("PATH", os.defpath))
    return Program(arguments, environment, paths.log_dir / "crash.txt")


def is_temporary(interpreter: str) -> bool:
    """Return True if *interpreter* is in a directory that is cleaned up."""
    temporary = {tempfile.gettempdir(), "/tmp", "/var/tmp"}  # noqa: S108 compared with, not used
    return interpreter.startswith(tuple(f"{place}/" for place in temporary)) or any(
        place in interpreter for place in TEMPORARY_PATHS
    )


def runs_program(unit: str, program: Program) -> bool:
    """Return True if the text *unit* runs this interpreter with the paths of *program*."""
    return program.arguments[0] in unit and all(
        (name in unit) == (name in program.environment) and program.environment.get(name, "") in unit
        for name in CARRIED
    )


def _absolute_only(path: str) -> str:
    return os.pathsep.join(dict.fromkeys(part for part in path.split(os.pathsep) if part.startswith("/")))
