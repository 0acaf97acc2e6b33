"""``flowd restart``."""

import argparse
from typing import Any

from flowd.cli.service import Stopped, start, stop
from flowd.config.live import LiveSettings
from flowd.config.paths import resolve_paths


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "restart", help="stop and start again", description="Stop flowd and start it."
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Replace the running daemon; a wrong setting is found before the old one is stopped."""
    paths = resolve_paths()
    LiveSettings(paths.config_file)
    stopped = stop(paths)
    if stopped is not Stopped.NOT_RUNNING:
        print(f"flowd {stopped.value}")
    print(f"flowd started (pid {start(paths).pid})")
    return 0
