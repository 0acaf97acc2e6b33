"""``flow thread``: the five operations as a person types them."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from flowd.cli.flow import main, thread
from flowd.store.threads.records import ENTRY_LIMIT_BYTES
from flowd.system.errors import FlowdError
from tests.support.commands import run_verb


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("DATA", "STATE", "RUNTIME"):
        monkeypatch.setenv(f"FLOWD_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "xdg-runtime"))
    monkeypatch.setenv("FLOWD_CONFIG", str(tmp_path / "config.yaml"))


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_verb(thread, *words) == 0
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    answer = json.loads(printed(capsys, *words, "--json"))
    assert answer.pop("schema_version") == 1
    return answer


def type_on_stdin(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))


def test_the_workflow_of_the_specification_in_six_commands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    handoff_id = printed(capsys, "create", "Auth", "JWT", "--as", "chat").splitlines()[0]
    assert "new for you: 1" in printed(capsys, "get", handoff_id)
    assert printed(capsys, "read", handoff_id) == "Read up to entry 1 as code.\n"
    assert "Added entry 2 (question)" in printed(capsys, "add", handoff_id, "question", "7d or 30d?")
    assert "code · question" in printed(capsys, "get", handoff_id, "--as", "chat")
    answered = printed(capsys, "add", handoff_id, "decision", "30 days", "--as", "chat")
    assert "#2 code · question" in answered
    assert "(missed)" in answered
    assert "Its entries are deleted" in printed(capsys, "close", handoff_id)
    assert "completed" in printed(capsys, "get", handoff_id)


def test_the_default_client_of_claude_code_is_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    created = as_json(capsys, "create", "t", "c")
    assert created["entries"][0]["from_client"] == "code"
    assert as_json(capsys, "get", created["handoff"]["id"])["new_count"] == 0


def test_json_has_the_specified_shapes(capsys: pytest.CaptureFixture[str]) -> None:
    created = as_json(capsys, "create", "t", "c", "--project", "dnd")
    handoff_id = created["handoff"]["id"]
    assert created["handoff"]["project"] == "dnd"
    assert set(as_json(capsys, "get", handoff_id)) == {"handoff", "entries", "new_entries", "new_count"}
    assert set(as_json(capsys, "add", handoff_id, "done", "x")) == {
        "handoff",
        "entry",
        "missed_entries",
        "redacted",
    }
    assert as_json(capsys, "read", handoff_id) == {"marked_read": True, "client": "chat", "last_seen": 2}
    assert as_json(capsys, "close", handoff_id) == {"closed": True, "id": handoff_id, "title": "t"}


@pytest.mark.parametrize("words", [("create", "t"), ("create", "t", "-")])
def test_content_comes_from_standard_input_byte_for_byte(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    type_on_stdin(monkeypatch, "één\r\n\tregel\n".encode())
    assert as_json(capsys, *words)["entries"][0]["content"] == "één\r\n\tregel\n"


def test_standard_input_that_is_too_long_or_no_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    type_on_stdin(monkeypatch, b"x" * (ENTRY_LIMIT_BYTES + 1))
    with pytest.raises(FlowdError, match="more than 1,048,576 bytes"):
        run_verb(thread, "create", "t")
    type_on_stdin(monkeypatch, b"\xff\xfe")
    with pytest.raises(FlowdError, match="not UTF-8"):
        run_verb(thread, "create", "t")


def test_control_characters_are_shown_and_not_sent_to_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    handoff_id = as_json(capsys, "create", "t\x1b]0;x\x07", "\x1b[2Jgone\x9b1m")["handoff"]["id"]
    shown = printed(capsys, "get", handoff_id)
    assert not set(shown) & {"\x1b", "\x07", "\x9b"}
    assert "\\x1b[2Jgone\\x9b1m" in shown


@pytest.mark.parametrize(
    "words",
    [("add", "hof_x", "note", "c"), ("get", "hof_x", "--as", "human"), ("close",)],
    ids=["unknown type", "unknown client", "no id"],
)
def test_wrong_usage_exits_with_two(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        run_verb(thread, *words)
    assert exit_.value.code == 2


def test_an_unknown_id_is_said_in_the_specified_words() -> None:
    with pytest.raises(FlowdError, match=r"^Handoff 'hof_nope' not found\.$"):
        run_verb(thread, "get", "hof_nope")


def test_core_db_is_where_the_settings_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.yaml").write_text("store:\n  path: ~/shared/brain.db\n")
    printed(capsys, "create", "t", "c")
    assert (tmp_path / "shared" / "brain.db").exists()
    assert not (tmp_path / "data" / "core.db").exists()


def test_in_a_terminal_the_default_client_is_that_of_the_specification(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert as_json(capsys, "create", "t", "c")["entries"][0]["from_client"] == "chat"


def test_threads_are_listed_with_what_is_unread(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "list").startswith("no threads")
    first = as_json(capsys, "create", "Auth", "c")["handoff"]["id"]
    second = as_json(capsys, "create", "Parser", "c", "--as", "chat")["handoff"]["id"]
    as_json(capsys, "close", first)
    (row,) = as_json(capsys, "list")["threads"]
    assert (row["id"], row["title"], row["unread_code"], row["unread_chat"]) == (second, "Parser", 1, 0)
    assert {row["id"] for row in as_json(capsys, "list", "--all")["threads"]} == {first, second}
    assert "code 1, chat 0" in printed(capsys, "list")


@pytest.mark.parametrize("words", [("create", " ", "hi"), ("create", "t", ""), ("add", "hof_x", "task", " ")])
def test_nothing_nameless_or_empty_is_kept(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["thread", *words]) == 1
    assert "is empty" in capsys.readouterr().err


def test_an_unknown_id_comes_with_a_way_to_find_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["thread", "get", "hof_nope"]) == 1
    assert "flow thread list" in capsys.readouterr().err
