"""The step of ``flowd install`` that starts flowd from the login shell, where there is no service manager."""

import argparse
import os
import shlex
from pathlib import Path

from flowd.cli.flowd.install.settings_file import SettingsFile
from flowd.cli.flowd.manager.manager import this_program
from flowd.config.paths import Paths

BEGIN = "# >>> flowd: started at login by `flowd install --profile`, removed by `flowd uninstall` >>>\n"
END = "# <<< flowd <<<\n"
LOGIN_FILES = (".bash_profile", ".bash_login", ".profile")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option that selects this step."""
    parser.add_argument(
        "--profile",
        action="store_true",
        help="without systemd: start flowd when you log in, by a line in your shell's login file",
    )


def install(paths: Paths, arguments: argparse.Namespace) -> None:
    """Add the lines to the login file, unless it has them."""
    if not arguments.profile:
        return
    file = SettingsFile(login_file(), backups(paths))
    before = file.read()
    after = _without(before)
    gap = "" if not after or after.endswith("\n") else "\n"
    after += gap + BEGIN + _command(paths) + END
    if after == before:
        print(f"unchanged  {file.file}")
    elif arguments.dry_run:
        print(f"would add to {file.file}:\n{BEGIN}{_command(paths)}{END}", end="")
    else:
        file.replace(before, after)
        print(f"changed  {file.file}: flowd starts when you log in")


def uninstall(paths: Paths, arguments: argparse.Namespace) -> None:
    """Remove the lines; everything else in the file stays byte for byte."""
    for file in (SettingsFile(Path.home() / name, backups(paths)) for name in (*LOGIN_FILES, ".zprofile")):
        before = file.read()
        if BEGIN not in before:
            continue
        print(f"{'would remove' if arguments.dry_run else 'removed'}  flowd's lines from {file.file}")
        if not arguments.dry_run:
            file.replace(before, _as_it_was(file, before))


def is_installed() -> bool:
    """Return True if a login file starts flowd."""
    try:
        return BEGIN in login_file().read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def login_file() -> Path:
    """Return the file that the person's shell reads at login."""
    if os.path.basename(os.environ.get("SHELL", "")) == "zsh":
        return Path.home() / ".zprofile"
    found = (Path.home() / name for name in LOGIN_FILES)
    return next((file for file in found if file.exists()), Path.home() / ".profile")


def backups(paths: Paths) -> Path:
    """Return the directory of the backups."""
    return paths.state_dir / "backups" / "login"


def _command(paths: Paths) -> str:
    program = this_program(paths)
    environment = [f"{name}={value}" for name, value in program.environment.items() if name != "PATH"]
    start = shlex.join(["env", *environment, *program.arguments[:-1], "start"])
    return f"[ -x {shlex.quote(program.arguments[0])} ] && ({start} >/dev/null 2>&1 &)\n"


def _without(text: str) -> str:
    start, found, rest = text.partition(BEGIN)
    return start + rest.partition(END)[2] if found else text


def _as_it_was(file: SettingsFile, text: str) -> str:
    """Return *text* without flowd's lines: the very text from before them, if the rest has not changed."""
    removed = _without(text)
    return next((each for each in file.backups() if each in (removed, removed.removesuffix("\n"))), removed)
