"""Run bd, the command line of Beads: one command at a time, with a deadline and a clean environment."""

import errno
import os
import re
import shutil
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from flowd.config.settings import BeadsSettings
from flowd.sinks.beads.directory import BeadsDirectory, exclusive_owner
from flowd.system.processes import (
    DeadlineExceededError,
    ProcessResult,
    run_program,
    safe_search_path,
    scrubbed_environment,
)
from flowd.workspace.git import top_of


class BdOutcome(StrEnum):
    """How a command of bd ended; status shows the value."""

    DELIVERED = "delivered"
    ABSENT = "bd is not installed"
    NO_DATABASE = "no database"
    NO_ISSUE = "no issue chosen"
    UNKNOWN_ID = "unknown id"
    LOCKED = "locked"
    TIMED_OUT = "timed out"
    TOO_LARGE = "too large"
    UNSUPPORTED = "not supported by this bd"
    NOT_ACCEPTED = "not accepted: run `flow trust` there to let flowd use bd"
    FAILED = "failed"


class BeadsIssue(msgspec.Struct, frozen=True):
    """The fields of an issue that flowd uses."""

    id: str
    title: str = ""
    status: str = ""
    notes: str | None = None
    updated_at: str = ""


class BdResult(NamedTuple):
    """The result of one run of bd; ``message`` is what it printed, for people."""

    outcome: BdOutcome
    issues: tuple[BeadsIssue, ...] = ()
    message: str = ""


# The first match counts. Some versions of bd exit with 0 for an unknown id, others with 1.
_UNKNOWN_ID = re.compile(
    r"no issues? found|issue not found|issue \S+ not found|not found: \S+", re.IGNORECASE
)
_ERROR_PATTERNS = (
    (
        re.compile(r"no beads database|no \.beads|database not (?:found|initialized)", re.IGNORECASE),
        BdOutcome.NO_DATABASE,
    ),
    (_UNKNOWN_ID, BdOutcome.UNKNOWN_ID),
    (
        re.compile(r"unknown (?:flag|shorthand|command)|flag provided but not", re.IGNORECASE),
        BdOutcome.UNSUPPORTED,
    ),
    (re.compile(r"\block(?:ed)?\b|exclusive.lock|database is busy", re.IGNORECASE), BdOutcome.LOCKED),
)


def parse_result(finished: ProcessResult) -> BdResult:
    """Return the issues that bd printed, else the outcome that its exit code and output stand for."""
    issues = _issues(finished.stdout)
    if issues:
        return BdResult(BdOutcome.DELIVERED, issues)
    output = finished.stderr.strip() or finished.stdout.strip()
    if finished.code == 0 and not _UNKNOWN_ID.search(finished.stderr):
        return BdResult(BdOutcome.DELIVERED, message=_first_line(output))
    matching = (outcome for pattern, outcome in _ERROR_PATTERNS if pattern.search(output))
    message = _first_line(output) or f"exit code {finished.code}"
    return BdResult(next(matching, BdOutcome.FAILED), message=message)


def _issues(stdout: str) -> tuple[BeadsIssue, ...]:
    """Parse the issues of an array, an object, or the envelope that newer versions put around either."""
    try:
        value = msgspec.json.decode(stdout)
    except msgspec.DecodeError:
        return ()
    if isinstance(value, dict) and "data" in value and "id" not in value:
        value = value["data"]
    return tuple(issue for item in _listed(value) if (issue := _issue(item)) is not None)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict) and isinstance(value.get("issues"), list):
        value = value["issues"]
    return value if isinstance(value, list) else [value]


def _issue(value: Any) -> BeadsIssue | None:
    try:
        return msgspec.convert(value, BeadsIssue)
    except msgspec.ValidationError:
        return None


def _first_line(text: str) -> str:
    return text.partition("\n")[0][:300]


# execve refuses longer arguments (E2BIG); its limit of 128 KB includes the terminating byte.
MAX_ARGUMENT_BYTES = 131_071
# The PATH of a service manager contains none of these.
INSTALL_DIRS = (
    "~/.local/bin",
    "~/go/bin",
    "~/.cargo/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
)
# These would make bd use another database than the project's own.
_REDIRECTING = ("BEADS_DIR", "BEADS_DB", "BD_DB")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


class Bd:
    """The bd of one project. The caller holds ``beads_lock``."""

    def __init__(self, program: str, beads: BeadsDirectory, timeout_s: float) -> None:
        self._program = program
        self._beads = beads
        self._timeout_s = timeout_s

    def show(self, issue: str) -> BdResult:
        """Return the issue, UNKNOWN_ID if there is none."""
        result = self._run("show", _checked(issue), "--json")
        if result.outcome is BdOutcome.DELIVERED and not result.issues:
            return result._replace(outcome=BdOutcome.UNKNOWN_ID)
        return result

    def in_progress(self) -> BdResult:
        """Return the issues in progress."""
        return self._run("list", "--status", "in_progress", "--json")

    def children(self, epic: str) -> BdResult:
        """Return all children of *epic*, including closed ones."""
        arguments = ("list", "--parent", _checked(epic), "--limit", "0", "--json")
        result = self._run(*arguments, "--all")
        return self._run(*arguments, "--status", "all") if result.outcome is BdOutcome.UNSUPPORTED else result

    def replace_notes(self, issue: str, notes: str) -> BdResult:
        """Replace all notes of *issue* by *notes*."""
        return self._run("update", _checked(issue), "--notes", notes)

    def append_notes(self, issue: str, lines: str) -> BdResult:
        """Append *lines* to the notes; bd itself joins them."""
        return self._run("update", _checked(issue), "--append-notes", lines)

    def _run(self, *arguments: str) -> BdResult:
        owner = exclusive_owner(self._beads)
        if owner:
            return BdResult(BdOutcome.LOCKED, message=f"{owner} holds the exclusive lock of the database")
        try:
            finished = run_program(
                [self._program, *arguments],
                cwd=self._beads.project,
                env=_environment(self._beads.project),
                timeout_s=self._timeout_s,
            )
        except DeadlineExceededError as error:
            return BdResult(BdOutcome.TIMED_OUT, message=str(error))
        except OSError as error:
            return BdResult(_start_failure(error), message=error.strerror or str(error))
        return parse_result(finished)


def find_bd(settings: BeadsSettings, project: str = "") -> str | None:
    """Return the program named in the settings, else the one on PATH or in the usual directories.

    One that lies in *project* is not used: it came with the repository.
    """
    if settings.program is not None:
        return shutil.which(os.path.expanduser(settings.program))  # noqa: PTH111 a word for which, not a path
    directories = [_search_path(project), *map(os.path.expanduser, INSTALL_DIRS)]
    return shutil.which("bd", path=os.pathsep.join(directories))


def is_issue_id(text: str) -> bool:
    """Return True if *text* is a plain issue id that bd cannot mistake for an option."""
    return _ID.fullmatch(text) is not None


def _checked(issue: str) -> str:
    # Without an id bd would update the issue that was touched last.
    assert is_issue_id(issue), "not an issue id"
    return issue


def _environment(project: str) -> dict[str, str]:
    kept = {name: value for name, value in scrubbed_environment().items() if name not in _REDIRECTING}
    # bd runs git. Old versions would start a daemon that outlives the command.
    return {"BEADS_ACTOR": "flowd"} | kept | {"BEADS_NO_DAEMON": "1", "PATH": _search_path(project)}


def _search_path(project: str) -> str:
    return safe_search_path(outside=(top_of(project) or project) if project else "")


def _start_failure(error: OSError) -> BdOutcome:
    if error.errno == errno.E2BIG:
        return BdOutcome.TOO_LARGE
    return BdOutcome.ABSENT if error.errno in (errno.ENOENT, errno.EACCES) else BdOutcome.FAILED
