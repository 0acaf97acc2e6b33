"""``flowd doctor`` looks at the hooks in Claude Code's settings, and asks the client if it takes them."""

import json
from pathlib import Path

import pytest

from flowd.cli.flowd import main
from flowd.cli.flowd.doctor.finding import CheckResult, gather_context
from flowd.cli.flowd.doctor.hooks import check_hooks
from flowd.cli.flowd.install.hook_settings import with_hooks
from flowd.config.paths import Paths, resolve_paths
from flowd.hooks.command import TIMEOUTS_S, hook_entries
from tests.support.stand_in_programs import InstallClient

NOWHERE = Paths(*[Path("/nowhere")] * 4)
THEIRS = [{"hooks": [{"type": "command", "command": "say done"}]}]


@pytest.fixture
def settings(private_home: Path) -> Path:
    """Where Claude Code's settings are; the directory is there, the file is not."""
    file = private_home / ".claude" / "settings.json"
    file.parent.mkdir()
    return file


def found(folder: Path) -> CheckResult:
    return check_hooks(gather_context(resolve_paths())._replace(claude_dir=folder))


def add_event(settings: Path, event: str, *, of_flowd: bool) -> None:
    content = json.loads(settings.read_text())
    content["hooks"][event] = content["hooks"]["Stop"] if of_flowd else THEIRS
    settings.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("text", "level"),
    [
        (None, "info"),
        ("{}", "info"),
        ('{"hooks": {"Stop": [{"hooks": [{"command": "other"}]}]}, "note": "flowd"}', "info"),
        (with_hooks("{}", hook_entries(NOWHERE)), "warning"),
        ('{"enabledPlugins": {"flowd@flowd": true}}', "ok"),
        ("{", "warning"),
    ],
    ids=["no file", "no hooks", "others' hooks", "ours, leading nowhere", "the plugin", "broken"],
)
def test_hooks_are_looked_for_in_claude_codes_settings(
    text: str | None, level: str, settings: Path, install_client: InstallClient
) -> None:
    install_client("2.1.327", *TIMEOUTS_S)
    if text is not None:
        settings.write_text(text)
    assert found(settings.parent).level == level


def test_hooks_that_reach_flowd_are_fine_until_they_are_turned_off(settings: Path) -> None:
    assert main(["install", "--hooks"]) == 0
    assert found(settings.parent).level == "ok"
    settings.write_text(settings.read_text().replace("{", '{"disableAllHooks": true,', 1))
    assert "turns all hooks off" in found(settings.parent).seen


def test_a_launcher_that_cannot_be_run_is_noticed(settings: Path) -> None:
    main(["install", "--hooks"])
    (resolve_paths().state_dir / "hook.sh").chmod(0o600)
    assert found(settings.parent).seen.startswith("hooks that do not reach flowd: SessionStart")


def test_the_client_is_asked_and_its_version_is_told(settings: Path, install_client: InstallClient) -> None:
    install_client("2.1.75", *TIMEOUTS_S, "Notification")
    main(["install", "--hooks"])
    add_event(settings, "Notification", of_flowd=False)
    assert found(settings.parent).level == "ok"
    assert found(settings.parent).seen.endswith("Claude Code 2.1.75 was asked and accepts its hooks")


def test_a_client_that_drops_the_settings_because_of_flowd_is_a_trouble(
    settings: Path, install_client: InstallClient
) -> None:
    install_client("2.1.75", *TIMEOUTS_S)
    main(["install", "--hooks"])
    add_event(settings, "PostCompact", of_flowd=True)
    result = found(settings.parent)
    assert (result.level, result.fix) == ("trouble", "flowd install --hooks")
    assert "drops all of" in result.seen
    assert result.seen.endswith("it does not know PostCompact")
    main(["install", "--hooks"])
    assert found(settings.parent).level == "ok"


def test_a_hook_of_the_person_that_the_client_does_not_know_is_named(
    settings: Path, install_client: InstallClient
) -> None:
    install_client("2.1.75", *TIMEOUTS_S)
    main(["install", "--hooks"])
    add_event(settings, "PostCompact", of_flowd=False)
    result = found(settings.parent)
    assert result.level == "trouble"
    assert result.fix == f"upgrade Claude Code, or remove PostCompact from {settings}"


def test_after_a_downgrade_the_hooks_that_the_client_lacks_are_to_be_installed_anew(
    settings: Path, install_client: InstallClient
) -> None:
    install_client("2.1.327", *TIMEOUTS_S)
    main(["install", "--hooks"])
    install_client("1.0.84", *(event for event in TIMEOUTS_S if event != "SessionEnd"))
    result = found(settings.parent)
    assert (result.level, result.fix) == ("trouble", "flowd install --hooks")


def test_after_an_upgrade_the_hooks_that_are_missing_are_to_be_installed(
    settings: Path, install_client: InstallClient
) -> None:
    install_client("1.0.84", *TIMEOUTS_S)
    main(["install", "--hooks"])
    install_client("2.1.327", *TIMEOUTS_S)
    result = found(settings.parent)
    assert (result.level, result.fix) == ("warning", "flowd install --hooks")
    assert result.seen == "hooks that do not reach flowd: SessionEnd"


def test_a_client_that_cannot_be_asked_is_judged_by_its_version(
    settings: Path, install_client: InstallClient
) -> None:
    install_client("2.1.75", "broken")
    main(["install", "--hooks"])
    assert "could not be asked, but its version knows the events" in found(settings.parent).seen
    add_event(settings, "PostCompact", of_flowd=True)
    result = found(settings.parent)
    assert (result.level, result.fix) == ("warning", "flowd install --hooks")


def test_the_client_is_asked_away_from_the_home_of_the_person(
    settings: Path, install_client: InstallClient, private_home: Path
) -> None:
    program = install_client("2.1.75", *TIMEOUTS_S)
    program.write_text(program.read_text().replace("exec ", 'env >> "$0.env"; exec ', 1))
    main(["install", "--hooks"])
    found(settings.parent)
    told = program.with_name("claude.env").read_text()
    assert told.count("ANTHROPIC_BASE_URL=http://127.0.0.1:9\n") == 3  # --version twice, and the question
    assert f"HOME={private_home}\n" not in told
    assert f"CLAUDE_CONFIG_DIR={settings.parent}\n" not in told
