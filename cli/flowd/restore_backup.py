"""``flowd restore-backup``: list the daily backups of core.db, or restore one."""

import argparse
from pathlib import Path
from typing import Any

from flowd.actions.daemon_client import running_holder
from flowd.cli.output import ago, size, table
from flowd.cli.parser import add_verb
from flowd.config.paths import resolve_paths
from flowd.config.settings import load_settings
from flowd.store.backups import Backup, daily_backups, restore
from flowd.system.errors import FlowdError

EXAMPLES = """\
  flowd restore-backup               list the backups
  flowd restore-backup latest        restore the newest one
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flowd restore-backup``."""
    parser = add_verb(
        subparsers,
        "restore-backup",
        "restore a daily backup of core.db",
        "List the daily backups of core.db, or restore one. The present core.db is kept beside it.\n"
        "Stop flowd first; after its next start it reads again what the backup does not have.",
        run,
        examples=EXAMPLES,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a backup from the list, or `latest`")


def run(arguments: argparse.Namespace) -> int:
    """List the backups, or restore one."""
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
        print(f"the former core.db is now {moved}")
    print("start flowd again with `flowd start`")
    return 0


def _chosen(backups: list[Backup], name: str) -> Backup:
    named = backups[:1] if name == "latest" else [one for one in backups if one.path.name == name]
    if not named:
        raise FlowdError(f"no backup is named {name}", hint="list them with `flowd restore-backup`")
    return named[0]


def _print_list(database: Path, backups: list[Backup]) -> None:
    if not backups:
        print(f"no backups of {database} yet: flowd makes one a day")
        return
    rows = [[one.path.name, ago(one.made_at), size(one.size_bytes)] for one in backups]
    print("\n".join(table([["NAME", "MADE", "SIZE"], *rows], shrink={0: 8})))
