"""The steps of ``flowd install``, in order; each is a plain module that can be undone."""

import argparse
from typing import Protocol

from flowd.cli.flowd.install import hooks as install_hooks
from flowd.cli.flowd.install import mcp as install_mcp
from flowd.cli.flowd.install import service as install_service
from flowd.config.paths import Paths


class InstallStep(Protocol):
    """Something that installing sets up outside flowd's own directories.

    ``arguments.dry_run`` means: print what would be done, and do nothing.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that ask for this step, if it is not always taken."""
        ...

    def install(self, paths: Paths, arguments: argparse.Namespace) -> None:
        """Set it up if it is asked for; print every file written."""
        ...

    def uninstall(self, paths: Paths, arguments: argparse.Namespace) -> None:
        """Remove it if it is there; print every file removed."""
        ...


def steps() -> list[InstallStep]:
    """Return all steps."""
    return [install_service, install_mcp, install_hooks]


def chosen(arguments: argparse.Namespace) -> list[InstallStep]:
    """Return the steps to take: those alone that are asked for by name, else all."""
    by_option: dict[str, InstallStep] = {
        "mcp": install_mcp,
        "mcp_desktop": install_mcp,
        "hooks": install_hooks,
    }
    named = [step for option, step in by_option.items() if getattr(arguments, option, False)]
    return [step for step in steps() if step in named] or steps()
