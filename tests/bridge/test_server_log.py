"""The bridge's log: flowd's own events in full, of everything else only where and what kind."""

import io
import logging
from collections.abc import Iterator

import pytest

from flowd.bridge.server import log_to


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = (root.handlers[:], root.level, logging.getLogger("flowd").level)
    stream = io.StringIO()
    log_to(stream)
    yield stream
    root.handlers[:], level, flowd_level = before
    root.setLevel(level)
    logging.getLogger("flowd").setLevel(flowd_level)


def test_flowds_own_events_are_shown(log: io.StringIO) -> None:
    logging.getLogger("flowd.bridge").info("tool=%s outcome=ok", "get_handoff")
    assert log.getvalue().endswith(" info flowd.bridge tool=get_handoff outcome=ok\n")


def test_what_libraries_quote_is_not(log: io.StringIO) -> None:
    try:
        raise ValueError("PRIVATE-WORDS")
    except ValueError:
        logging.getLogger("mcp.server").exception("handler got %r", "PRIVATE-WORDS")
    assert "PRIVATE-WORDS" not in log.getvalue()
    assert "error mcp.server at=test_server_log.py:" in log.getvalue()
    assert log.getvalue().endswith(" error=ValueError\n")


def test_the_small_talk_of_libraries_is_left_out(log: io.StringIO) -> None:
    logging.getLogger("uvicorn.error").info("Started server process")
    assert log.getvalue() == ""
