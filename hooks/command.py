"""The shell commands by which Claude Code runs the hook program, and how to recognise them."""

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import flowd
from flowd.config.paths import Paths, make_private_dir
from flowd.model.client import Version
from flowd.system.files import atomic_write

# In seconds. The hook has its own budget; these only matter on a machine in trouble.
TIMEOUTS_S = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PreCompact": 10,
    "Stop": 5,
    "SubagentStop": 5,
    "SessionEnd": 5,
}
# The first client with each event. A client before about 2.1.77 ignores the whole settings.json, including
# the permissions, if it has an event that the client does not know.
FIRST_VERSIONS: dict[str, Version] = {
    "SessionStart": (1, 0, 62),
    "UserPromptSubmit": (1, 0, 54),
    "PreCompact": (1, 0, 48),
    "Stop": (1, 0, 38),
    "SubagentStop": (1, 0, 41),
    "SessionEnd": (1, 0, 85),
}
# The oldest client that flowd is tested with.
OLDEST_VERSION: Version = (1, 0, 128)
# These override flowd's paths; a hook's child must use the same ones as the daemon.
CARRIED = ("FLOWD_CONFIG", "FLOWD_DATA_DIR", "FLOWD_STATE_DIR", "FLOWD_RUNTIME_DIR")
# program.py searches settings.json for these texts: with them, the plugin's hooks do nothing.
MARK = "||: flowd"
OLD_MARK = "# flowd-hook "
OURS = re.compile(rf"hook\.sh'?{re.escape(MARK)}$|^set -- (\w+); (?>.*?hook\.sh).* {OLD_MARK}\1$", re.DOTALL)
LAUNCHER = "hook.sh"


def hook_program() -> Path:
    """Return the program that Claude Code runs."""
    return Path(flowd.__file__).parent / "hooks" / "hook.py"


def known_events(version: Version | None) -> tuple[str, ...]:
    """Return the events that a client of *version* knows, for None those of the oldest supported one."""
    client = version or OLDEST_VERSION
    return tuple(event for event in TIMEOUTS_S if FIRST_VERSIONS[event] <= client)


def hook_command(paths: Paths) -> str:
    """Return the shell command for every event, which does nothing once flowd is uninstalled."""
    # Short, because the client shows it to people and to the model, and without the path of the
    # interpreter, so that it stays valid when flowd moves: the daemon rewrites the launcher at each start.
    return f"{_shell_path(paths.state_dir / LAUNCHER)}{MARK}"


def hook_entries(paths: Paths, events: Iterable[str] = tuple(TIMEOUTS_S)) -> dict[str, dict[str, Any]]:
    """Return the entry of settings.json for each of *events*."""
    command = hook_command(paths)
    return {
        event: {"hooks": [{"type": "command", "command": command, "timeout": TIMEOUTS_S[event]}]}
        for event in events
    }


def is_ours(command: object) -> bool:
    """Return True if *command* was written by this or another version of flowd."""
    return isinstance(command, str) and OURS.search(command) is not None


def leads_nowhere(command: str) -> bool:
    """Return True if the launcher of *command*, or the hook program, is missing."""
    launcher = _launcher_of(command)
    if not os.access(launcher, os.R_OK if OLD_MARK in command else os.X_OK):
        return True
    return not all(file.exists() for file in _tested_files(launcher.read_text(encoding="utf-8")))


def write_launcher(paths: Paths) -> None:
    """Write the shell script in the state directory by which the hooks find this flowd."""
    file = paths.state_dir / LAUNCHER
    text = f"#!/bin/sh\n# Written by flowd at each start; run by the hooks of Claude Code.\n{_call(paths)}\n"
    if os.access(file, os.X_OK) and file.read_text(encoding="utf-8") == text:
        return
    make_private_dir(paths.state_dir)
    atomic_write(file, text, mode=0o700)


def _shell_path(file: Path) -> str:
    """Return *file* quoted for the shell, relative to ``~`` if possible."""
    home = Path.home()
    if file.is_relative_to(home):
        return f"~/{shlex.quote(str(file.relative_to(home)))}"
    return shlex.quote(str(file))


def _launcher_of(command: str) -> Path:
    if OLD_MARK in command:
        return _tested_files(command)[0]
    (word,) = shlex.split(command.removesuffix(MARK))
    return Path(word).expanduser()


def _call(paths: Paths) -> str:
    interpreter, program = shlex.quote(sys.executable), shlex.quote(str(hook_program()))
    places = shlex.join([str(paths.socket), str(paths.state_dir / "spool")])
    call = f'{"".join(_variables())}exec {interpreter} -I -S -E {program} {places} "$@"'
    # Python exits with 2 if the program is missing, which would block the client: test first.
    return f"if [ -x {interpreter} ] && [ -r {program} ]; then {call}; fi"


def _tested_files(text: str) -> list[Path]:
    words = shlex.split(text, comments=True)
    return [Path(words[place + 1]) for place, word in enumerate(words[:-1]) if word in ("-x", "-r")]


def _variables() -> Iterator[str]:
    for name in CARRIED:
        if os.environ.get(name):
            yield f"{name}={shlex.quote(os.environ[name])} "
