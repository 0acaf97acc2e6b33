"""Issues that a session makes and closes with ``bd``: steps with an id."""

import re
import shlex

from flowd.extractors.conversation.ledger import Ledger, StepNote
from flowd.extractors.text import cut, plain
from flowd.redaction.redactor import redact

MAX_STEPS = 30
MAX_CLOSINGS = 30
MAX_COMMAND_CHARACTERS = 4000
TITLE_LENGTH = 170
SOURCE = "bead"

_CALL = re.compile(r"(?:^|[;&|(]\s*)bd\s+(create|new|q|close|done)\s+([^;&|\n]+)")
_ID = re.compile(r'"id":\s*"([\w.-]+)"|[Cc]reated issue:?\s+([\w.-]+)|\A\s*([a-z][\w-]*-[\w.]+)\s*\Z')
_IS_ID = re.compile(r"[a-zA-Z][\w-]*-[\w.]+\Z")
# Options that stand alone; all others take the next word.
_FLAGS = frozenset({"--json", "--silent", "--quiet", "-q", "--force", "-f", "--dry-run", "--ephemeral"})


def made_in(command: str) -> str:
    """Return the title of the issue that *command* makes, empty if it makes none."""
    found = _CALL.search(command[:MAX_COMMAND_CHARACTERS])
    if found is None or found.group(1) in ("close", "done"):
        return ""
    words = _words(found.group(2))
    return " ".join(_arguments(words)) or _option(words, "--title")


def closed_in(command: str) -> list[str]:
    """Return the ids of the issues that *command* closes."""
    calls = _CALL.findall(command[:MAX_COMMAND_CHARACTERS])
    closing = [_arguments(_words(rest)) for verb, rest in calls if verb in ("close", "done")]
    return [word for words in closing for word in words if _IS_ID.match(word)]


def made(ledger: Ledger, title: str, output: str, on: str) -> None:
    """Add the issue called *title* as a step; *output* is what ``bd`` printed."""
    found = _ID.search(output)
    if found is None:
        return
    identity = next(group for group in found.groups() if group)
    text = f"{cut(plain(redact(title)), TITLE_LENGTH)} ({identity})"
    ledger.steps = [*ledger.steps, StepNote(text, SOURCE, on, "issue", ledger.turns_begun)][-MAX_STEPS:]


def closed(ledger: Ledger, identities: list[str]) -> None:
    """Close the steps of the issues with these ids, also those that earlier sessions made."""
    ledger.steps = [step for step in ledger.steps if not any(f"({one})" in step.text for one in identities)]
    statements = [f"Closed {identity}" for identity in identities]
    ledger.closings = list(dict.fromkeys([*ledger.closings, *statements]))[-MAX_CLOSINGS:]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _arguments(words: list[str]) -> list[str]:
    """Return the words before, between and after options and redirections."""
    found: list[str] = []
    skips = False
    for word in words:
        if skips or word.startswith(("-", ">", "<", "2>")):
            skips = not skips and word.startswith("-") and "=" not in word and word not in _FLAGS
        else:
            found.append(word)
    return found


def _option(words: list[str], name: str) -> str:
    for index, word in enumerate(words):
        if word == name:
            return words[index + 1] if index + 1 < len(words) else ""
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return ""
