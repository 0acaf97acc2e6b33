"""Every form of secret in every context: what the tests and the scanners are run on."""

import urllib.parse
from collections.abc import Iterator
from typing import NamedTuple

from tests.redaction.samples.contexts import CARRIERS, NOTATIONS, SPOKEN
from tests.redaction.samples.keys import KINDS, LAYOUTS, key_lines
from tests.redaction.samples.named import NAMED
from tests.redaction.samples.placed import PLACED
from tests.redaction.samples.providers import PROVIDERS
from tests.redaction.samples.template import Planted, fill, planted


class Case(NamedTuple):
    """One text with the places of the secrets in it."""

    form: str
    context: str
    text: str
    spans: tuple[tuple[int, int], ...]


def tokens_in_carriers() -> Iterator[Case]:
    """Yield every token by itself, in every carrier."""
    for issuer, template in PROVIDERS:
        for context, carrier in CARRIERS.items():
            yield _case(issuer, context, planted(carrier(_marked(fill(template)))))


def tokens_in_notations() -> Iterator[Case]:
    """Yield every token as the value of a name that tells nothing, in every notation."""
    for issuer, template in PROVIDERS:
        token = fill(template)
        for context, notation in NOTATIONS.items():
            # What a token looks like after percent-encoding, no rule knows.
            is_changed = context == "url" and urllib.parse.quote(token, safe="") != token
            if "⟦" not in token and not is_changed:
                yield _case(issuer, context, planted(notation("value", token)))


def named_values() -> Iterator[Case]:
    """Yield every value after its name, in every notation that it can be told in."""
    for name, template, is_plain in NAMED:
        value = fill(template, name)
        for context, notation in NOTATIONS.items():
            if not (is_plain and context in SPOKEN):
                yield _case(f"{name} {template}", context, planted(notation(name, value)))


def placed_secrets() -> Iterator[Case]:
    """Yield every line with a secret, in every carrier."""
    for line in PLACED:
        for context, carrier in CARRIERS.items():
            yield _case(line, context, planted(carrier(fill(line))))


def private_keys() -> Iterator[Case]:
    """Yield every kind of private key in every layout; the body is the secret."""
    for kind in KINDS:
        lines = key_lines(kind)
        for layout, laid_out in LAYOUTS.items():
            text = laid_out(lines)
            starts = [text.index(line) for line in lines[1:-1] if line in text]
            yield Case(f"{kind}key", layout, text, tuple((start, start + 64) for start in starts))


def all_cases() -> Iterator[Case]:
    """Yield every case."""
    yield from tokens_in_carriers()
    yield from tokens_in_notations()
    yield from named_values()
    yield from placed_secrets()
    yield from private_keys()


def _marked(token: str) -> str:
    return token if "⟦" in token else f"⟦{token}⟧"


def _case(form: str, context: str, text: Planted) -> Case:
    return Case(form, context, *text)
