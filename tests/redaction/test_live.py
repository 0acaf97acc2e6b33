"""The redactor of a process follows the settings."""

from pathlib import Path

import pytest

from flowd.actions.context import Context
from flowd.config.settings import LiveSettings
from flowd.handoff.track.rules import project_patterns
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


def test_the_patterns_of_a_project_mask_its_own_texts_only_and_follow_their_file(tmp_path: Path) -> None:
    """A repository that calls everything a secret must not mask the texts of another."""
    greedy, own = tmp_path / "greedy", tmp_path / "own"
    for root, pattern in ((greedy, "[a-z]{4}"), (own, "ACME-[0-9]{6}")):
        (root / "conductor").mkdir(parents=True)
        (root / "conductor" / "workflow.md").write_text(f"handoff:\n  secrets_patterns:\n    - '{pattern}'\n")
    live = LiveRedactor(LiveSettings(tmp_path / "config.yaml"), project_patterns)
    assert live(TICKET) == TICKET
    assert live.of(str(own))(TICKET) == "ticket [redacted:custom] here"
    assert live.of(str(greedy))(TICKET) == "[redacted:custom]et ACME-123456 [redacted:custom]"
    assert live.custom_of(str(own)) is not None
    assert live.custom_of(str(tmp_path)) is None
    (own / "conductor" / "workflow.md").write_text("# No rules any more\n")
    assert live.of(str(own))(TICKET) == TICKET


def test_a_command_masks_by_the_patterns_of_the_project_around(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "conductor").mkdir()
    rules = "handoff:\n  secrets_patterns: ['ACME-[0-9]{6}']\n"
    (project / "conductor" / "workflow.md").write_text(rules)
    monkeypatch.chdir(project)
    with Context() as context:
        assert context.redact(TICKET) == "ticket [redacted:custom] here"
