"""``flowd install`` and ``flowd uninstall``: run the steps in order, each of them an InstallStep."""

import argparse
from typing import Any, Protocol

from flowd.cli.flowd.install import hooks as install_hooks
from flowd.cli.flowd.install import mcp as install_mcp
from flowd.cli.flowd.install import plugin as install_plugin
from flowd.cli.flowd.install import service as install_service
from flowd.cli.parser import add_verb
from flowd.config.paths import Paths, resolve_paths


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
    return [install_service, install_mcp, install_plugin, install_hooks]


def chosen(arguments: argparse.Namespace) -> list[InstallStep]:
    """Return the steps that are selected by an option, all of them without such options."""
    by_option: dict[str, InstallStep] = {
        "mcp": install_mcp,
        "mcp_desktop": install_mcp,
        "plugin": install_plugin,
        "hooks": install_hooks,
    }
    named = [step for option, step in by_option.items() if getattr(arguments, option, False)]
    return [step for step in steps() if step in named] or steps()


EXAMPLES = """\
  flowd install --dry-run     print what would be written and run
  flowd install               start at every login, and now
  flowd install --hooks       have Claude Code call flowd (prints the change to settings.json)
  flowd install --plugin      the same hooks, the MCP server and commands as a plugin of Claude Code
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


def add_uninstall(subparsers: Any) -> None:
    """Add ``flowd uninstall``."""
    parser = add_verb(
        subparsers,
        "uninstall",
        "undo install; your data stays",
        "Stop flowd and remove what `flowd install` wrote. The data stays.",
        run_uninstall,
        examples="  flowd uninstall --dry-run\n  flowd uninstall --hooks    only the hooks\n",
    )
    parser.add_argument("--dry-run", action="store_true", help="print every change, make none")
    parser.add_argument("--hooks", action="store_true", help="remove only Claude Code's hooks")
    parser.add_argument("--mcp", action="store_true", help="remove only the MCP server's registrations")
    parser.add_argument("--plugin", action="store_true", help="remove only the plugin of Claude Code")


def run_uninstall(arguments: argparse.Namespace) -> int:
    """Undo every step, the service first."""
    paths = resolve_paths()
    for step in chosen(arguments):
        step.uninstall(paths, arguments)
    if arguments.hooks or arguments.mcp or arguments.plugin:
        return 0
    left = [place for place in (paths.data_dir, paths.state_dir, paths.config_file) if place.exists()]
    if left:
        print("flowd's data was not deleted; delete it yourself if you do not need it any more:")
        print("\n".join(f"  {place}" for place in dict.fromkeys(left)))
    return 0
