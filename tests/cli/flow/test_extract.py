"""``flow extract`` as people and programs meet it."""

import json
from pathlib import Path

import pytest

from flowd.cli.flow import main
from tests.support.transcript import Transcript

FIELDS = {
    "goal",
    "status",
    "now",
    "hypothesis",
    "outcome",
    "files",
    "branch",
    "decisions",
    "learnings",
    "questions",
    "blockers",
    "next",
    "insights",
}


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """Return the file of a small session."""
    session = Transcript().person("Add a total to the cart page").edit("src/cart.py")
    session.assistant(
        "The issue is that vouchers are silently ignored. " + "The cart shows a total now. " * 5
    )
    file = tmp_path / "session-1.jsonl"
    file.write_bytes(session.data)
    return file


def test_json_has_every_field_even_where_nothing_is_known(
    transcript: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Programs need no defaults of their own."""
    assert main(["extract", str(transcript), "--until-line", "1", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)
    assert set(state) == FIELDS | {"schema_version"}
    assert state["status"] == "in_progress"
    assert state["goal"] == "Add a total to the cart page"
    assert state["files"] == []


def test_insights_name_their_records(transcript: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the specification's form."""
    main(["extract", str(transcript), "--json"])
    insights = json.loads(capsys.readouterr().out)["insights"]
    assert {one["category"] for one in insights} <= {"learning", "decision", "context"}
    assert all(one["record"].startswith("record-") and one["line"] for one in insights)


def test_the_page_fits_eighty_columns(transcript: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And is plain text."""
    assert main(["extract", str(transcript)]) == 0
    page = capsys.readouterr().out
    assert page.startswith("goal:       Add a total to the cart page\nstatus:     completed\n")
    assert "  - src/cart.py" in page
    assert all(len(line) <= 80 for line in page.splitlines())


def test_a_file_that_cannot_be_read_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a hint what to name instead."""
    assert main(["extract", str(tmp_path / "nothing.jsonl")]) == 1
    error = capsys.readouterr().err
    assert "nothing.jsonl: No such file or directory" in error
    assert "~/.claude/projects" in error


def test_a_file_that_is_no_transcript_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not a page without content."""
    file = tmp_path / "readme.md"
    file.write_text("# Hello\n")
    assert main(["extract", str(file)]) == 1
    assert "has no records of a session" in capsys.readouterr().err


def test_lines_are_counted_from_one(transcript: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is wrong usage."""
    assert main(["extract", str(transcript), "--until-line", "0"]) == 2


def test_paths_are_told_from_the_project_on_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also when the session ran in a directory below its root."""
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    session = Transcript()
    session.add(
        "user", cwd=str(tmp_path / "shop" / "src"), message={"content": "Add a total to the cart page"}
    )
    session.call("Edit", file_path=str(tmp_path / "shop" / "src" / "cart.py"))
    session.lines = [
        line.replace(b'"/home/ada/shop"', json.dumps(str(tmp_path / "shop/src")).encode())
        for line in session.lines
    ]
    file = tmp_path / "s.jsonl"
    file.write_bytes(session.data)
    main(["extract", str(file), "--json"])
    assert json.loads(capsys.readouterr().out)["files"] == ["src/cart.py"]


def test_a_session_is_named_by_the_start_of_its_id(
    transcript: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = private_home / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    for name in ("4fec7ea0-1111", "4fec9999-2222"):
        (folder / f"{name}.jsonl").write_bytes(transcript.read_bytes())
    assert main(["extract", "4fec7ea0"]) == 0
    assert "Add a total" in capsys.readouterr().out
    for name, problem in (("4fec", "several sessions begin with 4fec: "), ("abcd1234", "no session begins")):
        assert main(["extract", name]) == 1
        assert problem in capsys.readouterr().err
