"""``flowd install --hooks``: one's own settings.json keeps everything, and comes back to the byte."""

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.cli.flowd import main
from flowd.cli.flowd.install import hooks as install_hooks
from flowd.cli.flowd.install.hook_settings import checked, hooks_state, ours_in, with_hooks, without_hooks
from flowd.cli.flowd.install.settings_file import BACKUPS_KEPT
from flowd.config.paths import Paths, resolve_paths
from flowd.hooks.command import TIMEOUTS_S, hook_command, hook_entries, hook_program, is_ours
from flowd.system.errors import FlowdError
from tests.support.stand_in_programs import InstallClient

THEIRS = {"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}
EVENTS = st.sampled_from(["Stop", "PreCompact", "Notification"])
GROUPS = st.lists(st.sampled_from([THEIRS, {"hooks": []}, {"matcher": "auto"}, "odd"]), max_size=3)
SETTINGS = st.dictionaries(
    st.sampled_from(["model", "env", "permissions", "ü"]), st.integers() | st.just({"a": [1]}), max_size=3
).flatmap(
    lambda rest: (
        st.dictionaries(EVENTS, GROUPS, max_size=3).map(lambda hooks: rest | {"hooks": hooks}) | st.just(rest)
    )
)
STYLES = st.sampled_from([{"indent": 2}, {"indent": 4, "ensure_ascii": False}, {"indent": "\t"}, {}])


@pytest.fixture
def settings(private_home: Path) -> Path:
    """Where Claude Code's settings are; the directory is there, the file is not."""
    file = private_home / ".claude" / "settings.json"
    file.parent.mkdir()
    return file


def install(*words: str) -> int:
    return main(["install", "--hooks", *words])


def uninstall(*words: str) -> int:
    return main(["uninstall", "--hooks", *words])


def entries() -> dict[str, dict[str, Any]]:
    return hook_entries(Paths(Path("/c"), Path("/d"), Path("/s"), Path("/r")))


@given(SETTINGS, STYLES, st.sampled_from(["", "\n"]))
def test_everything_else_stays_and_the_undoing_leaves_the_same_values(
    value: dict[str, Any], style: dict[str, Any], ending: str
) -> None:
    text = json.dumps(value, **style) + ending
    longer = with_hooks(text, entries())
    for event in TIMEOUTS_S:
        assert len(ours_in(json.loads(longer)["hooks"][event])) == 1
    assert with_hooks(longer, entries()) == longer
    assert list(json.loads(longer)) == list(json.loads(text)) + ["hooks"] * ("hooks" not in value)
    shorter = without_hooks(longer)
    if "hooks" not in value or (all(value["hooks"].values()) and value["hooks"]):
        assert shorter == text
    else:
        assert {key: each for key, each in json.loads(shorter).items() if key != "hooks"} == {
            key: each for key, each in value.items() if key != "hooks"
        }


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}\n",
        '{"hooks": {}}',
        '{\n\t"hooks": {\n\t\t"Stop": [ ]\n\t}\n}\n',
        '{ "a" :1,\n"hooks":{"PreCompact":[{"hooks":[]}]} }',
        json.dumps({"hooks": {"Stop": [THEIRS]}, "model": "opus"}, indent=4) + "\n",
    ],
)
def test_uninstall_gives_the_very_same_bytes_back(settings: Path, text: str) -> None:
    settings.write_text(text)
    assert install() == 0
    assert set(hooks_state(settings).present) == set(TIMEOUTS_S)
    assert uninstall() == 0
    assert settings.read_text() == text


def test_a_file_that_was_not_there_is_gone_again(settings: Path) -> None:
    install()
    assert settings.stat().st_mode & 0o777 == 0o600
    uninstall()
    assert not settings.exists()


def test_a_change_made_in_between_survives_the_undoing(settings: Path) -> None:
    settings.write_text('{"hooks": {"Stop": []}}')
    install()
    changed = json.loads(settings.read_text())
    changed["model"] = "opus"
    changed["hooks"]["Stop"].append(THEIRS)
    settings.write_text(json.dumps(changed, indent=2))
    uninstall()
    assert json.loads(settings.read_text()) == {"hooks": {"Stop": [THEIRS]}, "model": "opus"}


def test_a_second_install_changes_nothing(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install()
    first = settings.read_bytes()
    capsys.readouterr()
    install()
    assert settings.read_bytes() == first
    assert capsys.readouterr().out.startswith("unchanged")


def test_a_persons_own_hook_after_ours_stays_after_it(settings: Path) -> None:
    install()
    changed = json.loads(settings.read_text())
    changed["hooks"]["Stop"].append(THEIRS)
    changed["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 60
    settings.write_text(json.dumps(changed))
    before = settings.read_bytes()
    install()
    assert settings.read_bytes() == before


def test_hooks_of_a_flowd_that_was_elsewhere_are_replaced(settings: Path) -> None:
    settings.write_text(with_hooks(json.dumps({"hooks": {"Stop": [THEIRS]}}), entries()))
    install()
    found = json.loads(settings.read_text())["hooks"]
    assert all(len(ours_in(groups)) == 1 for groups in found.values())
    assert ours_in(found["Stop"]) == ["~/.local/state/flowd/hook.sh||: flowd"]
    assert THEIRS in found["Stop"]


def test_only_our_handler_leaves_a_group_that_holds_others(settings: Path) -> None:
    install()
    changed = json.loads(settings.read_text())
    changed["hooks"]["Stop"][0]["hooks"].insert(0, THEIRS["hooks"][0])
    settings.write_text(json.dumps(changed))
    uninstall()
    assert json.loads(settings.read_text()) == {"hooks": {"Stop": [{"hooks": THEIRS["hooks"]}]}}


def test_the_change_is_shown_and_a_backup_is_kept_but_not_for_ever(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.write_text('{"model": "opus"}')
    for _ in range(BACKUPS_KEPT):
        install()
        uninstall()
    shown = capsys.readouterr().out
    assert '-{"model": "opus"}' in shown
    assert "hook.sh||: flowd" in shown
    backups = list((resolve_paths().state_dir / "backups").glob("*/settings.json.*"))
    assert len(backups) == BACKUPS_KEPT
    assert {file.stat().st_mode & 0o777 for file in backups} == {0o600}


def test_a_dry_run_shows_everything_and_changes_nothing(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.write_text("{}")
    install("--dry-run")
    assert "+" in capsys.readouterr().out
    assert settings.read_text() == "{}"
    assert not resolve_paths().state_dir.exists()
    install()
    before = settings.read_text()
    uninstall("--dry-run")
    assert settings.read_text() == before


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "// mine\n{}", '{"hooks": []}', '{"hooks": {"Stop": {}}}', '"text"', "\ufeff{}"],
)
def test_what_flowd_does_not_understand_is_refused_in_one_line_and_left_alone(
    settings: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.write_text(text, encoding="utf-8")
    assert install() == 1
    assert uninstall() == 1
    first, hint, *_ = capsys.readouterr().err.splitlines()
    assert str(settings) in first
    assert "nothing was changed" in hint
    assert settings.read_text(encoding="utf-8") == text


def test_bytes_that_are_no_text_are_refused(settings: Path) -> None:
    settings.write_bytes(b'{"a": "\xff"}')
    assert install() == 1
    assert settings.read_bytes() == b'{"a": "\xff"}'


def test_a_link_of_a_dotfiles_manager_stays_a_link(settings: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_text("{}")
    target.chmod(0o640)
    settings.symlink_to(target)
    install()
    assert settings.is_symlink()
    assert set(hooks_state(target).present) == set(TIMEOUTS_S)
    assert target.stat().st_mode & 0o777 == 0o640
    uninstall()
    assert target.read_text() == "{}"
    assert os.listdir(target.parent) == ["claude.json"]


def test_another_claude_directory_is_honoured(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "other"))
    install()
    assert set(hooks_state(tmp_path / "other" / "settings.json").present) == set(TIMEOUTS_S)
    assert not settings.exists()


def test_a_change_by_the_client_at_the_same_moment_is_not_lost(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.write_text("{}")

    def meanwhile(text: str, wanted: Any) -> str:
        settings.write_text('{"model": "new"}')
        return with_hooks(text, wanted)

    monkeypatch.setattr(install_hooks, "with_hooks", meanwhile)
    assert install() == 1
    assert settings.read_text() == '{"model": "new"}'


def test_the_plugin_is_mentioned_when_it_is_enabled_too(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.write_text('{"enabledPlugins": {"flowd@flowd": true}}')
    install()
    assert "its hooks do nothing while these are installed" in capsys.readouterr().out
    assert hooks_state(settings).plugin


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
def test_the_command_runs_the_hook_and_is_silent_once_flowd_is_gone(
    settings: Path, monkeypatch: pytest.MonkeyPatch, shell: str, tmp_path: Path
) -> None:
    state = tmp_path / "a state" / "it's"
    monkeypatch.setenv("FLOWD_STATE_DIR", str(state))
    install()
    command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]

    def run() -> tuple[int, str]:
        ran = subprocess.run(
            [shell, "-c", command],
            input='{"hook_event_name": "Stop"}',
            capture_output=True,
            text=True,
            check=False,
        )
        return ran.returncode, ran.stdout

    assert run() == (0, "")
    assert " Stop away-spooled " in (state / "log" / "hooks.log").read_text()
    launcher = state / "hook.sh"
    launcher.write_text(launcher.read_text().replace(str(hook_program()), "/nowhere/hook.py"))
    assert run() == (0, "")
    launcher.unlink()
    assert run() == (0, "")


def test_the_command_fits_in_the_line_in_which_the_client_shows_it() -> None:
    shown = f"     PreCompact [{hook_command(resolve_paths())}] completed successfully"
    assert len(shown) < 80


OLD_STOP = "set -- Stop; [ ! -r /s/hook.sh ] || . /s/hook.sh # flowd-hook Stop"
OLD_POSTCOMPACT = "set -- PostCompact; [ ! -r /s/hook.sh ] || . /s/hook.sh # flowd-hook PostCompact"


def test_the_hooks_of_version_0_1_are_replaced_and_the_one_for_postcompact_goes(settings: Path) -> None:
    old = {
        event: [{"hooks": [{"type": "command", "command": command, "timeout": 5}]}]
        for event, command in (("Stop", OLD_STOP), ("PostCompact", OLD_POSTCOMPACT))
    }
    settings.write_text(json.dumps({"hooks": {**old, "Notification": [THEIRS]}}))
    install()
    found = json.loads(settings.read_text())["hooks"]
    assert set(found) == {*TIMEOUTS_S, "Notification"}
    assert ours_in(found["Stop"]) == [hook_command(resolve_paths())]
    uninstall()
    assert json.loads(settings.read_text()) == {"hooks": {"Notification": [THEIRS]}}


@pytest.mark.parametrize(
    ("version", "missing"),
    [
        ("1.0.61", {"SessionStart", "SessionEnd"}),
        ("1.0.84", {"SessionEnd"}),
        ("1.0.128", set()),
        ("2.1.75", set()),
        ("3.0.0", set()),
        ("unreleased", set()),
    ],
)
def test_only_events_that_the_client_knows_are_asked_for(
    settings: Path,
    install_client: InstallClient,
    version: str,
    missing: set[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    install_client(version, "broken")
    assert install() == 0
    assert set(TIMEOUTS_S) - set(json.loads(settings.read_text())["hooks"]) == missing
    told = "every client since Claude Code 1.0.128" if version == "unreleased" else f"Claude Code {version}"
    assert f"known to {told}" in capsys.readouterr().out
    assert uninstall() == 0
    assert not settings.exists()


def test_another_client_gets_other_hooks(settings: Path, install_client: InstallClient) -> None:
    install_client("2.1.75", "broken")
    install()
    install_client("1.0.84", "broken")
    install()
    assert "SessionEnd" not in json.loads(settings.read_text())["hooks"]


def test_the_state_of_the_hooks_is_told_for_the_doctor(settings: Path) -> None:
    assert hooks_state(settings).present == ()
    install()
    assert hooks_state(settings).present == tuple(TIMEOUTS_S)
    launcher = resolve_paths().state_dir / "hook.sh"
    launcher.write_text(launcher.read_text().replace(str(hook_program()), "/nowhere/hook.py"))
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "disableAllHooks": True}))
    state = hooks_state(settings)
    assert set(state.broken) == set(TIMEOUTS_S)
    assert state.disabled
    settings.write_text("{")
    with pytest.raises(FlowdError, match="not valid JSON"):
        hooks_state(settings)


def test_commands_of_others_are_not_taken_for_ours() -> None:
    assert not is_ours("echo '# flowd-hook Stop'")
    assert not is_ours("~/bin/hook.sh||:")
    assert not is_ours("~/bin/hook.sh ||: flowd || true")
    assert not is_ours("sh hook.sh Stop # flowd-hook Stop")
    assert not is_ours(None)
    assert is_ours(entries()["Stop"]["hooks"][0]["command"])


def test_a_plain_uninstall_undoes_the_hooks_too(settings: Path) -> None:
    settings.write_text("{}")
    install()
    install_hooks.uninstall(resolve_paths(), argparse.Namespace(hooks=False, dry_run=False))
    assert settings.read_text() == "{}"
    assert checked("{}", settings) == {}
    assert not (resolve_paths().state_dir / "hook.sh").exists()


def test_the_hooks_go_where_the_setting_says_that_claude_code_lives(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon follows the setting; hooks beside another Claude directory would never be run."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    config = tmp_path / "config.yaml"
    config.write_text(f"claude:\n  config_dir: {elsewhere}\n")
    monkeypatch.setenv("FLOWD_CONFIG", str(config))
    assert install() == 0
    assert "hooks" in json.loads((elsewhere / "settings.json").read_text())
    assert not settings.exists()
