"""``flowd run``: run the daemon in the foreground, for systemd, launchd and debugging."""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from flowd import __version__
from flowd.cli.parser import add_verb
from flowd.config.paths import make_private_dir, resolve_paths


def add_parser(subparsers: Any) -> None:
    """Add ``flowd run``."""
    parser = add_verb(
        subparsers,
        "run",
        "run in the foreground (for systemd and launchd)",
        "Run flowd in the foreground until it is stopped.",
        run,
        examples="  flowd run              end it with Ctrl-C\n",
    )
    parser.add_argument("--detach", action="store_true", help="detach first, as `flowd start` does")


def run(arguments: argparse.Namespace) -> int:
    """Run the daemon until it is stopped."""
    from flowd.actions.daemon_client import Holder
    from flowd.config.settings import LiveSettings
    from flowd.daemon.process import InstanceLocks
    from flowd.hooks.command import write_launcher

    paths = resolve_paths()
    settings = LiveSettings(paths.config_file)
    locks = InstanceLocks(paths.lock, paths.database_at(settings.current.store.path))
    locks.acquire()
    if arguments.detach:
        locks.release()  # detaching closes every file, also these: take the locks again afterwards
        make_private_dir(paths.log_dir)
        _detach(paths.log_dir / "crash.txt")
        locks.acquire()
    locks.describe(Holder(os.getpid(), __version__, str(paths.socket), time.time()))
    os.umask(0o077)
    write_launcher(paths)
    _live(paths, settings, locks, console=not arguments.detach)
    return 0


def _live(paths: Any, settings: Any, locks: Any, *, console: bool) -> None:
    from flowd.config.logs import set_up_logging
    from flowd.daemon.supervisor import Supervisor
    from flowd.redaction.live import LiveRedactor

    redact = LiveRedactor(settings)
    set_up_logging(
        paths.log_dir, settings.current.log, console=console and sys.stderr.isatty(), redact=redact
    )
    Supervisor(paths, settings, locks).run()


def _detach(crash_file: Path) -> None:
    """Become a background process; the output of a crash goes to *crash_file*.

    Call it before any thread, socket or database is opened, and never under systemd or launchd.
    """
    from daemon import DaemonContext

    crash_file.touch(mode=0o600, exist_ok=True)
    output = crash_file.open("a", encoding="utf-8")
    context = DaemonContext(
        working_directory="/",
        umask=0o077,
        detach_process=True,
        prevent_core=True,
        signal_map={},
        stdout=output,
        stderr=output,
    )
    context.open()
