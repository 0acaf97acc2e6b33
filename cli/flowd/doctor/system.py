"""Checks of the machine: inotify watches, git, bd, Claude Code."""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from flowd.cli.flowd.doctor.finding import CheckResult, DoctorContext, Level
from flowd.cli.flowd.install.hook_settings import hooks_state
from flowd.cli.flowd.install.mcp import NAME, code_file, entry_in, is_ours
from flowd.cli.flowd.manager.manager import run_quietly
from flowd.system.errors import FlowdError
from flowd.workspace.clients import find_client

LIMITS = Path("/proc/sys/fs/inotify")
PROCESSES = Path("/proc")
MORE_WATCHES = (
    "echo fs.inotify.max_user_watches=524288 | sudo tee /etc/sysctl.d/60-flowd.conf && sudo sysctl --system"
)
MORE_INSTANCES = (
    "echo fs.inotify.max_user_instances=512 | sudo tee /etc/sysctl.d/61-flowd.conf && sudo sysctl --system"
)


def check_watches(case: DoctorContext) -> CheckResult:
    """Check that the system has enough inotify watches left for flowd."""
    if sys.platform != "linux":
        return CheckResult("watches", "ok", "this system has no limit on watches")
    most_watches, most_instances = _limit("max_user_watches"), _limit("max_user_instances")
    instances, watches = _in_use()
    needed = 0 if case.status else _directories(case.claude_dir / "projects")
    seen = f"{watches} of {most_watches} inotify watches and {instances} of {most_instances} instances in use"
    if case.status and (polled := case.status.watches.polled):
        if any(is_closed(each) for each in (case.claude_dir, case.claude_dir / "projects")):
            return CheckResult("watches", "info", f"{seen}; see `claude` for what is not watched")
        noun = "directory is" if polled == 1 else "directories are"
        return CheckResult("watches", "warning", f"{seen}; {polled} {noun} polled", MORE_WATCHES)
    if watches + needed > most_watches:
        return CheckResult("watches", "warning", f"{seen}; flowd needs {needed}", MORE_WATCHES)
    if case.status is None and instances >= most_instances:
        return CheckResult("watches", "warning", f"{seen}; flowd needs one", MORE_INSTANCES)
    return CheckResult("watches", "ok", seen)


def check_claude(case: DoctorContext) -> CheckResult:
    """Check that Claude Code's directory exists."""
    projects = case.claude_dir / "projects"
    if closed := next(filter(is_closed, (case.claude_dir, projects)), None):
        seen = f"{closed} cannot be read: Permission denied"
        return CheckResult("claude", "trouble", seen, f"chmod u+rwx {closed}")
    if not case.claude_dir.exists() and case.is_claude_dir_set:
        seen = f"{case.claude_dir}, which claude.config_dir names, does not exist"
        return CheckResult("claude", "warning", seen, "flowd config unset claude.config_dir")
    if projects.is_dir():
        return CheckResult("claude", "ok", f"{projects} exists")
    seen = f"{projects} does not exist yet; flowd waits for it"
    return CheckResult("claude", "info", seen, "start Claude Code once, or set claude.config_dir")


def is_closed(directory: Path) -> bool:
    """Return True if *directory* exists and this user cannot list it."""
    return os.path.lexists(directory) and not os.access(directory, os.R_OK | os.X_OK)


def check_client(case: DoctorContext) -> CheckResult:
    """Check that Claude Code's command is found, and what it has registered of flowd."""
    program = find_client()
    if program is None:
        seen = "Claude Code's command `claude` was not found"
        return CheckResult("client", "info", seen, "install Claude Code, or add it to the PATH")
    has_mcp = is_ours(entry_in(code_file(), NAME))
    names = [("the MCP server", has_mcp), ("the plugin", _has_plugin(case))]
    registered = " and ".join(name for name, there in names if there)
    if not registered:
        seen = f"{program}; neither MCP server nor plugin is registered (optional)"
        return CheckResult("client", "info", seen, "flowd install --plugin")
    if has_mcp and find_spec("mcp") is None:
        seen = f"{program} starts the MCP server, which needs the extra `mcp`"
        return CheckResult("client", "trouble", seen, "flowd mcp   (says how to install it)")
    return CheckResult("client", "ok", f"{program} has {registered} registered")


def _has_plugin(case: DoctorContext) -> bool:
    try:
        return hooks_state(case.claude_dir / "settings.json").plugin
    except FlowdError:
        return False


def check_git(_: DoctorContext) -> CheckResult:
    """Check for git, which flowd uses for branches and drift."""
    return _program("git", ("git", "--version"), "warning", "install git")


def check_bd(_: DoctorContext) -> CheckResult:
    """Check for Beads, which flowd can write notes to."""
    return _program("bd", ("bd", "version"), "info", "only needed for Beads notes")


def _program(check: str, words: tuple[str, ...], level_without: Level, fix: str) -> CheckResult:
    place = shutil.which(words[0])
    if place is None:
        return CheckResult(check, level_without, f"{check} is not on PATH", fix)
    run = run_quietly(*words)
    if run.code != 0:
        return CheckResult(check, "warning", f"{place} does not run: {' '.join(run.stderr.split())}", fix)
    return CheckResult(check, "ok", f"{next(iter(run.stdout.splitlines()), '')} ({place})")


def _limit(name: str) -> int:
    return int((LIMITS / name).read_text(encoding="ascii"))


def _in_use() -> tuple[int, int]:
    """Return the number of inotify instances and watches of this user's processes."""
    instances = watches = 0
    for entry in PROCESSES.glob("[0-9]*/fd"):
        for descriptor in _inotify_descriptors(entry):
            instances += 1
            watches += _watches_of(entry.parent / "fdinfo" / descriptor)
    return instances, watches


def _inotify_descriptors(folder: Path) -> list[str]:
    try:
        if folder.stat().st_uid != os.getuid():
            return []
        return [name for name in os.listdir(folder) if _target(folder / name) == "anon_inode:inotify"]
    except OSError:  # the process has ended, or belongs to another user
        return []


def _target(link: Path) -> str:
    try:
        return os.readlink(link)  # noqa: PTH115 not a path on disk
    except OSError:
        return ""


def _watches_of(information: Path) -> int:
    try:
        return information.read_text(encoding="ascii", errors="replace").count("inotify wd:")
    except OSError:
        return 0


def _directories(projects: Path) -> int:
    try:
        return 1 + sum(entry.is_dir() for entry in os.scandir(projects))
    except OSError:
        return 1
