"""The service managers that can start flowd at login: one interface, chosen by platform."""

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple, Protocol

from flowd.actions.daemon_client import Holder
from flowd.cli.flowd.install.program import Program, is_told_in, this_program
from flowd.config.paths import Paths
from flowd.system.errors import FlowdError
from flowd.system.processes import DeadlineExceededError, ProcessResult, run_program
from flowd.system.text import one_line

COMMAND_DEADLINE_S = 60
LOOK_S = 0.2


class Command(NamedTuple):
    """One call of the manager's program; a failing one is repeated for *patience_s* seconds."""

    words: tuple[str, ...]
    patience_s: float = 0.0

    def __str__(self) -> str:
        return " ".join(self.words)


class Manager(Protocol):
    """Starts flowd at login and again after a failure, from one unit file."""

    name: str

    @property
    def unit_file(self) -> Path:
        """Where the manager looks for the unit."""
        ...

    @property
    def links(self) -> list[Path]:
        """The files beside the unit that enabling makes."""
        ...

    def unit_text(self, program: Program) -> str:
        """Return the unit that runs *program*."""
        ...

    def needed_dirs(self, program: Program, /) -> list[Path]:
        """Return the directories that must be there before the manager runs *program*."""
        ...

    def reachable(self) -> bool:
        """Say whether the manager answers in this session."""
        ...

    def enabled(self) -> bool:
        """Say whether the manager would start flowd at the next login."""
        ...

    def owned_pid(self) -> int:
        """Return the process that the manager runs as flowd, 0 when there is none."""
        ...

    def commands_to_enable(self) -> list[Command]:
        """Return what starts flowd as the unit says, now and at every login."""
        ...

    def commands_to_start(self) -> list[Command]:
        """Return what starts an enabled flowd."""
        ...

    def commands_to_stop(self) -> list[Command]:
        """Return what stops flowd until the next start or login."""
        ...

    def commands_to_disable(self) -> list[Command]:
        """Return what stops flowd now and at every login."""
        ...

    def commands_to_forget(self) -> list[Command]:
        """Return what makes the manager notice that the unit is gone."""
        ...


def manager_for(platform: str) -> Manager:
    """Return the service manager of *platform* (as ``sys.platform`` names it)."""
    if platform == "darwin":
        from flowd.cli.flowd.manager.launchd import Launchd

        return Launchd()
    from flowd.cli.flowd.manager.systemd import Systemd

    return Systemd()


def manager_owning(holder: Holder, platform: str = sys.platform) -> Manager | None:
    """Return the manager that runs the daemon *holder*, if one does."""
    manager = manager_for(platform)
    return manager if manager.unit_file.exists() and manager.owned_pid() == holder.pid else None


def manager_serving(paths: Paths, platform: str = sys.platform) -> Manager | None:
    """Return the manager that was handed this very flowd with these very places, if it is there."""
    manager = manager_for(platform)
    try:
        unit = manager.unit_file.read_text(encoding="utf-8")
    except OSError:
        return None
    return manager if is_told_in(unit, this_program(paths)) and manager.reachable() else None


def run_all(commands: list[Command]) -> None:
    """Run *commands* in order; raise at the first that fails."""
    for command in commands:
        run_or_raise(command)


def run_quietly(*words: str) -> ProcessResult:
    """Run a program to its end; one that is missing or hangs counts as failed."""
    try:
        return run_program(words, cwd="/", env=os.environ, timeout_s=COMMAND_DEADLINE_S)
    except (OSError, DeadlineExceededError) as error:
        return ProcessResult(127, "", str(error))


def run_or_raise(command: Command) -> None:
    """Run *command*; raise with what it said when it goes on failing."""
    deadline = time.monotonic() + command.patience_s
    run = run_quietly(*command.words)
    while run.code != 0 and time.monotonic() < deadline:
        time.sleep(LOOK_S)
        run = run_quietly(*command.words)
    if run.code != 0:
        said = one_line(run.stderr or run.stdout) or f"exit code {run.code}"
        raise FlowdError(f"`{command}` failed: {said}", hint="`flowd doctor` checks the rest")
