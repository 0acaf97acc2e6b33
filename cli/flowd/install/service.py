"""The step of ``flowd install`` that registers flowd with the service manager."""

import argparse
import sys
from pathlib import Path

from flowd.actions.daemon_client import running_holder
from flowd.cli.flowd.lifecycle import start, stop, wait_until_answering
from flowd.cli.flowd.manager.manager import (
    Manager,
    ManagerCommand,
    is_temporary,
    manager_for,
    run_or_raise,
    this_program,
)
from flowd.config.paths import Paths, make_private_dir
from flowd.config.settings import LiveSettings
from flowd.system.errors import FlowdError
from flowd.system.files import atomic_write


def add_options(_: argparse.ArgumentParser) -> None:
    """Add none: the service is always installed."""


def install(paths: Paths, arguments: argparse.Namespace, platform: str = sys.platform) -> None:
    """Write the unit, enable and start it; print every file written and every command run."""
    dry_run = bool(arguments.dry_run)
    LiveSettings(paths.config_file)  # report an invalid setting here, not in a log
    manager = manager_for(platform)
    _warn_if_temporary()
    changed = _write(manager, paths, dry_run=dry_run)
    if not manager.reachable():
        _start_without(manager, paths, dry_run=dry_run)
        return
    holder = running_holder(paths.lock)
    owned = manager.owned_pid()
    if holder and holder.pid == owned and manager.enabled() and not changed:
        print(f"flowd is already running under {manager.name} (pid {holder.pid}); nothing to do")
        return
    if holder and holder.pid != owned:
        _stop_detached_daemon(paths, holder.pid, dry_run=dry_run)
    _run_all(manager.commands_to_enable(), dry_run=dry_run)
    if not dry_run:
        print(f"flowd is running (pid {wait_until_answering(paths)}) and starts at every login")


def _start_without(manager: Manager, paths: Paths, *, dry_run: bool) -> None:
    """Start flowd without its manager, and print what is missing for a start at login."""
    later = " && ".join(map(str, manager.commands_to_enable()))
    if dry_run:
        print(f"would start  flowd in the background: {manager.name} is not reachable in this session")
        return
    print(f"flowd runs now (pid {start(paths).pid}), but does not start at login: {manager.name} is not")
    print("reachable in this session (a container, WSL without systemd, or a login without a session).")
    print(f"  where {manager.name} runs:  {later}")
    print("  without it:           flowd install --profile   (starts flowd from your login shell)")


def uninstall(paths: Paths, arguments: argparse.Namespace, platform: str = sys.platform) -> None:
    """Stop flowd, disable its start at login and remove the unit; the data stays."""
    dry_run = bool(arguments.dry_run)
    manager = manager_for(platform)
    if manager.unit_file.exists() and manager.reachable():
        _run_all(manager.commands_to_disable(), dry_run=dry_run)
    holder = running_holder(paths.lock)
    if holder:
        _stop_detached_daemon(paths, holder.pid, dry_run=dry_run)
    left = [file for file in (manager.unit_file, *manager.links) if file.exists() or file.is_symlink()]
    for file in left:
        print(f"{'would remove' if dry_run else 'removed'}  {file}")
        if not dry_run:
            file.unlink()
    if not left:
        print(f"no unit at {manager.unit_file}: nothing to remove")
    elif manager.reachable():
        _run_all(manager.commands_to_forget(), dry_run=dry_run)


def _warn_if_temporary() -> None:
    if is_temporary(sys.executable):
        from flowd.cli.installation import permanent_install_command, this_installation

        print(
            f"flowd: warning: {sys.executable} is temporary; the service fails once it is deleted\n"
            f"  install flowd permanently: {permanent_install_command(this_installation())}",
            file=sys.stderr,
        )


def _write(manager: Manager, paths: Paths, *, dry_run: bool) -> bool:
    """Write the unit; return True if it has changed."""
    program, file = this_program(paths), manager.unit_file
    text = manager.unit_text(program)
    if file.exists() and file.read_text(encoding="utf-8") == text:
        print(f"unchanged  {file}")
        return False
    if dry_run:
        print(f"would write  {file}\n\n{text}")
        return True
    for directory in (file.parent, *manager.needed_dirs(program)):
        make_private_dir(directory)
    _replace(file, text)
    print(f"wrote  {file}")
    return True


def _replace(file: Path, text: str) -> None:
    try:
        atomic_write(file, text, mode=0o644)
    except OSError as error:
        raise FlowdError(
            f"cannot write {file}: {error.strerror}", hint="check the permissions of its directory"
        ) from error


def _stop_detached_daemon(paths: Paths, pid: int, *, dry_run: bool) -> None:
    if dry_run:
        print(f"would stop  the flowd that runs outside the service manager (pid {pid})")
    else:
        print(f"{stop(paths).value}  the flowd that ran outside the service manager (pid {pid})")


def _run_all(commands: list[ManagerCommand], *, dry_run: bool) -> None:
    for command in commands:
        print(f"{'would run' if dry_run else 'run'}  {command}", flush=True)
        if not dry_run:
            run_or_raise(command)
