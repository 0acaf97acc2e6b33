"""``flowd config``: print every setting, its value and where the value comes from."""

import argparse
from importlib import resources
from typing import Any

import msgspec

from flowd.cli.output import print_json, table
from flowd.cli.parser import add_verb
from flowd.config.paths import resolve_paths
from flowd.config.settings import dotted_items, load_settings
from flowd.system.text import cut

MAX_VALUE_WIDTH = 32


def add_parser(subparsers: Any) -> None:
    """Add ``flowd config``."""
    parser = add_verb(
        subparsers,
        "config",
        "show the settings",
        "Print every setting, its value and where the value comes from.",
        run,
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print them as JSON")
    shown.add_argument("--path", action="store_true", help="print only the path of config.yaml")
    shown.add_argument("--defaults", action="store_true", help="print defaults.yaml, with comments")


def run(arguments: argparse.Namespace) -> int:
    """Print the settings; raise SettingsError naming the key if the file is invalid."""
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
        found = {key: {"value": value, "from": loaded.origins[key]} for key, value in items}
        print_json(found, name="settings")
        return 0
    rows = [("SETTING", "VALUE", "FROM")]
    rows += [(key, _text(value), loaded.origins[key]) for key, value in items]
    print("\n".join(table(rows, shrink={1: 8, 2: 8})))
    return 0


def _text(value: object) -> str:
    text = "-" if value is None else msgspec.json.encode(value).decode().strip('"')
    return cut(text, MAX_VALUE_WIDTH)
