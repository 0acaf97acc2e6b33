"""``flowd restart``: stop the daemon and start it again."""

import argparse
from typing import Any

from flowd.cli.flowd.service import restart
from flowd.cli.verb import add_verb
from flowd.config.paths import resolve_paths
from flowd.config.settings import LiveSettings


def add_parser(subparsers: Any) -> None:
    """Add ``flowd restart``."""
    add_verb(subparsers, "restart", "stop and start again", "Stop flowd and start it again.", run)


def run(_: argparse.Namespace) -> int:
    """Replace the running daemon; check the settings before the old one is stopped."""
    paths = resolve_paths()
    LiveSettings(paths.config_file)
    print(f"flowd restarted (pid {restart(paths)})")
    return 0
