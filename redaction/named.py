"""Secrets known by their name: ``password: …``, ``API_KEY=…``, ``the token is …``, in any notation."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from flowd.redaction import values
from flowd.redaction.commands import find_pair
from flowd.redaction.http import find_digest
from flowd.redaction.names import OWNER_LENGTH, Meaning, NamePlace, meaning_of
from flowd.redaction.values import Secret

# All of these are written for lower-case text. Quantifiers are bounded or possessive: a failure is cheap.
_QUOTES = r"\\{0,7}[\"'`]"
_REST_OF_NAME = r"(?P<rest>[a-z0-9_-]{0,40}+)"
_CLOSERS = r"(?:\[\d{0,4}\])?(?:" + _QUOTES + r"|[\])*]){0,4}+[ \t]{0,8}+"
_TYPE = (
    r"(?::[ \t]{0,4}(?:str|string|bytes|secretstr|secret|char|buffer|optional\[\w{1,20}\]|option<\w{1,20}>"
    r"|str \| none|&str|&'static str|any|object|final)[ \t]{0,4}(?==(?!=)))?+"
)
_LINE_END = r"(?:\r?\n|\\{1,7}n)?[ \t>+#*|-]{0,40}"
_VALUE_KEY = _QUOTES + r"?(?:parameter)?value" + _QUOTES + r"?[ \t]{0,4}[:=]"
_JOINT = (
    r"(?:(?P<compare>={2,3}|!==?)"
    r"|(?P<sign>=>|:=|\?=|=|:(?!:)|：|→|<<<)"
    r"|(?P<value>,?[ \t]{0,4}" + _LINE_END + _VALUE_KEY + r"|</key>(?:\s|\\{1,7}n){0,20}<string>)"
    r"|(?P<argument>,[ \t]?(?=[\\\"'])|\((?=[\\\"'])|(?:\|\||\?\?|or)[ \t](?=[\\\"']))"
    r"|(?P<tag>>)"
    r"|(?P<spoken>(?:for[ \t][\w@.'-]{1,40}[ \t])?(?:(?:was[ \t])?changed to|is|was|to|as|of|are|will be|lautet|ist|est|es)"
    r"(?:[ \t]now|[ \t]set[ \t]to)?[ \t]{0,2}[:=]?(?=[ \t]))"
    r"|(?P<cell>\||[-–—](?=[ \t]))"
    r"|(?P<blank>(?<=[ \t])(?=\S)))"
)
_SCHEMES = (
    r"(?:basic|bearer|token|digest|apikey|api-key|ssws|negotiate|ntlm|hawk|oauth|jwt|key|aws4-hmac-sha256)"
)
# A value on a line of its own, below its name: a block scalar, or a word that is all of its line.
_BELOW = (
    r"(?:[|>][+-]?)?[ \t]{0,4}(?:\r?\n|\\{1,7}n)[ \t>+#|]{1,40}(?=[^\s:{}\[\]<>()#|,\\\"'-]"
    r"[^\s:{}\[\]<>()\\\"'|]{5,200}+[ \t]{0,8}(?:[\r\n\"'`<|]|\\|\Z))"
)
_OPENERS = (
    r"(?:[*_]{1,2}(?=[ \t]))?[ \t]{0,8}+(?:(?P<below>"
    + _BELOW
    + r")|(?:"
    + _SCHEMES
    + r"[ \t]{1,4}(?=\S))?(?:@(?=[\"']))?"
    r"(?:\[[ \t]{0,4})?(?:[brfu]{1,2})?(?=\\{0,7}[\"'])|(?:" + _SCHEMES + r"[ \t]{1,4}(?=\S))?)"
)

_QUOTE = re.compile(_QUOTES)
_MAX_VALUE = 4096
# What is longer than this is judged by its start.
_MAX_JUDGED = 120
# A comma, a semicolon or an ampersand belongs to the value unless it clearly ends it.
_BARE = re.compile(
    r"(?:[^\s\"'`,;<>&|\\)\]}]|[,;&](?![\s,;&\"'`<>\\)\]}|]|\Z|[A-Za-z_][\w.%-]{0,40}[=:])){1,4096}+"
)
_QUERY_VALUE = re.compile(r"[^\s\"'`<>&|\\)\]}#]{1,4096}+")
_TAGGED = re.compile(r"(?:<!\[CDATA\[)?([^<>\]\r\n]{1,4096}+)(?=\]\]>|</)")
_WORDS_ON_LINE = re.compile(r"[A-Za-z]{2,24}(?:[ ][A-Za-z]{2,24}){2,23}+(?=[ \t]*(?:[\r\n\"'`<|]|\\|\Z))")
_READS_ON = re.compile(r"[ \t]+(?:[a-z]|=)")
_FLAG = re.compile(r"(?:^|[\s\"'`\[(])--?[a-z0-9_.-]{0,30}$")
_WORDS_OF_PAIRS = ("cred", "credential", "auth", "authorization")
_STRING_END = re.compile(r"[ \t]{0,4}[+.,;:)\]%&|/]?(?:[ \t]|\Z)")
_IN_QUERY = re.compile(r"[?&][\w.%-]{0,40}$")


_JOINTS = ("compare", "sign", "value", "argument", "tag", "spoken", "cell", "blank")


class _Candidate(NamedTuple):
    """A name, how it is joined to what follows, and where that starts."""

    meaning: Meaning
    joint: str
    value_at: int
    in_capitals: bool
    in_query: bool
    is_below: bool = False
    is_phrase: bool = False

    @property
    def is_assigned(self) -> bool:
        """Whether the value is assigned to the name, rather than mentioned in a sentence or beside it."""
        return self.joint in ("sign", "flag", "value")


def find_named(text: str, lowered: str, places: list[NamePlace]) -> Iterator[Secret]:
    """Yield every secret in *text* that follows a name at *places*; *lowered* is *text* in lower case."""
    after = _after_the_word()
    bare_values = _BareValues(text)
    done = passed = 0
    for place in places:
        if place.start < passed:  # within the word before
            continue
        passed = place.end
        if place.word in _WORDS_OF_PAIRS:
            yield from find_pair(text, place.end)
            yield from find_digest(text, place.end) if place.word == "authorization" else ()
        joined = after.match(lowered, passed) if place.start >= done else None
        candidate = _candidate(text, lowered, place, joined) if joined else None
        if not candidate:
            continue
        start, end = _value_span(text, candidate, bare_values)
        if is_secret := _is_secret_at(text, start, end, candidate):
            yield Secret(candidate.meaning.kind, start, end)
        if is_secret or (candidate.is_assigned and values.is_stand_in(text[start:end][:_MAX_JUDGED])):
            done = end


class _BareValues:
    """Finds where unquoted values end. Names in one long run share its end: each run is read once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = {_BARE: (0, 0), _QUERY_VALUE: (0, 0)}

    def end(self, pattern: re.Pattern[str], start: int) -> int:
        """Return where the value at *start* ends; *start* itself if there is none."""
        first, last = self._ends[pattern]
        if not first <= start < last:
            match = pattern.match(self._text, start)
            first, last = self._ends[pattern] = match.span() if match else (start, start)
        return last


def _candidate(text: str, lowered: str, place: NamePlace, joined: re.Match[str]) -> _Candidate | None:
    """Return what the name at *place* is joined to, or None if it means no secret there."""
    owner = lowered[max(0, place.start - OWNER_LENGTH) : place.start]
    in_capitals = text[place.start : place.end].isupper()
    meaning = meaning_of(place, joined["rest"], owner, in_capitals=in_capitals)
    if not meaning:
        return None
    joint = next(name for name in _JOINTS if joined[name] is not None)
    if joint == "tag" and "<" not in owner:
        return None
    if joint == "blank" and _FLAG.search(owner):
        joint = "flag"
    is_short = not joined["rest"] and meaning.is_password and not owner.endswith("require")
    if joint == "blank" and (owner.endswith("$") or is_short):
        return None
    # ``PASS: TestName`` is a verdict; ``pass=`` is none, and still a weak name.
    if meaning.is_weak and meaning.is_password and (joint != "sign" or in_capitals):
        return None
    is_tight = joint == "sign" and joined[0].endswith("=") and joined.end("sign") == joined.end()
    in_query = ("?" in owner or "&" in owner) and bool(_IN_QUERY.search(owner))
    is_phrase = joined["rest"].endswith("phrase") or place.word in ("phrase", "mnemonic")
    is_below = joined["below"] is not None
    return _Candidate(meaning, joint, joined.end(), in_capitals and is_tight, in_query, is_below, is_phrase)


def _value_span(text: str, candidate: _Candidate, bare_values: _BareValues) -> tuple[int, int]:
    """Return the span of the value; empty if there is none."""
    start = candidate.value_at
    if candidate.joint == "tag":
        tagged = _TAGGED.match(text, start)
        return tagged.span(1) if tagged else (start, start)
    if quote := _QUOTE.match(text, start):
        return quote.end(), _end_of_quotation(text, quote)
    if phrase := _phrase(text, candidate):
        return phrase.span()
    end = bare_values.end(_QUERY_VALUE if candidate.in_query else _BARE, start)
    if candidate.joint in ("spoken", "blank"):
        # The end of a sentence is not part of the value.
        while end > start and text[end - 1] in ".,;:)":
            end -= 1
    return start, end


def _is_secret_at(text: str, start: int, end: int, candidate: _Candidate) -> bool:
    value = text[start : min(end, start + _MAX_JUDGED)]
    if candidate.is_below and not values.has_digit(value):
        return False
    if candidate.joint == "blank" and not _may_follow_a_blank(
        value, candidate, quoted=start > candidate.value_at
    ):
        return False
    if start > candidate.value_at or candidate.joint == "tag":
        return _is_secret(value, candidate, quoted=True)
    if candidate.joint in ("argument", "compare"):
        return False
    return _is_secret(value, candidate, quoted=False) and not _is_code(text, value, end, candidate)


def _phrase(text: str, candidate: _Candidate) -> re.Match[str] | None:
    """Return a passphrase of plain words that ends its line, if the name means a password."""
    if (
        not candidate.meaning.is_password
        or candidate.meaning.is_weak
        or candidate.joint not in ("sign", "spoken")
    ):
        return None
    words = _WORDS_ON_LINE.match(text, candidate.value_at)
    return words if words and words[0].islower() and values.is_passphrase(words[0]) else None


def _end_of_quotation(text: str, quote: re.Match[str]) -> int:
    """Return where the quotation ends: at its closing quote, or with its line when that is missing."""
    limit = quote.end() + _MAX_VALUE
    line_end = text.find("\n", quote.end(), limit)
    limit = limit if line_end < 0 else line_end
    closing = text.find(quote[0], quote.end(), limit)
    return min(limit, len(text)) if closing < 0 else closing


def _may_follow_a_blank(value: str, candidate: _Candidate, *, quoted: bool) -> bool:
    """Return True if *value* is distinguishable from the next word of a sentence."""
    return (
        values.has_digit(value)
        or (quoted and candidate.meaning.is_password)
        or (candidate.meaning.is_password is False and values.is_strongly_random(value))
    )


def _is_secret(value: str, candidate: _Candidate, *, quoted: bool) -> bool:
    # The quote that seems to open a value like this one closes a string: "password=" + value.
    if values.is_stand_in(value) or (quoted and _STRING_END.match(value)):
        return False
    if values.is_random(value) and _is_fit(value, candidate):
        return True
    if candidate.meaning.is_password and not candidate.meaning.is_weak:
        return _is_password(value, candidate, quoted=quoted)
    if candidate.meaning.is_weak:
        is_plain_value = candidate.in_capitals and len(value) >= values.MIN_SECRET
        return is_plain_value and not values.names_a_secret(value)
    return _is_wordy_secret(value, candidate, quoted=quoted)


def _is_fit(value: str, candidate: _Candidate) -> bool:
    """Return True if a random *value* is random enough for its name and joint."""
    if candidate.joint == "argument":
        return values.is_told_apart(value)
    if not candidate.meaning.is_weak:
        return True
    is_name = candidate.joint == "spoken" and value.isalnum() and values.names_a_secret(value)
    return values.is_strongly_random(value) and not is_name


def _is_password(value: str, candidate: _Candidate, *, quoted: bool) -> bool:
    if candidate.joint in ("blank", "cell", "argument") and not quoted:
        return values.is_spoken_password(value) and values.has_digit(value)
    if candidate.joint == "argument":
        return values.is_told_apart(value)
    if candidate.joint == "spoken" and not quoted:
        is_words = candidate.is_phrase and " " in value
        return values.is_passphrase(value) if is_words else values.is_spoken_password(value)
    return values.is_password(value, quoted=quoted or candidate.in_capitals)


def _is_wordy_secret(value: str, candidate: _Candidate, *, quoted: bool) -> bool:
    """Return True if words or digits are a secret: assigned and long, or a phrase of three and more."""
    if len(value) < values.MIN_SECRET or values.names_a_secret(value) or " " in value:
        return False
    is_assigned = candidate.is_assigned and (quoted or candidate.in_capitals or candidate.joint == "flag")
    return is_assigned or values.is_phrase(value)


def _is_code(text: str, value: str, end: int, candidate: _Candidate) -> bool:
    """Return True if the unquoted *value* is an expression, or the first word of a sentence."""
    value = value.rstrip(".:?!,;")
    if candidate.in_capitals or candidate.joint == "flag":
        is_next_flag = candidate.joint == "flag" and value.startswith("-")
        return is_next_flag or (not value.isalnum() and values.is_expression(value))
    if values.is_expression(value):
        return True
    is_tight = text[candidate.value_at - 1] == "="
    return not is_tight and value.isalpha() and bool(_READS_ON.match(text, end))


@lru_cache(maxsize=1)
def _after_the_word() -> re.Pattern[str]:
    return re.compile(_REST_OF_NAME + _CLOSERS + _TYPE + _JOINT + _OPENERS, re.ASCII)
