"""Whether what stands after a secret's name is a secret, a placeholder, or code."""

import re

_MARK = "[redacted:"
_WORDS_FOR_NOTHING = frozenset(
    """
    any anystr args argv array bool boolean buffer bytes bytea changeme changeit char click confirm const
    correct credentials data default disabled empty enabled enter env environ error example expired export
    failed false field forgotten from function generate getpass given hash hashed hidden import
    incorrect input int integer invalid is json keyring literal login long mandatory masked missing multiline
    must name needed never new nil none not null number object omitted optional options opts or param params
    parameter pass passed passwd password passwords pending placeholder please plain plaintext private prompt
    promise provided public pwd random read record redacted ref request required reset response result
    return same sealed secret secrets secretstr self sensitive set settings short status stored str string
    success test text that the then this token tokens too true type typing undefined union unknown unset
    updated user username valid validated value var varchar variable void was weak wrong yes your
    """.split()
)
_TEMPLATE = re.compile(
    r"\$\{|\$\(|\{\{|%\(|#\{|^\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)$|^%[A-Za-z_]\w*%?$|^<[^>]*>?$|\{[^{}\s]*\}"
    r"|^[*@][a-z_]+$|^!(?:[A-Z][a-z]+|vault|env|secret)\b"
)
_PLACEHOLDER = re.compile(
    r"x{4}|\*{3}|\.{3}|…"
    r"|^(?:your|example|sample|dummy|placeholder|insert|replace|change[-_]?me|todo|enter)(?![a-z0-9])"
    r"|^(?:your|my)[-_ ]?(?:api|access|secret|auth|token|key|password)|(?:[-_ ]|^)here$",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"^[({\[]|^[A-Za-z_][\w.:>-]*[(\[{]"
    r"|^(?:self|this|os|process|env|config|cfg|conf|settings|args|opts|options|request|req|res|params|ctx"
    r"|context|props|data|user|form|body|payload|state|row|event|secrets|vault|creds|credentials|app|std)[.:?>-]"
    r"|^[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)*\??\.\w*(?:pass|pwd|secret|token|key|cred|auth|value|data|text|env)\w*$",
    re.IGNORECASE,
)
_NAME_IN_CODE = re.compile(
    r"pass|pwd|secret|token|key|cred|auth|hash|input|value|field|string|type|user|get|read", re.IGNORECASE
)
_IDENTIFIER = re.compile(r"^[A-Za-z_]+[=:;.]?$")
_TYPE = re.compile(r"^[A-Za-z_][\w.]*(?:Key|Token|Secret|Auth|Password|Credentials?|Types?)(?![a-z])[\w.]*$")
_CONSTANT = re.compile(r"^[A-Z][A-Z_]+$")
_FILE = re.compile(
    r"^(?:\.{0,2}/(?![A-Za-z0-9+/]{39}$)|~/|[A-Za-z]:\\|\w+://)|\.(?:pem|key|crt|json|ya?ml|toml|txt|py|[jt]sx?|env|md|rs|go)$"
)
_WORDS = re.compile(r"^[A-Za-z]{2,}(?:[-_.:/ ](?:[A-Za-z]{2,}|[vV]?\d{1,4}))*$")
_SYMBOL = re.compile(r"[!@#$%^*+=?~|]")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_SENTENCE = frozenset(
    "a an and are at be by for from has have in is it must not of on or please the this to was your".split()
)


def is_masked(value: str) -> bool:
    """Tell whether *value* is a stand-in for a token: one letter repeated, dots or stars in its middle."""
    tail = value[-12:].lower()
    return len(set(tail)) <= 2 or "xxxxxxxx" in value.lower() or "****" in value


def is_placeholder(value: str) -> bool:
    """Tell whether *value* stands for something else: a template, a type, a path, an earlier redaction."""
    return bool(
        value.startswith(_MARK)
        or value.lower().rstrip(".,;:!?") in _WORDS_FOR_NOTHING
        or len(set(value)) <= 2
        or _TEMPLATE.search(value)
        or _PLACEHOLDER.search(value)
        or _FILE.search(value)
    )


def is_code(value: str) -> bool:
    """Tell whether the unquoted *value* is an expression that fetches a secret rather than the secret."""
    return bool(_CODE.search(value) or _CONSTANT.search(value) or _TYPE.search(value))


def looks_random(value: str) -> bool:
    """Tell whether *value* is no word and no name: letters with digits or symbols, long enough to matter."""
    if len(value) < 8 or any(letter.isspace() for letter in value) or _WORDS.search(value):
        return False
    letters = any(letter.isalpha() for letter in value)
    digits = any(letter.isdigit() for letter in value)
    return letters and (digits or bool(_SYMBOL.search(value)))


def is_password(value: str, *, quoted: bool) -> bool:
    """Tell whether *value*, assigned to something called a password, is one."""
    if len(value) < 4:
        return False
    if any(letter.isspace() for letter in value):
        return _is_passphrase(value)
    if quoted or not _IDENTIFIER.search(value):
        return True
    return not _NAME_IN_CODE.search(value) and not _is_type_name(value)


def is_spoken_password(value: str) -> bool:
    """Tell whether *value* after ``password is`` is the password and not the rest of a sentence."""
    word = value.rstrip(".,;:!?)") or value
    if len(word) < 4:
        return False
    if _WORDS.search(word):
        long_phrase = len(word) >= 24 and word.count("-") >= 3
        return long_phrase or any(map(str.isdigit, word)) or bool(_INNER_CAPITAL.search(word))
    return not word.isalpha() or bool(_INNER_CAPITAL.search(word))


def _is_passphrase(value: str) -> bool:
    words = value.lower().split()
    if _SENTENCE.intersection(words):
        return False
    return 3 <= len(words) <= 8 if all(map(str.isalpha, words)) else len(words) <= 3


def _is_type_name(value: str) -> bool:
    return value[0].isupper() and value[1:].islower() is False
