"""What bd says, in any of its dialects, as values."""

import re
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from flowd.sinks.short_program import Finished


class Outcome(StrEnum):
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


class Issue(msgspec.Struct, frozen=True):
    """One issue, as far as flowd needs it."""

    id: str
    title: str = ""
    status: str = ""
    notes: str | None = None
    updated_at: str = ""


class Answer(NamedTuple):
    """What came of one run of bd; ``said`` is its complaint, for people."""

    outcome: Outcome
    issues: tuple[Issue, ...] = ()
    said: str = ""


# The first that matches counts. Unknown ids are told with exit code 0 by some versions of bd, 1 by others.
_UNKNOWN_ID = re.compile(
    r"no issues? found|issue not found|issue \S+ not found|not found: \S+", re.IGNORECASE
)
_COMPLAINTS = (
    (
        re.compile(r"no beads database|no \.beads|database not (?:found|initialized)", re.IGNORECASE),
        Outcome.NO_DATABASE,
    ),
    (_UNKNOWN_ID, Outcome.UNKNOWN_ID),
    (
        re.compile(r"unknown (?:flag|shorthand|command)|flag provided but not", re.IGNORECASE),
        Outcome.UNSUPPORTED,
    ),
    (re.compile(r"\block(?:ed)?\b|exclusive.lock|database is busy", re.IGNORECASE), Outcome.LOCKED),
)


def answer_of(finished: Finished) -> Answer:
    """Return what *finished* means: issues where it printed some, else why not."""
    issues = _issues(finished.stdout)
    if issues:
        return Answer(Outcome.DELIVERED, issues)
    said = finished.stderr.strip() or finished.stdout.strip()
    if finished.code == 0 and not _UNKNOWN_ID.search(finished.stderr):
        return Answer(Outcome.DELIVERED, said=_first_line(said))
    outcome = next((outcome for pattern, outcome in _COMPLAINTS if pattern.search(said)), Outcome.FAILED)
    return Answer(outcome, said=_first_line(said) or f"exit code {finished.code}")


def _issues(stdout: str) -> tuple[Issue, ...]:
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


def _issue(value: Any) -> Issue | None:
    try:
        return msgspec.convert(value, Issue)
    except msgspec.ValidationError:
        return None


def _first_line(text: str) -> str:
    return text.partition("\n")[0][:300]
