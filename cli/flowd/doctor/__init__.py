"""``flowd doctor``: every check one line, with a fix for each trouble; changes nothing."""

import argparse
from collections.abc import Callable
from typing import Any

import msgspec

from flowd.cli.flowd.doctor import daemon as doctor_daemon
from flowd.cli.flowd.doctor import files as doctor_files
from flowd.cli.flowd.doctor import hooks as doctor_hooks
from flowd.cli.flowd.doctor import service as doctor_service
from flowd.cli.flowd.doctor import store as doctor_store
from flowd.cli.flowd.doctor import system as doctor_system
from flowd.cli.flowd.doctor.finding import CheckResult, DoctorContext, gather_context
from flowd.cli.main import EXIT_COULD_NOT
from flowd.cli.output import paint
from flowd.config.paths import resolve_paths

CHECKS = (
    doctor_daemon.check_lock,
    doctor_daemon.check_socket,
    doctor_daemon.check_versions,
    doctor_daemon.check_health,
    doctor_daemon.check_records,
    doctor_daemon.check_config,
    doctor_store.check_database,
    doctor_files.check_permissions,
    doctor_files.check_disk,
    doctor_system.check_watches,
    doctor_service.check_service,
    doctor_system.check_claude,
    doctor_hooks.check_hooks,
    doctor_system.check_git,
    doctor_system.check_bd,
)
COLOURS = {"ok": "green", "info": "dim", "warning": "yellow", "trouble": "red"}
EXIT_CODES = "exit code: 0 no trouble (warnings may be), 1 trouble"


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "doctor",
        help="check everything, with a fix for each trouble",
        description="Check the daemon, its files and what it needs. Changes nothing.",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--json", action="store_true", help="the findings as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what every check finds."""
    case = gather_context(resolve_paths())
    findings = [_examined(check, case) for check in CHECKS]
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(findings)).decode())
    else:
        print("\n".join(line(finding) for finding in findings))
    return EXIT_COULD_NOT if any(finding.level == "trouble" for finding in findings) else 0


def line(finding: CheckResult) -> str:
    """Return *finding* as one line for people."""
    level = paint(f"{finding.level:<8}", COLOURS[finding.level])
    fix = f"  ->  {finding.fix}" if finding.fix else ""
    return f"{level} {finding.check:<12} {finding.seen}{fix}"


def _examined(check: Callable[[DoctorContext], CheckResult], case: DoctorContext) -> CheckResult:
    try:
        return check(case)
    except OSError as error:  # one place that may not be looked at must not hide the other findings
        name = check.__name__.removeprefix("check_")
        return CheckResult(name, "trouble", f"cannot be checked: {error}", "check its permissions")
