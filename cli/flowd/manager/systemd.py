"""The user's systemd: the unit's text and the systemctl commands around it."""

import os
from importlib import resources
from pathlib import Path

from flowd.cli.flowd.install.program import Program
from flowd.cli.flowd.manager.manager import Command, run_quietly

UNIT = "flowd.service"
SYSTEMCTL = ("systemctl", "--user")


class Systemd:
    """A Manager that speaks to ``systemctl --user``."""

    name = "systemd"

    @property
    def unit_file(self) -> Path:
        """Where the user's manager looks for units."""
        root = os.environ.get("XDG_CONFIG_HOME")
        return (Path(root) if root else Path.home() / ".config") / "systemd" / "user" / UNIT

    @property
    def links(self) -> list[Path]:
        """What ``systemctl enable`` makes, and leaves when nobody can ask it to disable."""
        return [self.unit_file.parent / "default.target.wants" / UNIT]

    def unit_text(self, program: Program) -> str:
        """Return the template, filled in and quoted the way systemd reads it."""
        template = resources.files("flowd.systemd").joinpath(UNIT).read_text(encoding="utf-8")
        assignments = [
            f"Environment={_quoted(f'{name}={value}')}" for name, value in program.environment.items()
        ]
        command = " ".join(_quoted(word) for word in program.arguments)
        return template.replace("@PROGRAM@", command).replace("@ENVIRONMENT@", "\n".join(assignments))

    def needed_dirs(self, _: Program, /) -> list[Path]:
        """Return none: what flowd prints goes to the journal."""
        return []

    def reachable(self) -> bool:
        """Say whether a user manager answers."""
        return run_quietly(*SYSTEMCTL, "show", "--property=Version").code == 0

    def enabled(self) -> bool:
        """Say whether the unit is wanted at login."""
        return run_quietly(*SYSTEMCTL, "is-enabled", UNIT).stdout.strip() == "enabled"

    def owned_pid(self) -> int:
        """Return the unit's main process."""
        shown = run_quietly(*SYSTEMCTL, "show", "--property=MainPID", "--value", UNIT).stdout.strip()
        return int(shown) if shown.isdigit() else 0

    def commands_to_enable(self) -> list[Command]:
        """Return what makes systemd read the unit, want it at login and run it as it stands."""
        return [
            Command((*SYSTEMCTL, "daemon-reload")),
            Command((*SYSTEMCTL, "enable", UNIT)),
            Command((*SYSTEMCTL, "restart", UNIT)),
        ]

    def commands_to_start(self) -> list[Command]:
        """Return what starts the unit."""
        return [Command((*SYSTEMCTL, "start", UNIT))]

    def commands_to_stop(self) -> list[Command]:
        """Return what stops the unit without starting it again."""
        return [Command((*SYSTEMCTL, "stop", UNIT))]

    def commands_to_disable(self) -> list[Command]:
        """Return what stops the unit and takes it out of the login."""
        return [Command((*SYSTEMCTL, "disable", "--now", UNIT))]

    def commands_to_forget(self) -> list[Command]:
        """Return what makes systemd look at its directories again."""
        return [Command((*SYSTEMCTL, "daemon-reload"))]


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"' if escaped != word or any(character.isspace() for character in word) else word
