"""``flowd install`` and ``flowd uninstall``: run the steps in order, each of them an InstallStep."""

import argparse
import sys
from typing import Any, Protocol

from flowd.cli.flowd.install import hooks as install_hooks
from flowd.cli.flowd.install import login_shell as install_login_shell
from flowd.cli.flowd.install import mcp as install_mcp
from flowd.cli.flowd.install import plugin as install_plugin
from flowd.cli.flowd.install import service as install_service
from flowd.cli.flowd.install import shell_completion as install_completion
from flowd.cli.flowd.install.leftovers import Leftover, leftovers, print_left, purge
from flowd.cli.parser import add_verb
from flowd.config.paths import Paths, resolve_paths
from flowd.system.errors import FlowdError


class InstallStep(Protocol):
    """Installs something outside flowd's directories.

    With ``arguments.dry_run`` it prints what it would do, and does nothing.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that select this step."""
        ...

    def install(self, paths: Paths, arguments: argparse.Namespace) -> None:
        """Install it if it is selected; print every file written."""
        ...

    def uninstall(self, paths: Paths, arguments: argparse.Namespace) -> None:
        """Remove it if it is installed; print every file removed."""
        ...


def steps() -> list[InstallStep]:
    """Return all steps."""
    return [
        install_service,
        install_login_shell,
        install_mcp,
        install_plugin,
        install_hooks,
        install_completion,
    ]


def chosen(arguments: argparse.Namespace) -> list[InstallStep]:
    """Return the steps that are selected by an option, all of them without such options."""
    by_option: dict[str, InstallStep] = {
        "profile": install_login_shell,
        "mcp": install_mcp,
        "mcp_desktop": install_mcp,
        "plugin": install_plugin,
        "hooks": install_hooks,
        "completion": install_completion,
    }
    named = [step for option, step in by_option.items() if getattr(arguments, option, False)]
    return [step for step in steps() if step in named] or steps()


EXAMPLES = """\
  flowd install --dry-run     print what would be written and run
  flowd install               start at every login, and now
  flowd install --hooks       have Claude Code call flowd (prints the change to settings.json)
  flowd install --plugin      the same hooks, the MCP server and commands as a plugin of Claude Code
  flowd install --profile     without systemd: start from your login shell
  flowd uninstall             undo it; your data stays
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flowd install``."""
    parser = add_verb(
        subparsers,
        "install",
        "start at every login",
        "Register flowd with the service manager: systemd on Linux, launchd on macOS.",
        run,
        examples=EXAMPLES,
    )
    parser.add_argument("--dry-run", action="store_true", help="print every change, make none")
    for step in steps():
        step.add_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run every step; a second run changes nothing."""
    paths = resolve_paths()
    for step in chosen(arguments):
        step.install(paths, arguments)
    return 0


UNINSTALL_EXAMPLES = """\
  flowd uninstall --dry-run    what would be removed, and what would stay
  flowd uninstall --hooks      only the hooks
  flowd uninstall --purge      the data too: core.db, logs, settings, handoff.yaml files
"""


def add_uninstall(subparsers: Any) -> None:
    """Add ``flowd uninstall``."""
    parser = add_verb(
        subparsers,
        "uninstall",
        "undo install; your data stays",
        "Stop flowd and remove what `flowd install` wrote; files that nobody else has changed are byte for "
        "byte as before. The data stays, and is listed.",
        run_uninstall,
        examples=UNINSTALL_EXAMPLES,
    )
    parser.add_argument("--dry-run", action="store_true", help="print every change, make none")
    parser.add_argument("--purge", action="store_true", help="delete flowd's data and settings too")
    parser.add_argument("-y", "--yes", action="store_true", help="purge without asking")
    parser.add_argument("--hooks", action="store_true", help="remove only Claude Code's hooks")
    parser.add_argument("--mcp", action="store_true", help="remove only the MCP server's registrations")
    parser.add_argument("--plugin", action="store_true", help="remove only the plugin of Claude Code")


def run_uninstall(arguments: argparse.Namespace) -> int:
    """Undo every step, the service first."""
    paths = resolve_paths()
    found = [] if _is_partial(arguments) else leftovers(paths)
    if arguments.purge and not (arguments.dry_run or arguments.yes):
        _confirm(found)
    for step in chosen(arguments):
        step.uninstall(paths, arguments)
    if arguments.purge:
        purge(found, dry_run=arguments.dry_run)
    else:
        print_left(found)
    return 0


def _is_partial(arguments: argparse.Namespace) -> bool:
    """Return True if only some steps were chosen, so that flowd itself stays."""
    return chosen(arguments) != steps()


def _confirm(found: list[Leftover]) -> None:
    """Ask before data is deleted; raise FlowdError without a terminal or a yes."""
    print("this deletes:")
    for one in found:
        if one.removable:
            print(f"  {one.path}  ({one.what})")
    if not sys.stdin.isatty():
        raise FlowdError("cannot ask: standard input is not a terminal", hint="run it with --yes to delete")
    if input("Delete all of it? [y/N] ").strip().lower() not in ("y", "yes"):
        raise FlowdError("nothing was removed", hint="`flowd uninstall` keeps the data")
