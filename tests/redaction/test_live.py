"""The redactor of a process follows the settings."""

from pathlib import Path

from flowd.config.settings import LiveSettings
from flowd.redaction.live import LiveRedactor
from flowd.redaction.redactor import redact

TICKET = "ticket ACME-123456 here"


def test_a_pattern_masks_from_the_reload_on_until_it_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    settings = LiveSettings(file)
    live = LiveRedactor(settings)
    assert live(TICKET) == TICKET
    assert live.custom is None
    file.write_text("redaction: {patterns: ['ACME-[0-9]{6}']}\n")
    settings.reload()
    assert live(TICKET) == "ticket [redacted:custom] here"
    assert live.custom is live.redactor
    file.write_text("{}\n")
    settings.reload()
    assert live(TICKET) == TICKET
    assert live.custom is None


def test_the_patterns_of_one_redactor_do_not_reach_the_built_in_one(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("redaction: {patterns: ['ACME-[0-9]{6}']}\n")
    assert LiveRedactor(LiveSettings(file))(TICKET) != TICKET
    assert redact(TICKET) == TICKET
