"""What a service manager is told to run: this interpreter, this package, this environment."""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from flowd.config.paths import Paths

# These move flowd's files: the daemon and the commands must agree on them wherever they are started.
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
# Where `uvx`, `pipx run` and the like keep interpreters that a later clean-up removes.
PASSING_PLACES = ("/uv/archive-", "/uv/environments-", "/uv/builds-", "/pipx/.cache/", "/.cache/pipx/")


class Program(NamedTuple):
    """One command line with its environment and the file for its last words."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    error_file: Path


def this_program(paths: Paths) -> Program:
    """Return how to run the flowd that is running now, without a terminal."""
    # -P: managers start in the home directory, where a folder named like a module would be imported.
    arguments = (sys.executable, "-P", "-m", "flowd", "run")
    environment = {name: os.environ[name] for name in CARRIED if os.environ.get(name)}
    # Managers have a short PATH of their own, on which git and bd are often not found.
    environment["PATH"] = _absolute_only(os.environ.get("PATH", os.defpath))
    return Program(arguments, environment, paths.log_dir / "crash.txt")


def is_passing(interpreter: str) -> bool:
    """Say whether *interpreter* lies where things are cleaned away."""
    temporary = {tempfile.gettempdir(), "/tmp", "/var/tmp"}  # noqa: S108 looked at, not used
    return interpreter.startswith(tuple(f"{place}/" for place in temporary)) or any(
        place in interpreter for place in PASSING_PLACES
    )


def is_told_in(unit: str, program: Program) -> bool:
    """Say whether the text *unit* runs this interpreter with the same places as *program*."""
    return program.arguments[0] in unit and all(
        (name in unit) == (name in program.environment) and program.environment.get(name, "") in unit
        for name in CARRIED
    )


def _absolute_only(path: str) -> str:
    return os.pathsep.join(dict.fromkeys(part for part in path.split(os.pathsep) if part.startswith("/")))
