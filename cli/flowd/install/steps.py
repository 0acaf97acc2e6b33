"""The steps of ``flowd install``, in order; each is a module with the functions of InstallStep."""

import argparse
from typing import Protocol

from flowd.cli.flowd.install import hooks as install_hooks
from flowd.cli.flowd.install import mcp as install_mcp
from flowd.cli.flowd.install import service as install_service
from flowd.config.paths import Paths


class InstallStep(Protocol):
    """Installs something outside flowd's own directories.

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
    return [install_service, install_mcp, install_hooks]


def chosen(arguments: argparse.Namespace) -> list[InstallStep]:
    """Return the steps that are selected by an option, all of them without such options."""
    by_option: dict[str, InstallStep] = {
        "mcp": install_mcp,
        "mcp_desktop": install_mcp,
        "hooks": install_hooks,
    }
    named = [step for option, step in by_option.items() if getattr(arguments, option, False)]
    return [step for step in steps() if step in named] or steps()
