"""bd, run once for one errand: with an issue named, a deadline, and nothing of a session around it."""

import errno
import os
import re
import shutil
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from flowd.config.settings import BeadsSettings
from flowd.sinks.beads.place import BeadsPlace, exclusive_owner
from flowd.system.processes import DeadlineExceededError, ProcessResult, run_program, scrubbed_environment


class BdOutcome(StrEnum):
    """How an errand to Beads ended; the value is what status shows."""

    DELIVERED = "delivered"
    ABSENT = "bd is not installed"
    NO_DATABASE = "no database"
    NO_ISSUE = "no issue chosen"
    UNKNOWN_ID = "unknown id"
    LOCKED = "locked"
    TIMED_OUT = "timed out"
    TOO_LARGE = "too large"
    UNSUPPORTED = "not supported by this bd"
    FAILED = "failed"


class BeadsIssue(msgspec.Struct, frozen=True):
    """One issue, as far as flowd needs it."""

    id: str
    title: str = ""
    status: str = ""
    notes: str | None = None
    updated_at: str = ""


class BdResult(NamedTuple):
    """What came of one run of bd; ``said`` is its complaint, for people."""

    outcome: BdOutcome
    issues: tuple[BeadsIssue, ...] = ()
    said: str = ""


# The first that matches counts. Unknown ids are told with exit code 0 by some versions of bd, 1 by others.
_UNKNOWN_ID = re.compile(
    r"no issues? found|issue not found|issue \S+ not found|not found: \S+", re.IGNORECASE
)
_COMPLAINTS = (
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


def answer_of(finished: ProcessResult) -> BdResult:
    """Return what *finished* means: issues where it printed some, else why not."""
    issues = _issues(finished.stdout)
    if issues:
        return BdResult(BdOutcome.DELIVERED, issues)
    said = finished.stderr.strip() or finished.stdout.strip()
    if finished.code == 0 and not _UNKNOWN_ID.search(finished.stderr):
        return BdResult(BdOutcome.DELIVERED, said=_first_line(said))
    outcome = next((outcome for pattern, outcome in _COMPLAINTS if pattern.search(said)), BdOutcome.FAILED)
    return BdResult(outcome, said=_first_line(said) or f"exit code {finished.code}")


def _issues(stdout: str) -> tuple[BeadsIssue, ...]:
    """Return the issues in an array, an object, or the envelope of newer versions around either."""
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


# Longer single arguments are refused by execve (E2BIG); its limit counts the byte that ends them.
ARGUMENT_BYTES = 131_071
# A service manager's PATH knows none of these.
USUAL_PLACES = (
    "~/.local/bin",
    "~/go/bin",
    "~/.cargo/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
)
# They would lead bd to another database than the project's own.
_MISLEADING = ("BEADS_DIR", "BEADS_DB", "BD_DB")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


class Bd:
    """The bd of one project. The caller holds its turn (``our_turn``)."""

    def __init__(self, program: str, place: BeadsPlace, timeout_s: float) -> None:
        self._program = program
        self._place = place
        self._timeout_s = timeout_s

    def show(self, issue: str) -> BdResult:
        """Return the issue, UNKNOWN_ID where there is none."""
        answer = self._run("show", _checked(issue), "--json")
        if answer.outcome is BdOutcome.DELIVERED and not answer.issues:
            return answer._replace(outcome=BdOutcome.UNKNOWN_ID)
        return answer

    def in_progress(self) -> BdResult:
        """Return the issues being worked on."""
        return self._run("list", "--status", "in_progress", "--json")

    def children(self, epic: str) -> BdResult:
        """Return all children of *epic*, the closed ones too."""
        words = ("list", "--parent", _checked(epic), "--limit", "0", "--json")
        answer = self._run(*words, "--all")
        return self._run(*words, "--status", "all") if answer.outcome is BdOutcome.UNSUPPORTED else answer

    def replace_notes(self, issue: str, notes: str) -> BdResult:
        """Have *notes* be all the notes there are."""
        return self._run("update", _checked(issue), "--notes", notes)

    def append_notes(self, issue: str, lines: str) -> BdResult:
        """Have *lines* added to the notes by bd itself."""
        return self._run("update", _checked(issue), "--append-notes", lines)

    def _run(self, *words: str) -> BdResult:
        owner = exclusive_owner(self._place)
        if owner:
            return BdResult(BdOutcome.LOCKED, said=f"{owner} has the database to itself")
        try:
            finished = run_program(
                [self._program, *words],
                cwd=self._place.project,
                env=_environment(),
                timeout_s=self._timeout_s,
            )
        except DeadlineExceededError as error:
            return BdResult(BdOutcome.TIMED_OUT, said=str(error))
        except OSError as error:
            return BdResult(_cannot_start(error), said=error.strerror or str(error))
        return answer_of(finished)


def find_bd(settings: BeadsSettings) -> str | None:
    """Return the program the settings name, else the one on PATH or in the usual places."""
    if settings.program is not None:
        return shutil.which(os.path.expanduser(settings.program))  # noqa: PTH111 a word for which, not a path
    places = [os.environ.get("PATH", ""), *map(os.path.expanduser, USUAL_PLACES)]
    return shutil.which("bd", path=os.pathsep.join(places))


def is_issue_id(text: str) -> bool:
    """Say whether *text* is a plain id, which bd can take for nothing else."""
    return _ID.fullmatch(text) is not None


def _checked(issue: str) -> str:
    # Without an id bd would change the issue that was touched last.
    assert is_issue_id(issue), "no issue id"
    return issue


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in scrubbed_environment().items() if name not in _MISLEADING}
    # Old versions would start a daemon of their own that outlives the errand.
    return {"BEADS_ACTOR": "flowd"} | kept | {"BEADS_NO_DAEMON": "1"}


def _cannot_start(error: OSError) -> BdOutcome:
    if error.errno == errno.E2BIG:
        return BdOutcome.TOO_LARGE
    return BdOutcome.ABSENT if error.errno in (errno.ENOENT, errno.EACCES) else BdOutcome.FAILED
