"""``flowd start``."""

import argparse
import time
from typing import Any

from flowd.actions.daemon_client import ask, control_socket
from flowd.cli.flowd.service import Started, start
from flowd.config.paths import Paths, resolve_paths
from flowd.system.errors import NotRunningError
from flowd.system.progress import ProgressBar

LOOK_S = 0.1


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "start", help="start in the background", description="Start flowd and wait until it answers."
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Start flowd, or say that it runs already."""
    paths = resolve_paths()
    result = start(paths)
    word = "started" if result.how is Started.NOW else "is already running"
    print(f"flowd {word} (pid {result.pid})", flush=True)
    watch_catch_up(paths)
    return 0


def watch_catch_up(paths: Paths) -> None:
    """Show on a terminal how far the reading of older transcripts is; Ctrl-C leaves it to itself."""
    progress, most = ProgressBar(), 0
    try:
        while progress.shown:
            status = ask(control_socket(paths), "status")
            if not status["catching_up"] and not status["waiting_files"]:
                break
            most = max(most, status["waiting_files"])
            progress.step("catching up", most - status["waiting_files"], most)
            time.sleep(LOOK_S)
    except (KeyboardInterrupt, NotRunningError):
        return
    finally:
        progress.clear()
