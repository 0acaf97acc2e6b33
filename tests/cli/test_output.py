"""What commands print: nothing in it controls the terminal or hides there."""

import io
import json
import sys

import pytest

from flowd.cli.output import VisibleStream, print_json, visible_output

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
