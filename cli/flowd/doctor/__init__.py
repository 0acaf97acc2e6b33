"""``flowd doctor``: run every check and print one line each, with a fix for each problem. Changes nothing."""

import argparse
import sys
from collections.abc import Callable
from typing import Any

from flowd.cli.flowd.doctor import daemon as doctor_daemon
from flowd.cli.flowd.doctor import files as doctor_files
from flowd.cli.flowd.doctor import hooks as doctor_hooks
from flowd.cli.flowd.doctor import system as doctor_system
from flowd.cli.flowd.doctor.finding import CheckResult, DoctorContext, gather_context
from flowd.cli.flowd.doctor.repair import repair
from flowd.cli.main import EXIT_COULD_NOT
from flowd.cli.output import paint, print_json
from flowd.cli.parser import add_verb
from flowd.config.paths import resolve_paths

CHECKS = (
    doctor_daemon.check_running,
    doctor_daemon.check_socket,
    doctor_daemon.check_versions,
    doctor_daemon.check_health,
    doctor_daemon.check_files,
    doctor_daemon.check_records,
    doctor_daemon.check_config,
    doctor_files.check_database,
    doctor_files.check_permissions,
    doctor_files.check_disk,
    doctor_system.check_watches,
    doctor_daemon.check_service,
    doctor_system.check_claude,
    doctor_system.check_client,
    doctor_hooks.check_hooks,
    doctor_system.check_git,
    doctor_system.check_bd,
)
COLOURS = {"ok": "green", "info": "dim", "warning": "yellow", "trouble": "red"}


def add_parser(subparsers: Any) -> None:
    """Add ``flowd doctor``."""
    parser = add_verb(
        subparsers,
        "doctor",
        "check everything, with a fix for each problem",
        "Check the daemon, its files and what it needs. Changes nothing without --fix.\n"
        "exit code: 0 without trouble (there may be warnings), 1 with trouble",
        run,
        examples="  flowd doctor\n  flowd doctor --fix      do what is safe to do, then check again\n",
        json="print the findings as JSON",
    )
    parser.add_argument("--fix", action="store_true", help="repair what flowd can, then check again")


def run(arguments: argparse.Namespace) -> int:
    """Run every check and print its finding."""
    findings = examine()
    if arguments.fix:
        for done in repair(findings):
            print(f"fixed    {done}", file=sys.stderr if arguments.json else sys.stdout)
        findings = examine()
    if arguments.json:
        print_json(findings, name="findings")
    else:
        print("\n".join([*map(line, findings), summary(findings)]))
    return EXIT_COULD_NOT if any(finding.level == "trouble" for finding in findings) else 0


def examine() -> list[CheckResult]:
    """Return the finding of every check."""
    case = gather_context(resolve_paths())
    return [_run(check, case) for check in CHECKS]


def summary(findings: list[CheckResult]) -> str:
    """Return one line about all findings."""
    troubles = sum(finding.level == "trouble" for finding in findings)
    warnings = sum(finding.level == "warning" for finding in findings)
    if not troubles + warnings:
        return "everything is fine"
    counted = [f"{troubles} trouble{'s' if troubles > 1 else ''}"] if troubles else []
    counted += [f"{warnings} warning{'s' if warnings > 1 else ''}"] if warnings else []
    return f"{', '.join(counted)}; `flowd doctor --fix` repairs what flowd can"


def line(finding: CheckResult) -> str:
    """Return *finding* as one line of text."""
    level = paint(f"{finding.level:<8}", COLOURS[finding.level])
    fix = f"  ->  {finding.fix}" if finding.fix else ""
    return f"{level} {finding.check:<12} {finding.seen}{fix}"


def _run(check: Callable[[DoctorContext], CheckResult], case: DoctorContext) -> CheckResult:
    try:
        return check(case)
    except OSError as error:  # a file without permission must not hide the other findings
        name = check.__name__.removeprefix("check_")
        return CheckResult(name, "trouble", f"check failed: {error}", "check the permissions")
