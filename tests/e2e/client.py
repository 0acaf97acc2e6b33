"""The real programs these tests drive: installed once by npm, run sealed off from the person's own home."""

import fcntl
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

TOOLS = Path(__file__).parents[2] / ".e2e"
PACKAGE = "@anthropic-ai/claude-code"
# Most tests run with this one; those of test_client_matrix.py with many.
CLIENT_VERSION = "2.1.326"
NODE = "node@22"
INSTALL_DEADLINE_S = 900
RUN_DEADLINE_S = 180


class Ran(NamedTuple):
    """How a program ended."""

    returncode: int
    stdout: str
    stderr: str


def has_npm() -> bool:
    """Say whether programs can be installed here at all."""
    return shutil.which("npm") is not None


def install(*packages: str, into: Path = TOOLS) -> Path:
    """Install *packages* below .e2e, unless they are there, and return the folder of modules."""
    into.mkdir(parents=True, exist_ok=True)
    with (TOOLS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [each for each in packages if not _marker(into, each).exists()]
        if missing:
            command = ["npm", "--prefix", str(into), "install", "--no-audit", "--no-fund", *missing]
            subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_DEADLINE_S)
        for each in missing:
            _marker(into, each).touch()
    return into / "node_modules"


def install_claude(version: str = CLIENT_VERSION) -> Path:
    """Return the client of *version*: a program of its own, or for node where it is older than 2.1.1xx."""
    modules = install(f"{PACKAGE}@{version}", into=TOOLS / f"claude-code-{version}")
    native = list(modules.glob("@anthropic-ai/claude-code-*/claude"))
    return native[0] if native else modules / ".bin" / "claude"


def newest_version() -> str:
    """Return the version of the client that npm would install today; the pinned one if npm does not say."""
    asked = subprocess.run(
        ["npm", "view", PACKAGE, "version"], capture_output=True, text=True, timeout=60, check=False
    )
    return asked.stdout.strip() or CLIENT_VERSION


def install_node() -> Path:
    """Return a node new enough for the protocol's own tools, whatever this machine has."""
    modules = install(NODE)
    return next(modules.glob("node/bin/node"))


def sealed_environment(home: Path, api_url: str = "") -> dict[str, str]:
    """Return an environment in which Claude Code and flowd touch *home* only and reach *api_url* only."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "CLAUDE_CODE_TMPDIR": str(home / "tmp"),
        "XDG_RUNTIME_DIR": str(home / "run"),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "NO_PROXY": "127.0.0.1,localhost",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # With -p the client says that a program drives it, unless it is told otherwise. Most tests play a
        # person with it; those of headless sessions set sdk-cli, which it says by itself.
        "CLAUDE_CODE_ENTRYPOINT": "claude-desktop",
    }
    for folder in (home, home / "tmp", home / "run"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if api_url:
        environment |= {"ANTHROPIC_BASE_URL": api_url, "ANTHROPIC_API_KEY": "not-a-key"}
    return environment


def run_program(
    command: list[str], environment: dict[str, str], cwd: Path, *, deadline_s: float = RUN_DEADLINE_S
) -> Ran:
    """Run *command* in a process group of its own, without input, and kill all of it at the deadline."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=deadline_s)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return Ran(process.returncode, stdout, stderr)


def _marker(folder: Path, package: str) -> Path:
    return folder / f"installed-{package.replace('/', '+')}"
