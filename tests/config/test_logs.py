"""The log files: JSON, private, capped, and without secrets."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from flowd.config.logs import LOG_NAME, log, set_up_logging
from flowd.config.settings import LogSettings


@pytest.fixture(autouse=True)
def logging_put_back() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in root.handlers[:]:
        root.removeHandler(handler)
        if handler not in handlers:
            handler.close()
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)
    structlog.reset_defaults()


def hide(text: str) -> str:
    return text.replace("hunter2", "[hidden]")


def test_an_event_is_one_line_of_json_with_its_fields_and_no_secret(tmp_path: Path) -> None:
    set_up_logging(tmp_path, LogSettings(level="info", file_mb=1, files_kept=1), console=False, redact=hide)
    log.info("sink_failed", sink="core_db", error="password hunter2")
    log.debug("not_wanted")
    (line,) = (tmp_path / LOG_NAME).read_text().splitlines()
    event = json.loads(line)
    assert event.pop("timestamp").endswith("Z")
    assert event == {"event": "sink_failed", "level": "info", "sink": "core_db", "error": "password [hidden]"}


def test_a_traceback_is_kept_and_searched_for_secrets(tmp_path: Path) -> None:
    set_up_logging(tmp_path, LogSettings(level="info", file_mb=1, files_kept=1), console=False, redact=hide)
    try:
        raise ValueError("hunter2")
    except ValueError:
        log.exception("failed")
    event = json.loads((tmp_path / LOG_NAME).read_text())
    assert "ValueError: [hidden]" in event["exception"]


def test_files_are_rotated_capped_and_private(tmp_path: Path) -> None:
    set_up_logging(
        tmp_path, LogSettings(level="info", file_mb=0.001, files_kept=2), console=False, redact=hide
    )
    for number in range(100):
        log.info("filling", number=number, text="x" * 50)
    files = sorted(file.name for file in tmp_path.iterdir())
    assert files == ["flowd.log", "flowd.log.1", "flowd.log.2"]
    assert all(file.stat().st_size <= 1000 for file in tmp_path.iterdir())
    assert (tmp_path / LOG_NAME).read_text().count("\n") > 0
