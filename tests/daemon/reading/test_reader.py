"""Whatever befalls a transcript: each complete record is taken once, and each event has its name."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.daemon.reading.pipeline import is_unknown_type
from flowd.model.facts import TranscriptVanished
from tests.support.transcript_lines import line, lines

if TYPE_CHECKING:
    from tests.support.following import Following


def troubles(following: "Following") -> dict[str, int]:
    plain = ("lines", "records", "bytes", "facts")
    return {
        name: value
        for name, value in following.counters.items()
        if name not in plain and value and not is_unknown_type(name)
    }


def test_appended_records_are_taken_once_and_the_cursor_stands_at_the_end(following: "Following") -> None:
    following.append(lines(1, 3))
    following.append(lines(4, 5))
    following.catch_up()
    assert following.counters["records"] == following.records_of() == 5
    assert following.source()["offset"] == following.transcript.stat().st_size
    assert troubles(following) == {}


def test_a_restart_reads_nothing_again(following: "Following") -> None:
    following.append(lines(1, 3))
    read = following.counters["bytes"]
    following.restart()
    following.append(line(4))
    assert following.counters["bytes"] == read + len(line(4))
    assert following.records_of() == 4


def test_a_partial_last_line_waits_across_a_restart(following: "Following") -> None:
    following.append(line(1) + line(2)[:20])
    following.restart()
    assert following.source()["records"] == 1
    following.append(line(2)[20:])
    assert following.records_of() == 2


def test_a_truncated_transcript_goes_on_at_its_new_end(following: "Following") -> None:
    """What is left was read before; only what comes after the cut is new."""
    following.append(lines(1, 4))
    os.truncate(following.transcript, len(lines(1, 2)) + 7)
    following.look(following.transcript)
    assert following.source()["offset"] == len(lines(1, 2))
    os.truncate(following.transcript, len(lines(1, 2)))
    following.append(line(5))
    assert troubles(following) == {"truncated": 1}
    assert following.counters["records"] == 5


def test_a_truncated_transcript_that_is_then_renamed_is_still_known(following: "Following") -> None:
    following.append(lines(1, 4))
    os.truncate(following.transcript, len(lines(1, 2)))
    following.look(following.transcript)
    moved = following.transcript.rename(following.folder / "other.jsonl")
    following.catch_up()
    assert following.counters["records"] == 4
    assert following.source(moved)["offset"] == len(lines(1, 2))


def test_an_emptied_transcript_begins_anew_with_what_is_written_next(following: "Following") -> None:
    following.append(lines(1, 3))
    os.truncate(following.transcript, 0)
    following.look(following.transcript)
    following.append(lines(7, 8))
    assert troubles(following) == {"truncated": 1, "replaced": 1}
    assert following.counters["records"] == 5
    assert following.records_of() == 2


def test_a_transcript_rewritten_in_place_and_larger_is_read_from_its_start(following: "Following") -> None:
    following.append(lines(1, 3))
    following.transcript.write_bytes(line(1) + lines(20, 29))
    following.look(following.transcript)
    assert troubles(following) == {"rewritten": 1}
    assert following.records_of() == 11


def test_a_new_file_with_the_same_content_is_not_read_again(following: "Following") -> None:
    """An editor or a backup program replaces the file; what it holds is known."""
    following.append(lines(1, 3))
    copy = following.folder / "copy"
    copy.write_bytes(lines(1, 4))
    copy.rename(following.transcript)
    following.catch_up()
    assert troubles(following) == {"replaced": 1}
    assert following.counters["records"] == following.records_of() == 4
    assert [row["state"] for row in following.sources()] == ["replaced", "live"]


def test_a_new_file_with_other_content_is_read_from_its_start(following: "Following") -> None:
    following.append(lines(1, 3))
    copy = following.folder / "copy"
    copy.write_bytes(lines(30, 31))
    copy.rename(following.transcript)
    following.catch_up()
    assert troubles(following) == {"replaced": 1}
    assert following.records_of() == 2


@pytest.mark.parametrize("folder", ["-work-project", "-work-elsewhere"])
@pytest.mark.parametrize("is_told", [True, False], ids=["by event", "found later"])
def test_a_renamed_transcript_goes_on_where_it_was(
    following: "Following", folder: str, is_told: bool
) -> None:
    following.append(lines(1, 3))
    target = following.projects / folder / "renamed.jsonl"
    target.parent.mkdir(exist_ok=True)
    following.transcript.rename(target)
    if is_told:
        following.look(following.transcript, target)
    else:
        following.restart()
    following.append(line(4), target)
    assert troubles(following) == {"renamed": 1}
    assert following.counters["records"] == following.records_of() == 4


def test_transcripts_that_change_places_keep_their_positions(following: "Following") -> None:
    other = following.folder / "s2.jsonl"
    following.append(lines(1, 3))
    following.append(lines(1, 2, "s2"), other)
    aside = following.transcript.rename(following.folder / "aside")
    other.rename(following.transcript)
    aside.rename(other)
    following.look(following.transcript, other)
    following.restart()
    assert following.counters["records"] == 5
    assert (following.source()["records"], following.source(other)["records"]) == (2, 3)


def test_a_transcript_moved_over_another_leaves_one_living_row(following: "Following") -> None:
    other = following.folder / "s2.jsonl"
    following.append(lines(1, 3))
    following.append(lines(1, 2, "s2"), other)
    following.transcript.rename(other)
    following.catch_up()
    following.restart()
    assert [row["records"] for row in following.sources("state = 'live'")] == [3]
    assert following.counters["records"] == 5


def test_a_directory_renamed_as_a_whole_is_followed_to_its_new_name(following: "Following") -> None:
    following.append(lines(1, 3))
    moved = following.folder.rename(following.projects / "-moved")
    following.look(following.folder, moved)
    assert troubles(following) == {"renamed": 1}
    following.append(line(4), moved / "s1.jsonl")
    assert following.records_of() == 4


def test_a_deleted_transcript_is_recorded_with_what_was_kept(following: "Following") -> None:
    following.append(lines(1, 3))
    size = following.transcript.stat().st_size
    following.transcript.unlink()
    following.look(following.transcript)
    (fact,) = following.facts("vanished")
    assert fact.body == TranscriptVanished(str(following.transcript), size, 3)
    (shown,) = following.lines(1800)
    assert (shown.phase, shown.records) == ("vanished", 3)
    following.restart()
    (shown,) = following.lines(1800)
    assert shown.phase == "vanished"
    assert troubles(following) == {"vanished": 1}


def test_a_directory_deleted_as_a_whole_takes_its_transcripts_with_it(following: "Following") -> None:
    following.append(lines(1, 3))
    shutil.rmtree(following.folder)
    following.look(following.folder)
    assert troubles(following) == {"vanished": 1}


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("is_same_inode", [True, False], ids=["moved back", "restored from a copy"])
def test_a_deleted_transcript_that_comes_back_is_not_read_again(
    following: "Following", tmp_path: Path, is_same_inode: bool, more: int
) -> None:
    following.append(lines(1, 3))
    (shutil.move if is_same_inode else shutil.copy)(following.transcript, tmp_path / "kept")
    following.transcript.unlink(missing_ok=True)
    following.look(following.transcript)
    with (tmp_path / "kept").open("ab") as file:
        file.write(lines(4, 3 + more))
    shutil.move(tmp_path / "kept", following.transcript)
    following.look(following.transcript)
    assert troubles(following) == {"vanished": 1, "returned": 1}
    assert following.counters["records"] == following.records_of() == 3 + more
    (shown,) = following.lines(0)
    assert shown.phase == "active"
    following.append(line(9))
    assert following.records_of() == 4 + more


def test_a_new_file_that_was_given_a_dead_ones_inode_leaves_the_dead_one_as_it_was(
    following: "Following",
) -> None:
    """File systems hand out inode numbers again: what was kept of the first session must stay."""
    following.append(lines(1, 3))
    inode = following.transcript.stat().st_ino
    following.transcript.unlink()
    following.look(following.transcript)
    other = following.folder / "s2.jsonl"
    other.touch()
    # Whatever number the system gave, core.db says that the dead one had it.
    with following.database.transaction() as connection:
        connection.execute("update flow_sources set inode = ?", (other.stat().st_ino,))
    assert inode
    following.restart()
    following.look(other)
    following.append(lines(1, 2, "s2"), other)
    assert following.records_of("s1") == 3
    assert following.records_of("s2") == 2
    assert troubles(following) == {"vanished": 1}
    following.restart()
    following.append(line(3, "s2"), other)
    assert following.records_of("s2") == 3


def test_a_new_file_with_a_dead_ones_inode_and_first_line_is_still_another(following: "Following") -> None:
    """Only a file that holds all that was read is the old one under a new name."""
    following.append(lines(1, 3))
    following.transcript.unlink()
    following.look(following.transcript)
    other = following.folder / "s2.jsonl"
    other.write_bytes(line(1) + lines(20, 29))
    with following.database.transaction() as connection:
        connection.execute("update flow_sources set inode = ?", (other.stat().st_ino,))
    following.restart()
    assert following.source(other)["session_id"] == "s2"
    assert (following.records_of("s1"), following.records_of("s2")) == (3, 11)
    assert troubles(following) == {"vanished": 1}


def test_glued_broken_and_foreign_lines_are_counted_and_the_rest_is_read(following: "Following") -> None:
    following.append(
        line(1)[:-1]
        + line(2)
        + b"// a comment\n"
        + b"\xff\xfe\n"
        + b'{"type":"from-the-future"}\n'
        + b"\n"
        + line(3)
    )
    assert troubles(following) == {"glued_lines": 1, "bad_lines": 2, "unknown_types": 1}
    assert following.counters["records"] == 4
    assert following.counters["lines"] == 6


def test_bytes_that_are_no_utf8_inside_a_record_do_not_lose_it(following: "Following") -> None:
    following.append(line(1).replace(b"Please", b"Pl\xff\xfease") + line(2))
    assert following.records_of() == 2


def test_half_an_emoji_as_javascript_cuts_it_does_not_stop_the_reading(following: "Following") -> None:
    following.append(line(1).replace(b"Please", rb"\ud83d Please") + line(2))
    assert following.records_of() == 2


def test_a_line_of_two_megabytes_is_one_record(following: "Following") -> None:
    following.append(line(1) + line(2, content="x" * (2 << 20)) + line(3))
    assert following.counters["records"] == 3
    assert troubles(following) == {}


def test_records_whose_fields_have_other_types_are_taken_without_them(following: "Following") -> None:
    following.append(line(1, version=["2", "1"], gitBranch=7) + line(2))
    assert following.records_of() == 2
    assert troubles(following) == {"misfit_records": 1}


def test_a_file_with_nothing_but_metadata_is_a_session_without_messages(following: "Following") -> None:
    following.append(
        b'{"type":"mode","mode":"default","sessionId":"s1"}\n{"type":"ai-title","aiTitle":"T"}\n'
    )
    (shown,) = following.lines(1800)
    assert (shown.title, shown.records) == ("T", 2)


@pytest.mark.parametrize("odd", ["fifo", "link", "folder"])
def test_what_only_looks_like_a_transcript_is_named_once_and_harms_nothing(
    following: "Following", odd: str
) -> None:
    path = following.folder / "odd.jsonl"
    if odd == "fifo":
        os.mkfifo(path)
    elif odd == "link":
        path.symlink_to("/etc/passwd")
    else:
        path.mkdir()
    following.look(path)
    following.look(path)
    following.append(line(1))
    following.catch_up()
    assert troubles(following) == {"unreadable": 1}
    assert following.counters["records"] == 1


def test_a_name_that_is_no_text_is_passed_over(following: "Following") -> None:
    odd = os.fsencode(following.folder) + b"/\xff.jsonl"
    Path(os.fsdecode(odd)).write_bytes(line(1))
    following.append(line(1))
    following.catch_up()
    assert troubles(following) == {"unreadable": 1}


def test_an_unreadable_transcript_is_counted_once_and_read_when_it_may_be(
    following: "Following", monkeypatch: pytest.MonkeyPatch
) -> None:
    following.transcript.write_bytes(lines(1, 2))
    really_open = os.open

    def refuse(path: str, *arguments: int, **named: int) -> int:
        if path == str(following.transcript):
            raise PermissionError(13, "Permission denied", path)
        return really_open(path, *arguments, **named)

    # Root may read everything, so the refusal has to be played.
    with monkeypatch.context() as refusing:
        refusing.setattr("flowd.daemon.reading.reader.os.open", refuse)
        following.catch_up()
        following.catch_up()
    assert troubles(following) == {"unreadable": 1}
    (failure,) = following.reader.failures.listed
    assert "Permission denied" in failure.error
    following.transcript.chmod(0o640)
    following.catch_up()
    assert not following.reader.failures.listed
    assert following.records_of() == 2


def agent_2_1(folder: Path) -> Path:
    return folder / "s1" / "subagents" / "agent-7.jsonl"


def agent_of_a_workflow(folder: Path) -> Path:
    return folder / "s1" / "subagents" / "workflows" / "wf-1" / "agent-7.jsonl"


def agent_2_0(folder: Path) -> Path:
    return folder / "agent-7.jsonl"


@pytest.mark.parametrize("place", [agent_2_1, agent_of_a_workflow, agent_2_0])
@pytest.mark.parametrize("is_told", [True, False], ids=["by event", "found later"])
def test_a_subagents_file_belongs_to_its_parents_session(
    following: "Following", place: Callable[[Path], Path], is_told: bool
) -> None:
    following.append(lines(1, 2))
    agent = place(following.folder)
    agent.parent.mkdir(parents=True, exist_ok=True)
    agent.write_bytes(line(1, agentId="7", isSidechain=True))
    if is_told:
        following.look(agent.parent if agent.parent != following.folder else agent)
    else:
        following.catch_up()
    row = following.source(agent)
    assert (row["session_id"], row["is_subagent"], row["records"]) == ("s1", 1, 1)
    following.catch_up()
    assert following.reader.status.progress.sessions == 1
    assert following.reader.status.progress.transcripts == 2
    assert len(following.lines(1800)) == 1


def test_sidechain_records_inside_a_session_do_not_move_its_place(
    following: "Following", tmp_path: Path
) -> None:
    """Clients 1.0 kept subagents inline."""
    project, other = tmp_path / "project", tmp_path / "other"
    for directory in (project, other):
        (directory / ".git").mkdir(parents=True)
    following.append(line(1, cwd=str(project)) + line(2, cwd=str(other), isSidechain=True))
    (shown,) = following.lines(1800)
    assert shown.project == str(project)
    assert following.records_of() == 2


def test_tool_results_and_other_folders_of_a_session_hold_no_transcripts(following: "Following") -> None:
    for name in ("s1/tool-results/a.jsonl", "memory/b.jsonl", "s1/subagents/journal.jsonl"):
        path = following.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(line(1))
    following.append(line(1))
    following.catch_up()
    assert [row["path"] for row in following.sources()] == [str(following.transcript)]


def test_a_file_renamed_while_a_backlog_waits_is_not_taken_for_vanished(following: "Following") -> None:
    """Its new name may stand at the end of the backlog, longer away than the grace lasts."""
    following.append(lines(1, 2))
    moved = following.transcript.rename(following.folder / "moved.jsonl")
    for number in range(5):
        (following.folder / f"new{number}.jsonl").write_bytes(line(1, f"new{number}"))
    os.utime(moved, (1, 1))
    following.reader.reconcile()
    following.let_grace_pass()
    following.look()
    assert troubles(following) == {"renamed": 1}


def test_a_session_whose_memory_an_upgrade_cannot_read_is_read_again_whole(following: "Following") -> None:
    following.append(lines(1, 3))
    with following.database.transaction() as connection:
        connection.execute("update flow_memories set body = x'00'")
    following.restart()
    following.append(line(4))
    assert following.records_of() == 4
    assert troubles(following) == {"rebuilt": 1}


def test_the_sessions_in_which_flowd_asks_a_model_are_never_read(following: "Following") -> None:
    own = following.projects / "-own-sessions"
    own.mkdir()
    (own / "s9.jsonl").write_bytes(lines(1, 3))
    following.look(own / "s9.jsonl", own)
    following.catch_up()
    assert following.counters.get("records", 0) == 0
    following.append(lines(1, 2))
    assert following.counters["records"] == 2
