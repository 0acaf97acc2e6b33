"""What commands print: nothing in it controls the terminal or hides there."""

import io
import json
import sys

import pytest

from flowd.cli.output import VisibleStream, print_json, shorten, table, text_width, visible_output, wrapped
from flowd.model.session import SessionState

HOSTILE = "a\x1b[8mb\r\x9b2J\u202e\x7f" + chr(0xE0041)


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_whatever_is_printed_is_visible(capsys: pytest.CaptureFixture[str]) -> None:
    with visible_output():
        print(HOSTILE)
        print(HOSTILE, file=sys.stderr)
    printed = capsys.readouterr()
    assert printed.out == printed.err == "a\\x1b[8mb\\x0d\\x9b2J\\u202e\\x7f\\udb40\\udc41\n"


def test_json_is_visible_and_reads_back_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    with visible_output():
        print_json({"text": HOSTILE})
    printed = capsys.readouterr().out
    assert not set(HOSTILE) - set("a[8mb2J") & set(printed)
    assert json.loads(printed) == {"schema_version": 1, "text": HOSTILE}


def test_on_a_terminal_only_the_controls_of_flowd_stay() -> None:
    terminal = Terminal()
    VisibleStream(terminal).write("\r\x1b[K\x1b[31mred\x1b[0m\x1b[2J\x1b[8m\r")
    assert terminal.getvalue() == "\r\x1b[K\x1b[31mred\x1b[0m\\x1b[2J\\x1b[8m\\x0d"


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("text", ["word " * 80, "x" * 300, "日本語" * 60, "größe übung " * 30, ""])
def test_text_and_tables_fit_the_terminal(text: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = wrapped(text, first="goal:  ", rest="       ")
    assert max(map(text_width, lines)) <= min(columns, 100)
    assert "".join(lines).replace(" ", "") == "goal:" + text.replace(" ", "")
    cells = [("ID", "WHERE", "WHAT"), ("1", "/a" + "/deep" * 40, text), ("2", "~/日本", "x")]
    rows = table(cells, shrink={1: 8, 2: 8})
    assert max(map(text_width, rows)) <= columns
    assert text_width(rows[2]) == text_width(rows[0][: rows[0].index("WHAT")]) + 1


def test_a_path_keeps_its_end_and_a_sentence_its_start() -> None:
    assert shorten("/home/ada/work/shop", 10) == "…work/shop"
    assert shorten("Fix src/cart.py, then go ahead", 12) == "Fix src/car…"
    assert text_width(shorten("日本語日本語", 7)) <= 7


def test_a_line_break_in_a_cell_does_not_break_the_table() -> None:
    assert table([("A", "B"), ("x\ny", "z")], shrink={0: 8}) == ["A     B", "x\\ny  z"]


def test_times_are_iso_and_every_key_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([SessionState(session_id="s", last_activity_at=0.0, started_at=1.5)], name="sessions")
    (state,) = json.loads(capsys.readouterr().out)["sessions"]
    assert (state["started_at"], state["last_activity_at"]) == ("1970-01-01T00:00:01.500Z", None)
    assert set(state) == set(SessionState.__struct_fields__)
