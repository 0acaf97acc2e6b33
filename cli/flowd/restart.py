"""``flowd restart``."""

import argparse
from typing import Any

from flowd.cli.flowd.service import restart
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
    print(f"flowd restarted (pid {restart(paths)})")
    return 0
