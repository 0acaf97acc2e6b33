"""The commands by which Claude Code calls flowd's hook program, and how they are known again."""

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import flowd
from flowd.config.paths import Paths, make_private_dir
from flowd.system.files import atomic_write

Version = tuple[int, int, int]

# The hook keeps its own budget; these, in seconds, only stop a machine in trouble from waiting for ever.
TIMEOUTS_S = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PreCompact": 10,
    "Stop": 5,
    "SubagentStop": 5,
    "SessionEnd": 5,
}
# The first client that knows each event. A client before 2.1.77 or so drops the whole settings.json, the
# permissions in it included, when it names an event that the client does not know.
FIRST_VERSIONS: dict[str, Version] = {
    "SessionStart": (1, 0, 62),
    "UserPromptSubmit": (1, 0, 54),
    "PreCompact": (1, 0, 48),
    "Stop": (1, 0, 38),
    "SubagentStop": (1, 0, 41),
    "SessionEnd": (1, 0, 85),
}
# The oldest client that flowd is tried with.
OLDEST_VERSION: Version = (1, 0, 128)
# These move flowd's files; a hook's child must look where the daemon does.
CARRIED = ("FLOWD_CONFIG", "FLOWD_DATA_DIR", "FLOWD_STATE_DIR", "FLOWD_RUNTIME_DIR")
# program.py looks for these texts too, so that the plugin stands back where the settings have the hook.
MARK = "||: flowd"
OLD_MARK = "# flowd-hook "
OURS = re.compile(rf"hook\.sh'?{re.escape(MARK)}$|^set -- (\w+); .*hook\.sh.* {OLD_MARK}\1$", re.DOTALL)
LAUNCHER = "hook.sh"


def hook_program() -> Path:
    """Return the program that Claude Code runs."""
    return Path(flowd.__file__).parent / "hooks" / "hook.py"


def known_events(version: Version | None) -> tuple[str, ...]:
    """Return the events to ask the client of *version* for; None stands for any supported one."""
    client = version or OLDEST_VERSION
    return tuple(event for event in TIMEOUTS_S if FIRST_VERSIONS[event] <= client)


def hook_command(paths: Paths) -> str:
    """Return the shell command for every event; it does nothing, quietly, once flowd is gone."""
    # Short, because the client shows it to people and to the model; and without a word about the
    # interpreter, so that it stays right when flowd moves: the launcher is renewed at every start.
    return f"{_shell_path(paths.state_dir / LAUNCHER)}{MARK}"


def hook_entries(paths: Paths, events: Iterable[str] = tuple(TIMEOUTS_S)) -> dict[str, dict[str, Any]]:
    """Return for each of *events* what stands in settings.json."""
    command = hook_command(paths)
    return {
        event: {"hooks": [{"type": "command", "command": command, "timeout": TIMEOUTS_S[event]}]}
        for event in events
    }


def is_ours(command: object) -> bool:
    """Say whether *command* is one that flowd wrote, of this version or another."""
    return isinstance(command, str) and OURS.search(command) is not None


def leads_nowhere(command: str) -> bool:
    """Return True if *command* does not reach a hook program: it, or its launcher, is gone."""
    launcher = _launcher_of(command)
    if not os.access(launcher, os.R_OK if OLD_MARK in command else os.X_OK):
        return True
    return not all(file.exists() for file in _tested_files(launcher.read_text(encoding="utf-8")))


def write_launcher(paths: Paths) -> None:
    """Leave a program in the state directory by which the hooks find this flowd."""
    file = paths.state_dir / LAUNCHER
    text = (
        f"#!/bin/sh\n# Written by flowd at every start: how Claude Code's hooks reach it.\n{_call(paths)}\n"
    )
    if os.access(file, os.X_OK) and file.read_text(encoding="utf-8") == text:
        return
    make_private_dir(paths.state_dir)
    atomic_write(file, text, mode=0o700)


def _shell_path(file: Path) -> str:
    """Return *file* as a word of the shell, from ``~`` where that is shorter."""
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
    # An interpreter without its program would end with 2, by which a hook blocks: look first.
    return f"if [ -x {interpreter} ] && [ -r {program} ]; then {call}; fi"


def _tested_files(text: str) -> list[Path]:
    words = shlex.split(text, comments=True)
    return [Path(words[place + 1]) for place, word in enumerate(words[:-1]) if word in ("-x", "-r")]


def _variables() -> Iterator[str]:
    for name in CARRIED:
        if os.environ.get(name):
            yield f"{name}={shlex.quote(os.environ[name])} "
