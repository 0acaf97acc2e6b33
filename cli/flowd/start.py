"""``flowd start``: start the daemon in the background."""

import argparse
import time
from typing import Any

from flowd.actions.daemon_client import ask, control_socket
from flowd.cli.flowd.service import Started, start
from flowd.cli.verb import add_verb
from flowd.config.paths import Paths, resolve_paths
from flowd.system.errors import NotRunningError
from flowd.system.progress import ProgressBar

POLL_S = 0.1


def add_parser(subparsers: Any) -> None:
    """Add ``flowd start``."""
    about = "Start flowd and wait until it answers."
    add_verb(subparsers, "start", "start in the background", about, run)


def run(_: argparse.Namespace) -> int:
    """Start flowd unless it is running, and print its pid."""
    paths = resolve_paths()
    result = start(paths)
    word = "started" if result.how is Started.NOW else "is already running"
    print(f"flowd {word} (pid {result.pid})", flush=True)
    watch_catch_up(paths)
    return 0


def watch_catch_up(paths: Paths) -> None:
    """Show a progress bar while older transcripts are read; Ctrl-C only ends the bar."""
    progress, most = ProgressBar(), 0
    try:
        while progress.shown:
            status = ask(control_socket(paths), "status")
            if not status["catching_up"] and not status["waiting_files"]:
                break
            most = max(most, status["waiting_files"])
            progress.step("catching up", most - status["waiting_files"], most)
            time.sleep(POLL_S)
    except (KeyboardInterrupt, NotRunningError):
        return
    finally:
        progress.clear()
