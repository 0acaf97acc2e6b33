"""``flowd run``: the daemon itself, in the foreground for systemd, launchd and people who watch."""

import argparse
import os
import sys
import time
from typing import Any

from flowd import __version__
from flowd.config.paths import make_private_dir, resolve_paths


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "run",
        help="run in the foreground (what systemd and launchd call)",
        description="Run flowd in the foreground until it is told to stop.",
    )
    parser.add_argument(
        "--detach", action="store_true", help="leave the terminal first (what `flowd start` does)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Be the daemon."""
    from flowd.actions.daemon_client import Holder
    from flowd.config.live import LiveSettings
    from flowd.daemon.lock import InstanceLock
    from flowd.hooks.command import write_launcher

    paths = resolve_paths()
    settings = LiveSettings(paths.config_file)
    lock = InstanceLock(paths.lock)
    lock.acquire()
    if arguments.detach:
        lock.release()  # detaching closes every file; the lock is taken again on the other side
        _detach(paths.log_dir)
        lock.acquire()
    lock.describe(Holder(os.getpid(), __version__, str(paths.socket), time.time()))
    os.umask(0o077)
    write_launcher(paths)
    _live(paths, settings, lock, console=not arguments.detach)
    return 0


def _detach(log_dir: Any) -> None:
    from flowd.daemon.detach import detach

    make_private_dir(log_dir)
    detach(log_dir / "crash.txt")


def _live(paths: Any, settings: Any, lock: Any, *, console: bool) -> None:
    from flowd.config.logs import set_up_logging
    from flowd.daemon.supervisor import Supervisor
    from flowd.redaction.redactor import redact

    set_up_logging(
        paths.log_dir, settings.current.log, console=console and sys.stderr.isatty(), redact=redact
    )
    Supervisor(paths, settings, lock).run()
