"""The commands by which Claude Code calls flowd's hook program, and how they are known again."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flowd
from flowd.config.paths import Paths, make_private_dir
from flowd.system.files import atomic_write

# The hook keeps its own budget; these, in seconds, only stop a machine in trouble from waiting for ever.
TIMEOUTS_S = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PreCompact": 10,
    "PostCompact": 5,
    "Stop": 5,
    "SubagentStop": 5,
    "SessionEnd": 5,
}
# These move flowd's files; a hook's child must look where the daemon does.
CARRIED = ("FLOWD_CONFIG", "FLOWD_DATA_DIR", "FLOWD_STATE_DIR", "FLOWD_RUNTIME_DIR")
# program.py looks for this text too, so that the plugin stands back where the settings have the hook.
MARK = "# flowd-hook "
OURS = re.compile(r"^set -- (\w+); .*hook\.sh.* " + MARK + r"\1$", re.DOTALL)
LAUNCHER = "hook.sh"


def hook_program() -> Path:
    """Return the program that Claude Code runs."""
    return Path(flowd.__file__).parent / "hooks" / "hook.py"


def hook_command(paths: Paths, event: str) -> str:
    """Return the shell command for *event*; it does nothing, quietly, once flowd is gone."""
    # Short, because the client shows it to people and to the model; and without a word about the
    # interpreter, so that it stays right when flowd moves: the launcher is renewed at every start.
    launcher = shlex.quote(str(paths.state_dir / LAUNCHER))
    return f"set -- {event}; [ ! -r {launcher} ] || . {launcher} {MARK}{event}"


def hook_entries(paths: Paths) -> dict[str, dict[str, Any]]:
    """Return for each event what stands in settings.json."""
    return {
        event: {"hooks": [{"type": "command", "command": hook_command(paths, event), "timeout": timeout}]}
        for event, timeout in TIMEOUTS_S.items()
    }


def is_ours(command: object) -> bool:
    """Say whether *command* is one that flowd wrote, of this version or another."""
    return isinstance(command, str) and OURS.search(command) is not None


def files_needed(command: str) -> list[Path]:
    """Return the files without which *command* does nothing: the launcher, and what that one runs."""
    launcher = _tested_files(command)
    texts = [file.read_text(encoding="utf-8") for file in launcher if file.is_file()]
    return launcher + [file for text in texts for file in _tested_files(text)]


def write_launcher(paths: Paths) -> None:
    """Leave a note in the state directory by which the hooks find this flowd."""
    file = paths.state_dir / LAUNCHER
    text = f"# Written by flowd at every start: how Claude Code's hooks reach it.\n{_call(paths)}\n"
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return
    make_private_dir(paths.state_dir)
    atomic_write(file, text)


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
