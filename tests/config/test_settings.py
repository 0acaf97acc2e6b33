"""config.yaml: what is right is taken with its origin; what is wrong is named in one line."""

import re
from pathlib import Path

import pytest
import yaml

from flowd.config.settings import LiveSettings, dotted_items, load_settings
from flowd.system.errors import SettingsError


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    return file


def test_without_a_file_everything_is_a_default(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path / "none.yaml")
    assert set(loaded.origins.values()) == {"default"}
    assert [key for key, _ in dotted_items(loaded.settings)] == list(loaded.origins)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "watch:\n"])
def test_an_empty_file_or_section_changes_nothing(tmp_path: Path, text: str) -> None:
    assert load_settings(written(tmp_path, text)) == load_settings(tmp_path / "none.yaml")


def test_a_value_of_the_person_wins_and_its_origin_is_known(tmp_path: Path) -> None:
    file = written(tmp_path, "idle:\n  after_minutes: 5\nlog:\n  level: debug\n")
    loaded = load_settings(file)
    assert loaded.settings.idle.after_minutes == 5
    assert loaded.settings.log.level == "debug"
    theirs = {key for key, origin in loaded.origins.items() if origin == str(file)}
    assert theirs == {"idle.after_minutes", "log.level"}


def test_every_default_can_be_written_into_the_file_as_it_is(tmp_path: Path) -> None:
    defaults = load_settings(tmp_path / "none.yaml").settings
    sections: dict[str, dict[str, object]] = {}
    for key, value in dotted_items(defaults):
        section, name = key.split(".")
        sections.setdefault(section, {})[name] = list(value) if isinstance(value, tuple) else value
    assert load_settings(written(tmp_path, yaml.safe_dump(sections))).settings == defaults


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        (
            "idle:\n  after_minuts: 3\n",
            "unknown key idle.after_minuts (value 3)",
            "did you mean idle.after_minutes?",
        ),
        (
            "idel:\n  after_minutes: 3\n",
            "unknown key idel (value {'after_minutes': 3})",
            "did you mean idle?",
        ),
        ("qqqq: 1\n", "unknown key qqqq (value 1)", "`flowd config --defaults` lists all keys"),
        ("7: 1\n", "unknown key 7 (value 1)", "`flowd config --defaults` lists all keys"),
        (
            "watch:\n  poll_s: soon\n",
            "watch.poll_s: 'soon' is not valid: it must be a number above 0",
            "--defaults",
        ),
        ("watch:\n  poll_s: 0\n", "watch.poll_s: 0 is not valid: it must be a number above 0", "--defaults"),
        ("log:\n  level: loud\n", "log.level: 'loud' is not valid", "--defaults"),
        ("log:\n  files_kept: -1\n", "log.files_kept: -1 is not valid", "--defaults"),
        ("serve:\n  enabled: 3\n", "serve.enabled: 3 is not valid", "--defaults"),
        ("redaction:\n  patterns: abc\n", "redaction.patterns: 'abc' is not valid", "--defaults"),
        (
            "redaction:\n  patterns: ['a', '(b']\n",
            (
                "redaction.patterns: ['a', '(b'] is not valid: "
                "the pattern '(b' is not a regular expression: missing )"
            ),
            "",
        ),
        ("watch: 3\n", "watch: 3 is not a mapping of settings", ""),
        ("- watch\n", "a mapping of sections is expected, not list", ""),
        ("watch: [\n", "invalid YAML: ", "--defaults"),
        (
            "a: !!python/object/apply:os.system ['true']\n",
            "a tag, which flowd does not read",
            "--defaults",
        ),
    ],
)
def test_what_is_wrong_is_named_in_one_line_with_the_file(
    tmp_path: Path, text: str, what: str, hint: str
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(SettingsError, match=re.escape(f"{file}: {what}")) as raised:
        load_settings(file)
    assert "\n" not in str(raised.value)
    assert hint in raised.value.hint


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()
    with pytest.raises(SettingsError, match=r"config\.yaml: cannot be read: .*directory"):
        load_settings(tmp_path / "config.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"idle:\n  after_minutes: \xff\n")
    with pytest.raises(SettingsError, match=r"latin\.yaml: not UTF-8 text, line 2"):
        load_settings(tmp_path / "latin.yaml")


def test_a_reload_takes_all_or_nothing(tmp_path: Path) -> None:
    file = written(tmp_path, "idle:\n  after_minutes: 5\n")
    live = LiveSettings(file)
    written(tmp_path, "idle:\n  after_minutes: 6\nlog:\n  level: loud\n")
    with pytest.raises(SettingsError):
        live.reload()
    assert live.current.idle.after_minutes == 5
    written(tmp_path, "idle:\n  after_minutes: 6\n")
    live.reload()
    assert live.current.idle.after_minutes == 6


def test_every_setting_is_explained_by_a_comment_above_it() -> None:
    import flowd.config.settings as module

    lines = (Path(module.__file__).parent / "defaults.yaml").read_text().splitlines()
    sections = re.split(r"^(?=\w+:$)", "\n".join(lines), flags=re.MULTILINE)[1:]
    assert len(sections) == len(module.Settings.__struct_fields__)
    for section in sections:
        assert section.splitlines()[1].strip().startswith("#"), section


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("log:\n  level: loud\n", "it must be one of debug, error, info, warning"),
        ("handoff_yaml:\n  projects: some\n", "it must be one of all, none, opted_in"),
        ("handoff_markdown:\n  triggers: [never]\n", "it must be a list, each one of "),
        ("serve:\n  port: 99999\n", "it must be a whole number from 1 to 65535"),
        ("beads:\n  enabled: maybe\n", "it must be true or false"),
        ("store:\n  path: 3\n", "it must be text or null"),
        ("idle:\n  after_minutes: 1\n  after_minutes: 2\n", "after_minutes is set twice, line 3"),
        ("idle:\n\nlog:\nidle:\n", "idle is set twice, line 4"),
    ],
)
def test_what_would_be_right_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(said)):
        load_settings(written(tmp_path, text))


def test_a_file_in_another_encoding_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"idle:\n  # gr\xf6sse\n")
    with pytest.raises(SettingsError, match="not UTF-8 text, line 2") as raised:
        load_settings(tmp_path / "config.yaml")
    assert raised.value.hint == "save it as UTF-8"
