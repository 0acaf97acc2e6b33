"""``flowd restore-backup``: list the daily copies of core.db, and put one back."""

import argparse
from pathlib import Path
from typing import Any

from flowd.actions.daemon_client import running_holder
from flowd.cli.output import ago, size, table
from flowd.config.paths import resolve_paths
from flowd.config.settings import load_settings
from flowd.store.backups import Backup, daily_backups, restore
from flowd.system.errors import FlowdError

EXAMPLES = """\
examples:
  flowd restore-backup               list the copies
  flowd restore-backup latest        put the newest one back
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "restore-backup",
        help="put a daily copy of core.db back",
        description=(
            "List the daily copies of core.db, or put one back. The core.db that was there is kept beside "
            "it. Stop flowd first; after its next start it reads again what the copy does not have."
        ),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a copy of the list, or `latest`")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List the copies, or restore the one that is named."""
    paths = resolve_paths()
    database = paths.database_at(load_settings(paths.config_file).settings.store.path)
    backups = daily_backups(database)
    if arguments.name is None:
        _print_list(database, backups)
        return 0
    chosen = _chosen(backups, arguments.name)
    holder = running_holder(paths.lock)
    if holder is not None:
        raise FlowdError(
            f"flowd is running (pid {holder.pid}) and has core.db open",
            hint=f"flowd stop && flowd restore-backup {arguments.name} && flowd start",
        )
    moved = restore(database, chosen.path)
    print(f"restored {database} from {chosen.path.name}")
    if moved is not None:
        print(f"the core.db that was there is now {moved}")
    print("start flowd again with `flowd start`")
    return 0


def _chosen(backups: list[Backup], name: str) -> Backup:
    named = backups[:1] if name == "latest" else [one for one in backups if one.path.name == name]
    if not named:
        raise FlowdError(f"no backup is named {name}", hint="`flowd restore-backup` lists them")
    return named[0]


def _print_list(database: Path, backups: list[Backup]) -> None:
    if not backups:
        print(f"no backups of {database} yet: flowd makes one a day")
        return
    rows = [[one.path.name, ago(one.made_at), size(one.size_bytes)] for one in backups]
    print("\n".join(table([["NAME", "MADE", "SIZE"], *rows])))
