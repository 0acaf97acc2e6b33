"""What a rule finds: a secret of some kind, at some place of a text."""

from typing import NamedTuple

MARK = "[redacted:"


class Secret(NamedTuple):
    """The kind of a secret and where it stands in a text."""

    kind: str
    start: int
    end: int
