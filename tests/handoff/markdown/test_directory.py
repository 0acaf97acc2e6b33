"""The files of a handoff directory: found by time, added beside the others, replaced whole."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from flowd.handoff.errors import HandoffError
from flowd.handoff.markdown.directory import (
    add_file,
    directories_of,
    directory_name,
    encode_path_v1,
    handoff_files,
    replace_file,
)
from flowd.handoff.markdown.document import SIGNAL
from flowd.handoff.markdown.index import ParsedHandoff, index_path, parse_file, refresh_index
from flowd.handoff.markdown.parse import read_document
from flowd.handoff.markdown.render import CARRIED, HandoffDraft, carried_forward, render_draft

DRAFT = HandoffDraft(
    session_id="0b5e4c1a-0000-4000-8000-000000000001",
    purpose="Ship login: tokens first",
    trigger="idle",
    project="/work/shop",
    at=1_770_000_000.0,
    branch="feat/login",
    commit="abc1234",
    is_auto=True,
    done=("Token parser", "two\nlines"),
    next=("Cookies",),
    gotchas=("The test database must be empty",),
)


def shell(command: str, directory: Path) -> str:
    done = subprocess.run(
        ["sh", "-c", command, "sh", str(directory)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def dated(path: Path, moment: float) -> Path:
    os.utime(path, (moment, moment))
    return path


def test_the_contracts_one_liners_work_on_what_is_written(tmp_path: Path) -> None:
    directory = tmp_path / "handoffs" / "-work-shop"
    dated(Path(add_file(str(directory), "old", "# Handoff — 2026-01-01\n")), 1000.0)
    new = Path(add_file(str(directory), "0b5e4c1a", render_draft(DRAFT)))
    refresh_index(str(directory))
    assert shell('ls -t "$1"/ | head -1', directory) == new.name
    assert shell('ls -t "$1"/*.md | head -1', directory) == str(new)
    assert (
        shell('head -5 "$1"/0b5e4c1a.md | grep -c "^session_id: \\|^purpose: \\|^source: "', directory) == "3"
    )
    assert shell('grep "^purpose:" "$1"/0b5e4c1a.md | cut -d: -f2-', directory) == "Ship login: tokens first"
    for name, first in (("Done", "Token parser"), ("Next", "Cookies"), ("Gotchas", "The test database")):
        cut = f"sed -n '/^## {name}/,/^## /p' \"$1\"/0b5e4c1a.md | grep '^- ' | head -1"
        assert shell(cut, directory).startswith(f"- {first}")
    assert shell(f'grep -qi "{SIGNAL}" "$1"/0b5e4c1a.md && echo yes || echo no', directory) == "no"


def test_the_signal_is_never_written_whatever_a_session_said() -> None:
    loud = DRAFT._replace(purpose="human  review needed", next=("HUMAN REVIEW\nNEEDED: now", f"{SIGNAL}: x"))
    text = render_draft(loud)
    assert read_document(text).escalations == ()
    assert SIGNAL.casefold() not in text.casefold()


def test_what_is_written_is_read_back() -> None:
    document = read_document(render_draft(DRAFT))
    assert document.is_auto
    assert (document.session_id, document.purpose) == (DRAFT.session_id, DRAFT.purpose)
    assert (document.trigger, document.branch, document.project) == ("idle", "feat/login", "/work/shop")
    assert [item.text for item in document.items("done")] == ["Token parser", "two lines"]
    assert document.open_items == ["Cookies"]
    assert document.items("risks", "reflection") == []


def test_a_secret_is_hidden_before_it_is_written() -> None:
    token = "ghp" + "_" + "a1B2" * 9
    text = render_draft(DRAFT._replace(done=(f"pushed with {token}",)))
    assert token not in text
    assert "pushed with [redacted:github-token]" in text


def test_only_markdown_counts_and_the_newest_comes_first(tmp_path: Path) -> None:
    for moment, name in enumerate(("b.md", "a.md", "notes.txt", ".hidden.md", "x.md.tmp"), 1):
        (tmp_path / name).write_text("x")
        dated(tmp_path / name, moment)
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "gone.md").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.md")
    assert [Path(filed.path).name for filed in handoff_files(str(tmp_path))] == ["a.md", "b.md"]
    assert handoff_files(str(tmp_path / "absent")) == []


def test_files_of_one_moment_come_in_the_order_of_the_shell(tmp_path: Path) -> None:
    for name in ("c.md", "a.md", "b.md"):
        dated(Path(add_file(str(tmp_path), name[0], "x")), 5.0)
    listed = shell('ls -t "$1"', tmp_path).split()
    assert [Path(filed.path).name for filed in handoff_files(str(tmp_path))] == listed


def test_adding_replaces_nothing_and_moves_no_other_time(tmp_path: Path) -> None:
    first = dated(Path(add_file(str(tmp_path), "s", "one")), 1000.0)
    second = Path(add_file(str(tmp_path), "s", "two"))
    assert (first.read_text(), second.read_text(), second.name) == ("one", "two", "s-2.md")
    assert first.stat().st_mtime == 1000.0
    assert stat.S_IMODE(second.stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["s-2.md", "s.md"]


def test_while_a_file_is_written_no_listing_shows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def fsync(descriptor: int) -> None:
        seen.extend(os.listdir(tmp_path))

    monkeypatch.setattr(os, "fsync", fsync)
    add_file(str(tmp_path), "s", "text")
    temporary = seen[0]  # the directory is synced too, after the rename
    assert temporary.startswith(".")
    assert not temporary.endswith(".md")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = dated(Path(add_file(str(tmp_path), "s", "old")), 1000.0)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HandoffError, match="No space left"):
        replace_file(str(path), "new")
    assert (path.read_text(), path.stat().st_mtime, os.listdir(tmp_path)) == ("old", 1000.0, ["s.md"])


def test_directories_of_both_versions_are_found_through_links(tmp_path: Path) -> None:
    project = tmp_path / "my_shop"
    project.mkdir()
    (tmp_path / "link").symlink_to(project)
    handoffs = tmp_path / "handoffs"
    names = [directory_name(str(project)), encode_path_v1(os.path.realpath(project))]
    for name in names:
        (handoffs / name).mkdir(parents=True)
    found = directories_of(str(handoffs), str(tmp_path / "link"), str(project))
    assert [Path(directory).name for directory in found] == names


def test_what_was_left_open_is_carried_once_and_never_twice_marked() -> None:
    before = ["Cookies", "Docs.", f"Logout {CARRIED}", "cookies"]
    assert carried_forward(before, ("docs",), (), 10) == [f"Cookies {CARRIED}", f"Logout {CARRIED}"]
    assert carried_forward(before, (), ("Logout",), 1) == [f"Cookies {CARRIED}"]


def test_the_index_lists_what_there_is_and_is_made_anew_when_missing(tmp_path: Path) -> None:
    directory = tmp_path / "-work-shop"
    text = render_draft(DRAFT._replace(purpose="a | b"))
    add_file(str(directory), "s", text)
    path = Path(refresh_index(str(directory)))
    assert path == Path(index_path(str(directory)))
    assert "| idle | a \\| b | s.md |" in path.read_text()
    kept = path.stat().st_mtime_ns
    refresh_index(str(directory))
    assert path.stat().st_mtime_ns == kept
    path.unlink()
    assert Path(refresh_index(str(directory))).is_file()


def test_a_file_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (filed,) = handoff_files(str(tmp_path))
    (tmp_path / "a.md").unlink()
    assert parse_file(filed) is None
    assert ParsedHandoff(filed, read_document("")).digest == ""
