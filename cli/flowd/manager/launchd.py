"""launchd on macOS: the property list of the agent, and the launchctl commands for it."""

import os
import plistlib
import re
from importlib import resources
from pathlib import Path

from flowd.cli.flowd.manager.manager import ManagerCommand, Program, run_quietly
from flowd.system.processes import ProcessResult

LABEL = "dev.flowd"
# launchd keeps a label for seconds after its bootout; until then a bootstrap fails with "5: Input/output".
BOOTOUT_S = 15.0


class Launchd:
    """The Manager that uses ``launchctl``."""

    name = "launchd"

    @property
    def unit_file(self) -> Path:
        """The file in which launchd finds the user's agent."""
        return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    @property
    def links(self) -> list[Path]:
        """None: launchd creates no links."""
        return []

    def unit_text(self, program: Program) -> str:
        """Return the template with the program filled in."""
        agent = plistlib.loads(resources.files("flowd.launchd").joinpath(f"{LABEL}.plist").read_bytes())
        agent["ProgramArguments"] = list(program.arguments)
        agent["EnvironmentVariables"] = dict(program.environment)
        agent["StandardErrorPath"] = str(program.error_file)
        return plistlib.dumps(agent, sort_keys=False).decode()

    def needed_dirs(self, program: Program, /) -> list[Path]:
        """Return the directory of the error file, which launchd does not create."""
        return [program.error_file.parent]

    def reachable(self) -> bool:
        """Return True if this user has a graphical session, which agents need."""
        return run_quietly("launchctl", "print", _domain()).code == 0

    def enabled(self) -> bool:
        """Return True if the agent is loaded."""
        return self._printed().code == 0

    def owned_pid(self) -> int:
        """Return the pid of the agent."""
        found = re.search(r"^\s*pid = (\d+)$", self._printed().stdout, re.MULTILINE)
        return int(found[1]) if found else 0

    def commands_to_enable(self) -> list[ManagerCommand]:
        """Return the commands that load the agent, after unloading an older one."""
        enable = ManagerCommand(("launchctl", "enable", f"{_domain()}/{LABEL}"))
        return [*self.commands_to_disable(), enable, self._load()]

    def commands_to_start(self) -> list[ManagerCommand]:
        """Return the commands that start the agent, loading it if necessary."""
        run = ManagerCommand(("launchctl", "kickstart", f"{_domain()}/{LABEL}"))
        return [run if self.enabled() else self._load()]

    def commands_to_stop(self) -> list[ManagerCommand]:
        """Return the commands that stop the agent until the next start or login."""
        return self.commands_to_disable()

    def commands_to_disable(self) -> list[ManagerCommand]:
        """Return the commands that stop and unload the agent if it is loaded."""
        return [ManagerCommand(("launchctl", "bootout", f"{_domain()}/{LABEL}"))] if self.enabled() else []

    def commands_to_forget(self) -> list[ManagerCommand]:
        """Return nothing: unloading is enough."""
        return []

    def _load(self) -> ManagerCommand:
        return ManagerCommand(("launchctl", "bootstrap", _domain(), str(self.unit_file)), BOOTOUT_S)

    @staticmethod
    def _printed() -> ProcessResult:
        return run_quietly("launchctl", "print", f"{_domain()}/{LABEL}")


def _domain() -> str:
    return f"gui/{os.getuid()}"
