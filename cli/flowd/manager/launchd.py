"""The Mac's launchd: the agent's property list and the launchctl commands around it."""

import os
import plistlib
import re
from importlib import resources
from pathlib import Path

from flowd.cli.flowd.install.program import Program
from flowd.cli.flowd.manager.manager import Command, run_quietly
from flowd.system.processes import ProcessResult

LABEL = "dev.flowd"
# launchd holds a label for seconds after its bootout; a bootstrap meanwhile fails with "5: Input/output".
SETTLING_S = 15.0


class Launchd:
    """A Manager that speaks to ``launchctl``."""

    name = "launchd"

    @property
    def unit_file(self) -> Path:
        """Where launchd looks for the user's agents."""
        return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    @property
    def links(self) -> list[Path]:
        """None: launchd keeps what it loaded to itself."""
        return []

    def unit_text(self, program: Program) -> str:
        """Return the template with the program filled in."""
        agent = plistlib.loads(resources.files("flowd.launchd").joinpath(f"{LABEL}.plist").read_bytes())
        agent["ProgramArguments"] = list(program.arguments)
        agent["EnvironmentVariables"] = dict(program.environment)
        agent["StandardErrorPath"] = str(program.error_file)
        return plistlib.dumps(agent, sort_keys=False).decode()

    def needed_dirs(self, program: Program, /) -> list[Path]:
        """Return where launchd opens the error file; it makes no directory for it."""
        return [program.error_file.parent]

    def reachable(self) -> bool:
        """Say whether this user has a graphical session, which agents live in."""
        return run_quietly("launchctl", "print", _domain()).code == 0

    def enabled(self) -> bool:
        """Say whether the agent is loaded."""
        return self._printed().code == 0

    def owned_pid(self) -> int:
        """Return the agent's process."""
        found = re.search(r"^\s*pid = (\d+)$", self._printed().stdout, re.MULTILINE)
        return int(found[1]) if found else 0

    def commands_to_enable(self) -> list[Command]:
        """Return what unloads an older agent, if there is one, and loads this one."""
        enable = Command(("launchctl", "enable", f"{_domain()}/{LABEL}"))
        return [*self.commands_to_disable(), enable, self._load()]

    def commands_to_start(self) -> list[Command]:
        """Return what runs the loaded agent, or loads it, which runs it."""
        run = Command(("launchctl", "kickstart", f"{_domain()}/{LABEL}"))
        return [run if self.enabled() else self._load()]

    def commands_to_stop(self) -> list[Command]:
        """Return what ends the agent until it is loaded again, at the next login at the latest."""
        return self.commands_to_disable()

    def commands_to_disable(self) -> list[Command]:
        """Return what ends the agent and unloads it, nothing when it is not loaded."""
        return [Command(("launchctl", "bootout", f"{_domain()}/{LABEL}"))] if self.enabled() else []

    def commands_to_forget(self) -> list[Command]:
        """Return nothing: unloading was enough."""
        return []

    def _load(self) -> Command:
        return Command(("launchctl", "bootstrap", _domain(), str(self.unit_file)), SETTLING_S)

    @staticmethod
    def _printed() -> ProcessResult:
        return run_quietly("launchctl", "print", f"{_domain()}/{LABEL}")


def _domain() -> str:
    return f"gui/{os.getuid()}"
