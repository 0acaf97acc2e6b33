"""Judge what stands after the name of a secret: a secret, a stand-in for one, or code that fetches it."""

import re

from flowd.redaction.secret import MARK
from flowd.redaction.words import NOT_SECRETS, SENTENCE_WORDS, TYPE_ENDINGS

MIN_PASSWORD = 4
MIN_SECRET = 8
_TEMPLATE = re.compile(
    r"\$\{|\$\(|\{\{|%\(|#\{|\{%|^\$\$?(?:[A-Z_][A-Z0-9_]*|[a-z_]+|env:\w+)$|^%[A-Za-z_]\w*%?$|^<[^>]*>?$"
    r"|\{[^{}\s]{0,80}\}|^[*&@:][A-Za-z_]+$|^!(?:[A-Z][A-Za-z]+|vault|env|secret|reference)\b|^@@|^\?$|^`"
    r"|^\.[*+]|^\[\^|^\\[sSwWd]|^\[[^\]]{0,40}\]$|^:[a-z]+:"
    r"|^(?:[^%\w]{0,4}%[-0-9.]{0,6}[sdrfxi][^%\w]{0,4}){1,8}$"
)
_PLACEHOLDER = re.compile(
    r"x{4}|\*{3}|\.{3}|…|EXAMPLE"
    r"|^(?:your|example|sample|dummy|fake|placeholder|insert|replace|change[-_]?me|todo|enter|redacted|mask)(?![a-z0-9])"
    r"|^(?:your|my|some|the|a)[-_ ]?(?:api|access|secret|auth|token|key|password|pass|client)[a-z_ -]{0,40}$"
    r"|(?:[-_ ]|^)(?:here|placeholder|goes)$",
    re.IGNORECASE,
)
# Where a secret is kept, not the secret: a file, an address, an entry of a vault.
_REFERENCE = re.compile(
    r"^(?:\.{0,2}/(?![A-Za-z0-9+/]{39}$)|~/|[A-Za-z]:\\|\w+://|arn:|op:|ref\+|ssm:|env:|file:|vault:|keyring:|sops:"
    r"|gcp:|aws:|azure:|id=|projects/|secret/|ENC\[)"
    r"|\.(?:pem|key|crt|json|ya?ml|toml|txt|py|[jt]sx?|env|md|rs|go|cfg|ini)$"
)
_CODE = re.compile(
    r"^[({\[]|^[A-Za-z_][\w.:>-]*[(\[{]|^[&*]\w+$|^[A-Za-z_]\w*(?:::|->)|^_?[A-Za-z][A-Za-z_]*(?:\.[A-Za-z_]+)+$"
    r"|^(?:self|this|os|process|env|config|cfg|conf|settings|args|opts|options|request|req|res|response|params|ctx"
    r"|context|props|data|user|form|body|payload|state|row|event|secrets|vault|creds|credentials|app|std|var|local"
    r"|module|import|resource|output|each|steps|needs|inputs|github|matrix|Deno|Bun|System|ENV|z|Joi|forms|st|tokens"
    r"|lexer|parser|session|values|global)[.:?>-]"
    r"|^[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)*\??\.\w*(?:pass|pwd|secret|token|key|cred|auth|value|data|text|env|result)\w*$",
    re.IGNORECASE,
)
_NAME_WORDS = re.compile(
    r"pass|pwd|secret|token|key|cred|auth|hash|input|value|field|string|type|user|get|read", re.IGNORECASE
)
_IDENTIFIER = re.compile(r"^[A-Za-z_]+[=:;.]?$")
_CAMEL = re.compile(r"^[A-Za-z][A-Za-z0-9]*[a-z][A-Za-z0-9]*$")
_SNAKE = re.compile(r"^[a-z]+(?:_[a-z]+)+$")
_NAME = re.compile(
    r"^(?:[a-z]+(?:[A-Z][a-z]+)*(?:Pass|Password|Passwd|Token|Secret|Key|Credentials?|Auth)"
    r"|[a-z]+(?:[_-][a-z]+)*[_-](?:pass|password|passwd|token|secret|key|credentials?|auth))$"
)
_CONSTANT = re.compile(r"^[A-Z][A-Z_]+$")
_WORDS = re.compile(r"^[A-Za-z]{2,}(?:[-_.:/ ](?:[A-Za-z]{2,}|[vV]?\d{1,4}))*$")
_SYMBOL = re.compile(r"[!@#$%^*+=?~|&]")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_HYPHENATED = re.compile(r"^[A-Za-z]{3,12}(?:[-_.](?:[A-Za-z]{3,12}|\d{1,4})){2,7}$")
_APP_PASSWORD = re.compile(r"^[a-z]{4}(?: [a-z]{4}){3}$")
_VERSION = re.compile(r"^(?:v?\d+(?:\.\d+)+\S{0,12}|sha\d+|md\d|argon2\w*|oauth2?\w*|base\d+|utf-?\d+|x509)$")


def is_stand_in_token(value: str) -> bool:
    """Return True if *value* only shows the shape of a token: one letter repeated, stars, ``EXAMPLE``."""
    tail = value[-12:].lower()
    return len(set(tail)) <= 2 or "xxxxxxxx" in value.lower() or "****" in value or "EXAMPLE" in value


def is_stand_in(value: str) -> bool:
    """Return True if *value* stands for a secret: a template, a reference, a word, an earlier mask."""
    return bool(
        value.startswith(MARK)
        or value.lower().strip(" .,;:!?") in NOT_SECRETS
        or len(set(value)) <= 2
        or _TEMPLATE.search(value)
        or _PLACEHOLDER.search(value)
        or _REFERENCE.search(value)
        or _NAME.search(value)
    )


def is_expression(value: str) -> bool:
    """Return True if the unquoted *value* is code: a call, an attribute, a constant, a type."""
    if _SNAKE.search(value) and not is_phrase(value):
        return True
    return bool(_CODE.search(value) or _CONSTANT.search(value) or is_type(value))


def is_type(value: str) -> bool:
    """Return True if *value* is the name of a type, like ``SecretStr`` or ``Ed25519PrivateKey``."""
    return bool(_CAMEL.search(value)) and value[0].isupper() and value.endswith(TYPE_ENDINGS)


def is_random(value: str) -> bool:
    """Return True if *value* is no word and no name: letters with digits or symbols, eight at least."""
    if len(value) < MIN_SECRET or any(map(str.isspace, value)) or _WORDS.search(value):
        return False
    letters = any(map(str.isalpha, value))
    return letters and (any(map(str.isdigit, value)) or bool(_SYMBOL.search(value)))


def is_strongly_random(value: str) -> bool:
    """Return True if *value* is random beyond doubt: letters with digits, or long and in both cases."""
    if not is_random(value):
        return False
    return any(map(str.isdigit, value)) or (
        len(value) >= 20 and value != value.lower() and value != value.upper()
    )


def is_words(value: str) -> bool:
    """Return True if *value* is made of words only."""
    return bool(_WORDS.search(value))


def names_a_secret(value: str) -> bool:
    """Return True if *value* holds a word like ``token``: then it names a secret and is none."""
    return bool(_NAME_WORDS.search(value))


def is_password(value: str, *, quoted: bool) -> bool:
    """Return True if *value*, assigned to something called a password, is one."""
    if len(value) < MIN_PASSWORD:
        return False
    if any(map(str.isspace, value)):
        return is_passphrase(value)
    if quoted or not _IDENTIFIER.search(value):
        return True
    return not _NAME_WORDS.search(value)


def is_phrase(value: str) -> bool:
    """Return True if *value* is three words or more, joined by dashes or dots, that make no sentence."""
    words = re.split(r"[-_.]", value.lower())
    return bool(_HYPHENATED.search(value)) and not SENTENCE_WORDS.intersection(words)


def is_spoken_password(value: str) -> bool:
    """Return True if *value* after ``password is`` is the password and not the rest of a sentence."""
    word = value.rstrip(".,;:!?)") or value
    if len(word) < MIN_PASSWORD or _VERSION.search(word):
        return False
    if _HYPHENATED.search(word):
        return is_phrase(word)
    if word.isalpha():
        return bool(_INNER_CAPITAL.search(word)) and not is_type(word)
    return not _WORDS.search(word) or any(map(str.isdigit, word)) or bool(_INNER_CAPITAL.search(word))


def is_passphrase(value: str) -> bool:
    """Return True if *value* is a passphrase of several words and not a sentence."""
    words = value.lower().split()
    if _APP_PASSWORD.search(value.strip()) and not SENTENCE_WORDS.issuperset(words):
        return True
    if SENTENCE_WORDS.intersection(words):
        return False
    return 3 <= len(words) <= 24 if all(map(str.isalpha, words)) else len(words) <= 3
