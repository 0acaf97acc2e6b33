"""Check a model's answer against the schema and against the digest that it was made from."""

import re
from typing import Annotated, NamedTuple

import msgspec

from flowd.model.session import Status
from flowd.model.summary import Summary
from flowd.system.errors import FlowdError
from flowd.system.text import one_line, visible

MAX_GOAL, MAX_NOW, MAX_STEP, MAX_STEPS = 200, 300, 200, 5

# What a name of the code looks like: a digit, a slash, an underscore, an ending, a capital inside.
_WORD = re.compile(r"[^\s,;!?\"'“”‘’()\[\]{}<>|]+")
_NAME = re.compile(r"\d|[/_\\@]|\w\.[A-Za-z]\w*$|^#|^[a-z]+[A-Z]|^[a-z]\w*::")
_QUOTED = re.compile(r"`([^`]+)`")
# "on branch fix-login", "the fix-login branch": a name that nothing else gives away.
_BRANCH = re.compile(
    r"\bbranch\s++((?:[.-]*+\w++)++)|(?<![\w.-])([\w.]++-(?:[.-]*+\w++)++)\s++branch\b", re.IGNORECASE
)
# Abbreviations that look like a file with an ending.
_PLAIN = frozenset({"e.g", "i.e"})
# "export/import": alternatives in plain words, each of which the digest has.
_ALTERNATIVES = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+)+")
_EDGES = ".:-…*`"
_TOKEN = re.compile(r"(?<![\w.#@+-])(?:[.#@+-]*+\w++)++")


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The shape that the model must answer in."""

    goal: Annotated[str, msgspec.Meta(max_length=MAX_GOAL)]
    now: Annotated[str, msgspec.Meta(max_length=MAX_NOW)]
    next: Annotated[
        list[Annotated[str, msgspec.Meta(max_length=MAX_STEP)]], msgspec.Meta(max_length=MAX_STEPS)
    ]
    status: Status


class MalformedAnswerError(FlowdError):
    """The answer is not of the shape that was asked for."""


class CheckedAnswer(NamedTuple):
    """The accepted fields, and for each refused one what in it is not in the digest."""

    summary: Summary
    refused: tuple[str, ...]


def answer_schema() -> str:
    """Return the JSON schema of an answer, as the client takes it: without references."""
    (root,), components = msgspec.json.schema_components([_Answer], ref_template="{name}")
    schema = components[root["$ref"]] if "$ref" in root else root
    return msgspec.json.encode({name: part for name, part in schema.items() if name != "title"}).decode()


def check_answer(answer: object, digest: str) -> CheckedAnswer:
    """Return the fields of *answer* that name only what *digest* names; raise MalformedAnswerError."""
    try:
        given = msgspec.convert(answer, _Answer)
    except msgspec.ValidationError as error:
        raise MalformedAnswerError(f"the answer is malformed: {error}") from error
    known = _Known(digest)
    refused: list[str] = []

    def kept(field: str, text: str) -> str:
        text = one_line(text)
        unknown = known.missing(text)
        if unknown:
            refused.append(f"{field}: {unknown[0]} is not in the digest")
        return "" if unknown else visible(text)

    steps = [kept("next", text) for text in given.next]
    summary = Summary(
        goal=kept("goal", given.goal),
        now=kept("now", given.now),
        next=tuple(dict.fromkeys(text for text in steps if text)),
        status=given.status,
    )
    return CheckedAnswer(summary, tuple(refused))


class _Known:
    """The words of a digest."""

    def __init__(self, digest: str) -> None:
        self._text = digest.lower()
        self._tokens = frozenset(_TOKEN.findall(self._text)) | frozenset(
            part for word in _WORD.findall(self._text) for part in (word.strip(_EDGES), *_parts(word))
        )

    def missing(self, text: str) -> list[str]:
        """Return the files, branches, numbers and names of the code in *text* that are not in the digest."""
        names = [word.strip(_EDGES) for word in _WORD.findall(text) if _NAME.search(word.strip(_EDGES))]
        names += [word for quoted in _QUOTED.findall(text) for word in quoted.split()]
        names += [one or other for one, other in _BRANCH.findall(text) if "-" in (one or other)]
        return [name for name in dict.fromkeys(names) if not self._has(name.lower())]

    def _has(self, name: str) -> bool:
        """Return True if the digest has *name* as a whole word, or as the end of a longer path."""
        if name in self._tokens or name in _PLAIN or not name:
            return True
        if _ALTERNATIVES.fullmatch(name) and all(part in self._tokens for part in name.split("/")):
            return True
        if "/" in name or (len(name.split("/")[-1]) > 3 and not name.isdigit()):
            return re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", self._text) is not None
        return False


def _parts(word: str) -> list[str]:
    return [part.strip(_EDGES) for part in re.split(r"[/:=#]", word)]
