"""The events that flowd asks for, and the page that says so."""

import re

from flowd.hooks.command import FIRST_VERSIONS, OLDEST_VERSION, TIMEOUTS_S, known_events
from flowd.model.client import parse_version
from tests.support.repository import ROOT


def test_every_event_is_known_to_the_oldest_client_that_is_tried() -> None:
    assert known_events(None) == known_events(OLDEST_VERSION) == tuple(TIMEOUTS_S)


def test_the_table_in_docs_is_the_one_that_is_used() -> None:
    text = (ROOT / "docs" / "clients.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", text, re.MULTILINE)
    assert {event: parse_version(version) for event, version in rows} == FIRST_VERSIONS
