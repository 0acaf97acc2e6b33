"""``flowd config``: every setting in force, and where each comes from."""

import argparse
from importlib import resources
from typing import Any

import msgspec

from flowd.cli.output import table
from flowd.config.paths import resolve_paths
from flowd.config.settings import dotted_items, load_settings

VALUE_WIDTH = 32


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "config",
        help="the settings in force",
        description="Show every setting, its value and where it comes from.",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="as JSON")
    shown.add_argument("--path", action="store_true", help="only where config.yaml is")
    shown.add_argument("--defaults", action="store_true", help="defaults.yaml, which explains each setting")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the settings; a wrong file is an error that names the key."""
    file = resolve_paths().config_file
    if arguments.path:
        print(file)
        return 0
    if arguments.defaults:
        print(resources.files("flowd.config").joinpath("defaults.yaml").read_text(encoding="utf-8"), end="")
        return 0
    loaded = load_settings(file)
    items = dotted_items(loaded.settings)
    if arguments.json:
        answer = {key: {"value": value, "from": loaded.origins[key]} for key, value in items}
        print(msgspec.json.format(msgspec.json.encode(answer)).decode())
        return 0
    rows = [("SETTING", "VALUE", "FROM")]
    rows += [(key, _shown(value), loaded.origins[key]) for key, value in items]
    print("\n".join(table(rows, shrink=2)))
    return 0


def _shown(value: object) -> str:
    text = "-" if value is None else msgspec.json.encode(value).decode().strip('"')
    return text if len(text) <= VALUE_WIDTH else f"{text[: VALUE_WIDTH - 1]}…"
