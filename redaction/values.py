"""Decide whether the value after a name is a secret, a placeholder, or code that reads the secret."""

import re
from typing import NamedTuple

from flowd.redaction.words import FILE_ENDINGS, NOT_SECRETS, SENTENCE_WORDS, TYPE_ENDINGS

MARK = "[redacted:"
MIN_PASSWORD = 4
MIN_SECRET = 8
# All but _BRACES are used with match or fullmatch: a search would try them at every letter.
_TEMPLATE = re.compile(
    r"\$\$?(?:[A-Z_][A-Z0-9_]*|[a-z_]+|env:\w+)\Z|%[A-Za-z_]\w*%?\Z|<[^>]*>?\Z|[*&@:][A-Za-z_]+\Z|\?\Z|`|@@"
    r"|!(?:[A-Z][A-Za-z]+|vault|env|secret|reference)\b|\.[*+]|\[\^|\\[sSwWd]|\[[^\]]{0,40}\]\Z|:[a-z]+:|__\w+__\Z"
    r"|(?:[^%\w]{0,4}%[-0-9.]{0,6}[sdrfxi][^%\w]{0,4}){1,8}\Z"
)
_BRACES = re.compile(r"\{[^{}\s]{0,80}\}")
_PLACEHOLDER = re.compile(
    r"(?:your|example|sample|dummy|fake|placeholder|insert|replace|change[-_]?me|todo|enter|redacted|mask)(?![a-z0-9])"
    r"|(?:your|my|some|the|a)[-_ ]?(?:api|access|secret|auth|token|key|password|pass|client)[a-z_ -]{0,40}\Z"
    r"|(?:.{0,80}[-_ ])?(?:here|placeholder|goes)\Z"
)
_MARKS_OF_STAND_INS = ("xxxx", "***", "...", "…", "example", "${", "$(", "{{", "%(", "#{", "{%")
# Where a secret is kept, not the secret: a file, an address, an entry of a vault.
_REFERENCE = re.compile(
    r"\.{0,2}/(?![A-Za-z0-9+/]{39}\Z)|~/|[A-Za-z]:\\|\w{1,20}://|arn:|op:|ref\+|ssm:|env:|file:|vault:|keyring:|sops:"
    r"|gcp:|aws:|azure:|id=|projects/|secret/|ENC\["
)
# The name of a secret, used as its value: ``reset_token``, ``userPassword``.
_NAME = re.compile(
    r"(?:[a-z]+(?:[A-Z][a-z]+)*(?:Pass|Password|Passwd|Token|Secret|Key|Credentials?|Auth)"
    r"|[a-z]+(?:[_-][a-z]+)*[_-](?:pass|password|passwd|token|secret|key|credentials?|auth))"
)
_CODE = re.compile(
    r"[({\[]|[A-Za-z_][\w.:>-]*[(\[{]|[&*]\w+\Z|[A-Za-z_]\w*(?:::|->)|_?[A-Za-z][A-Za-z_]*(?:\.[A-Za-z_]+)+\Z"
    r"|(?:self|this|os|process|env|config|cfg|conf|settings|args|opts|options|request|req|res|response|params|ctx"
    r"|context|props|data|user|form|body|payload|state|row|event|secrets|vault|creds|credentials|app|std|var|local"
    r"|module|import|resource|output|each|steps|needs|inputs|github|matrix|deno|bun|system|env|z|joi|forms|st|tokens"
    r"|lexer|parser|session|values|global)[.:?>-]",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+")
# Words of names: whole ones between separators and capitals, or at the end of a longer one.
_NAME_WORDS = re.compile(
    r"(?<![a-z])(?:pass(?:word|wd|phrase)?|pwd|secret|token|key|cred(?:ential)?|auth|hash|input|value|field|string|type"
    r"|user(?:name)?|get|read)s?(?![a-z])|(?:password|passwd|secret|token|apikey|(?:access|auth|secret|private)key)s?(?![a-z])"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_IDENTIFIER_WITH_NUMBER = re.compile(r"[A-Za-z_-]+\d{0,2}")
_TURN = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
_MIN_TURNS = 0.4
_MIN_LETTERS = 20
_MNEMONIC_LENGTHS = (12, 15, 18, 21, 24)
_IDENTIFIER = re.compile(r"[A-Za-z_]+[=:;.]?")
_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")
_SNAKE = re.compile(r"[a-z]+(?:_[a-z]+)+")
_CONSTANT = re.compile(r"[A-Z][A-Z_]+")
_WORDS = re.compile(r"[A-Za-z]{2,}(?:[-_.:/ ](?:[A-Za-z]{2,}|[vV]?\d{1,4}))*")
_SPACE = re.compile(r"\s")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_SYMBOLS = frozenset("!@#$%^*+=?~|&")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_HYPHENATED = re.compile(r"[A-Za-z]{3,12}(?:[-_.](?:[A-Za-z]{3,12}|\d{1,4})){2,7}")
_APP_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+\S{0,12}|sha\d+|md\d|argon2\w*|oauth2?\w*|base\d+|utf-?\d+|x509")


class Secret(NamedTuple):
    """The kind of a secret and its span in a text."""

    kind: str
    start: int
    end: int


def has_digit(value: str) -> bool:
    """Return True if there is a digit in *value*."""
    return bool(_DIGIT.search(value))


def is_stand_in_token(value: str) -> bool:
    """Return True if *value* only shows the shape of a token: one letter repeated, stars, ``EXAMPLE``."""
    tail = value[-12:].lower()
    return len(set(tail)) <= 2 or "xxxxxxxx" in value.lower() or "****" in value or "EXAMPLE" in value


def is_stand_in(value: str) -> bool:
    """Return True if *value* is a placeholder for a secret: a template, a reference, a word, an earlier mask."""
    lowered = value.lower()
    return bool(
        value.startswith(MARK)
        or lowered.strip(" .,;:!?") in NOT_SECRETS
        or len(set(value)) <= 2
        or any(mark in lowered for mark in _MARKS_OF_STAND_INS)
        or _TEMPLATE.match(value)
        or ("{" in value and _BRACES.search(value))
        or _PLACEHOLDER.match(lowered)
        or _REFERENCE.match(value)
        or value.endswith(FILE_ENDINGS)
        or _NAME.fullmatch(value)
    )


def is_expression(value: str) -> bool:
    """Return True if the unquoted *value* is code: a call, an attribute, a constant, a type."""
    if _SNAKE.fullmatch(value) or _CONSTANT.fullmatch(value) or _CODE.match(value) or is_type(value):
        return True
    return bool(_ATTRIBUTE.fullmatch(value)) and names_a_secret(value.rpartition(".")[2])


def is_type(value: str) -> bool:
    """Return True if *value* is the name of a type, like ``SecretStr`` or ``Ed25519PrivateKey``."""
    return value.endswith(TYPE_ENDINGS) and bool(_CAMEL.fullmatch(value))


def is_random(value: str) -> bool:
    """Return True if *value* is no word and no name: letters with digits or symbols, eight at least."""
    if len(value) < MIN_SECRET or _SPACE.search(value):
        return False
    if _WORDS.fullmatch(value):
        return is_letter_salad(value)
    return bool(_LETTER.search(value)) and (has_digit(value) or not _SYMBOLS.isdisjoint(value))


def is_letter_salad(value: str) -> bool:
    """Return True if *value* is of letters alone that change their case too often for any name."""
    turns = len(_TURN.findall(value)) if len(value) >= _MIN_LETTERS and value.isalpha() else 0
    return turns >= _MIN_TURNS * len(value) and turns > 0


def is_strongly_random(value: str) -> bool:
    """Return True if *value* is random beyond doubt: letters with digits, or long and in both cases."""
    if not is_random(value):
        return False
    has_both_cases = value not in (value.lower(), value.upper())
    return has_digit(value) or (len(value) >= 20 and has_both_cases)


def names_a_secret(value: str) -> bool:
    """Return True if *value* holds a word like ``token``: then it names a secret and is none."""
    return bool(_NAME_WORDS.search(_HUMP.sub("-", value).lower()))


def is_told_apart(value: str) -> bool:
    """Return True if *value* holds a digit and is no name of a secret like ``password2``."""
    is_name = names_a_secret(value) and bool(_IDENTIFIER_WITH_NUMBER.fullmatch(value))
    return has_digit(value) and not is_name


def is_password(value: str, *, quoted: bool) -> bool:
    """Return True if *value*, assigned to something called a password, is one."""
    if len(value) < MIN_PASSWORD:
        return False
    if _SPACE.search(value):
        return is_passphrase(value)
    return quoted or not _IDENTIFIER.fullmatch(value) or not names_a_secret(value)


def is_phrase(value: str) -> bool:
    """Return True if *value* is three words or more, joined by dashes or dots, that make no sentence."""
    if not _HYPHENATED.fullmatch(value):
        return False
    return not SENTENCE_WORDS.intersection(re.split(r"[-_.]", value.lower()))


def is_spoken_password(value: str) -> bool:
    """Return True if *value* after ``password is`` is the password and not the rest of a sentence."""
    word = value.rstrip(".,;:!?)") or value
    if len(word) < MIN_PASSWORD or _VERSION.fullmatch(word):
        return False
    if _HYPHENATED.fullmatch(word):
        return is_phrase(word)
    has_inner_capital = bool(_INNER_CAPITAL.search(word))
    if word.isalpha():
        return has_inner_capital and not is_type(word)
    return has_inner_capital or has_digit(word) or not _WORDS.fullmatch(word)


def is_passphrase(value: str) -> bool:
    """Return True if *value* is a passphrase of several words and not a sentence."""
    words = value.lower().split()
    if _APP_PASSWORD.fullmatch(value.strip()) and not SENTENCE_WORDS.issuperset(words):
        return True
    if len(words) in _MNEMONIC_LENGTHS and all(word.isalpha() and 3 <= len(word) <= 8 for word in words):
        return True
    if SENTENCE_WORDS.intersection(words):
        return False
    return 3 <= len(words) <= 24 if all(map(str.isalpha, words)) else len(words) <= 3
