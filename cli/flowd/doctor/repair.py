"""``flowd doctor --fix``: do what the findings advise, where flowd can do it without harm."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator

from flowd.cli.flowd.doctor.finding import CheckResult
from flowd.system.processes import python_command

# Commands of flowd's own that a finding may advise, the most thorough one last.
COMMANDS = ("flowd start", "flowd install --hooks", "flowd install", "flowd restart")
CHMOD = re.compile(r"chmod ([0-7]{3}|u\+rwx) (/[^;\n]+)")


def repair(findings: Iterable[CheckResult]) -> Iterator[str]:
    """Carry out the advice of the findings that are trouble or a warning; yield what was done."""
    advised = [finding.fix for finding in findings if finding.level in ("trouble", "warning")]
    for fix in advised:
        for mode, path in CHMOD.findall(fix):
            if _change_mode(path, mode):
                yield f"chmod {mode} {path}"
    for command in COMMANDS:
        if command in advised and _run(python_command(*command.split())):
            yield command


def _change_mode(path: str, mode: str) -> bool:
    try:
        os.chmod(path, os.stat(path).st_mode | 0o700 if mode == "u+rwx" else int(mode, 8))  # noqa: PTH101 a text
    except OSError:
        return False
    return True


def _run(words: list[str]) -> bool:
    return subprocess.run(words, check=False, stdout=subprocess.DEVNULL).returncode == 0
