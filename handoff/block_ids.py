"""Ids that depend on what is said alone: the same meaning gets the same id everywhere."""

import hashlib
import re
import unicodedata

_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def meaning(text: str) -> str:
    """Return *text* without what does not change its meaning: case, punctuation, numbers, spacing."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = _BETWEEN_WORDS.sub(" ", _NUMBERS.sub("0", folded)).strip()
    return words if words.strip("0 ") else " ".join(folded.split())


def stable_id(kind: str, text: str) -> str:
    """Return the id of *text* as a *kind* of node."""
    return f"{kind}-{digest(meaning(text), size=5)}"


def digest(text: str, *, size: int = 8) -> str:
    """Return a short hash of *text*, *size* bytes in hex."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
