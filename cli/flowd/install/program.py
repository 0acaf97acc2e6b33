"""The command line for a service manager: this interpreter, this package, this environment."""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from flowd.config.paths import Paths

# These override flowd's paths: the daemon and the commands must have the same ones.
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
# Where `uvx`, `pipx run` and the like keep interpreters until the next clean-up.
TEMPORARY_PATHS = ("/uv/archive-", "/uv/environments-", "/uv/builds-", "/pipx/.cache/", "/.cache/pipx/")


class Program(NamedTuple):
    """A command line with its environment and the file for its standard error."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    error_file: Path


def this_program(paths: Paths) -> Program:
    """Return the command line of the flowd that is running now."""
    # -P: managers start in the home directory, where a folder with the name of a module would be imported.
    arguments = (sys.executable, "-P", "-m", "flowd", "run")
    environment = {name: os.environ[name] for name in CARRIED if os.environ.get(name)}
    # The PATH of managers is short and often lacks git and bd.
    environment["PATH"] = _absolute_only(os.environ.get("PATH", os.defpath))
    return Program(arguments, environment, paths.log_dir / "crash.txt")


def is_passing(interpreter: str) -> bool:
    """Return True if *interpreter* is in a directory that is cleaned up."""
    temporary = {tempfile.gettempdir(), "/tmp", "/var/tmp"}  # noqa: S108 compared with, not used
    return interpreter.startswith(tuple(f"{place}/" for place in temporary)) or any(
        place in interpreter for place in TEMPORARY_PATHS
    )


def is_told_in(unit: str, program: Program) -> bool:
    """Return True if the text *unit* runs this interpreter with the paths of *program*."""
    return program.arguments[0] in unit and all(
        (name in unit) == (name in program.environment) and program.environment.get(name, "") in unit
        for name in CARRIED
    )


def _absolute_only(path: str) -> str:
    return os.pathsep.join(dict.fromkeys(part for part in path.split(os.pathsep) if part.startswith("/")))
