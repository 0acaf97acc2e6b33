"""systemd for this user: the text of the unit, and the systemctl commands for it."""

import os
from importlib import resources
from pathlib import Path

from flowd.cli.flowd.manager.manager import ManagerCommand, Program, run_quietly

UNIT = "flowd.service"
SYSTEMCTL = ("systemctl", "--user")


class Systemd:
    """The Manager that uses ``systemctl --user``."""

    name = "systemd"

    @property
    def unit_file(self) -> Path:
        """The file in which systemd finds the unit."""
        root = os.environ.get("XDG_CONFIG_HOME")
        return (Path(root) if root else Path.home() / ".config") / "systemd" / "user" / UNIT

    @property
    def links(self) -> list[Path]:
        """The link that ``systemctl enable`` creates; it remains if ``disable`` cannot be run."""
        return [self.unit_file.parent / "default.target.wants" / UNIT]

    def unit_text(self, program: Program) -> str:
        """Return the template with the program filled in, quoted for systemd."""
        template = resources.files("flowd.systemd").joinpath(UNIT).read_text(encoding="utf-8")
        assignments = [
            f"Environment={_quoted(f'{name}={value}')}" for name, value in program.environment.items()
        ]
        command = " ".join(_quoted(word) for word in program.arguments)
        return template.replace("@PROGRAM@", command).replace("@ENVIRONMENT@", "\n".join(assignments))

    def needed_dirs(self, _: Program, /) -> list[Path]:
        """Return none: the output goes to the journal."""
        return []

    def reachable(self) -> bool:
        """Return True if the user manager answers."""
        return run_quietly(*SYSTEMCTL, "show", "--property=Version").code == 0

    def enabled(self) -> bool:
        """Return True if the unit is enabled."""
        return run_quietly(*SYSTEMCTL, "is-enabled", UNIT).stdout.strip() == "enabled"

    def owned_pid(self) -> int:
        """Return the pid of the unit's main process."""
        shown = run_quietly(*SYSTEMCTL, "show", "--property=MainPID", "--value", UNIT).stdout.strip()
        return int(shown) if shown.isdigit() else 0

    def commands_to_enable(self) -> list[ManagerCommand]:
        """Return the commands that load, enable and restart the unit."""
        return [
            ManagerCommand((*SYSTEMCTL, "daemon-reload")),
            ManagerCommand((*SYSTEMCTL, "enable", UNIT)),
            ManagerCommand((*SYSTEMCTL, "restart", UNIT)),
        ]

    def commands_to_start(self) -> list[ManagerCommand]:
        """Return the command that starts the unit."""
        return [ManagerCommand((*SYSTEMCTL, "start", UNIT))]

    def commands_to_stop(self) -> list[ManagerCommand]:
        """Return the command that stops the unit."""
        return [ManagerCommand((*SYSTEMCTL, "stop", UNIT))]

    def commands_to_disable(self) -> list[ManagerCommand]:
        """Return the command that stops and disables the unit."""
        return [ManagerCommand((*SYSTEMCTL, "disable", "--now", UNIT))]

    def commands_to_forget(self) -> list[ManagerCommand]:
        """Return the command that reloads the units."""
        return [ManagerCommand((*SYSTEMCTL, "daemon-reload"))]


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"' if escaped != word or any(character.isspace() for character in word) else word
