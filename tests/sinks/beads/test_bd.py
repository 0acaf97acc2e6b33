"""Running bd: every dialect understood, every ending told apart, no run without an id."""

import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from flowd.sinks.beads.bd import (
    MAX_ARGUMENT_BYTES,
    Bd,
    BdOutcome,
    BdResult,
    BeadsIssue,
    find_bd,
    is_issue_id,
    parse_result,
)
from flowd.sinks.beads.directory import BeadsDirectory, exclusive_owner, find_beads
from flowd.system.processes import ProcessResult, running_programs

if TYPE_CHECKING:
    from tests.support.beads_project import BeadsProject

# Long enough for a loaded machine to start a program, short enough to wait for.
SOON_S = 6.0


def bd_of(beads: "BeadsProject", timeout_s: float = 60.0) -> Bd:
    place = find_beads(beads.path)
    assert place is not None
    return Bd(str(beads.program), place, timeout_s)


@pytest.mark.parametrize(
    "stdout",
    [
        '[{"id":"t-1","notes":"n"}]',
        '{"id":"t-1","notes":"n"}',
        '{"schema_version":1,"data":[{"id":"t-1","notes":"n"}]}',
        '{"schema_version":1,"data":{"id":"t-1","notes":"n"}}',
        '{"schema_version":1,"id":"t-1","notes":"n"}',
    ],
)
def test_an_issue_is_found_in_each_shape(stdout: str) -> None:
    assert parse_result(ProcessResult(0, stdout, "a notice")) == (
        BdOutcome.DELIVERED,
        (BeadsIssue("t-1", notes="n"),),
        "",
    )


@pytest.mark.parametrize(
    ("code", "stdout", "stderr", "outcome"),
    [
        (0, "", 'Error fetching t-9: no issue found matching "t-9"', BdOutcome.UNKNOWN_ID),
        (1, "", 'Error resolving t-9: no issue found matching "t-9"', BdOutcome.UNKNOWN_ID),
        (1, "", "Error: no beads database found\nHint: run 'bd init'", BdOutcome.NO_DATABASE),
        (1, "", "Error: database is locked", BdOutcome.LOCKED),
        (1, "", "another process holds the exclusive lock", BdOutcome.LOCKED),
        (1, '{"error":"database is locked","schema_version":1}', "", BdOutcome.LOCKED),
        (1, "", "Error: unknown flag: --append-notes", BdOutcome.UNSUPPORTED),
        (2, "", "", BdOutcome.FAILED),
        (0, "", "", BdOutcome.DELIVERED),
        (0, "[]", "", BdOutcome.DELIVERED),
        (0, "✓ Updated issue: t-1", "warning: t-1: --notes replaced existing notes", BdOutcome.DELIVERED),
    ],
)
def test_endings_are_told_apart(code: int, stdout: str, stderr: str, outcome: BdOutcome) -> None:
    answer = parse_result(ProcessResult(code, stdout, stderr))
    assert (answer.outcome, answer.issues) == (outcome, ())


@pytest.mark.parametrize("ways", ["", "exit-1", "object"])
def test_an_unknown_id_is_one_whatever_the_exit_code(
    beads: "BeadsProject", ways: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_BD", ways)
    beads.put("t-1", notes="n")
    assert bd_of(beads).show("t-1").issues[0].notes == "n"
    assert bd_of(beads).show("t-2").outcome is BdOutcome.UNKNOWN_ID


def test_a_project_without_a_database_is_told(beads: "BeadsProject") -> None:
    (beads.root / ".beads").mkdir()
    answer = bd_of(beads).show("t-1")
    assert answer == (BdOutcome.NO_DATABASE, (), "Error: no beads database found")


def test_a_bd_that_hangs_is_ended_with_its_children(
    beads: "BeadsProject", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_BD", "hang")
    beads.put("t-1")
    assert bd_of(beads, SOON_S).show("t-1").outcome is BdOutcome.TIMED_OUT
    assert running_programs() == 0
    assert beads.verbs == ["show"]


def test_an_argument_over_the_limit_is_refused_by_the_system_and_one_below_it_is_not(
    beads: "BeadsProject",
) -> None:
    beads.put("t-1")
    assert bd_of(beads).replace_notes("t-1", "n" * (MAX_ARGUMENT_BYTES + 1)).outcome is BdOutcome.TOO_LARGE
    assert bd_of(beads).replace_notes("t-1", "n" * MAX_ARGUMENT_BYTES).outcome is BdOutcome.DELIVERED
    assert len(beads.notes("t-1")) == MAX_ARGUMENT_BYTES


def test_a_program_that_is_gone_is_absent(beads: "BeadsProject") -> None:
    beads.put("t-1")
    bd = bd_of(beads)
    beads.program.unlink()
    assert bd.show("t-1").outcome is BdOutcome.ABSENT


def test_nothing_of_a_session_and_no_other_database_reaches_bd(
    beads: "BeadsProject", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_SESSION_ID", "s")
    monkeypatch.setenv("CLAUDECODE", "1")
    beads.put("t-1")
    bd_of(beads).show("t-1")
    assert beads.calls[0]["session"] == []


@pytest.mark.parametrize("issue", ["", "-x", "--notes", "a b", "a\nb", "é", "x" * 129])
def test_what_is_no_plain_id_starts_no_program(beads: "BeadsProject", issue: str) -> None:
    beads.put("t-1")
    assert not is_issue_id(issue)
    with pytest.raises(AssertionError):
        bd_of(beads).append_notes(issue, "x")
    assert beads.calls == []


def test_children_are_all_children_also_for_a_bd_without_the_flag(
    beads: "BeadsProject", monkeypatch: pytest.MonkeyPatch
) -> None:
    beads.put("t-1")
    for number in range(60):
        beads.put(f"t-1.{number}", status="closed" if number < 20 else "open")
    assert len(bd_of(beads).children("t-1").issues) == 60
    monkeypatch.setenv("STAND_IN_BD", "old")
    assert len(bd_of(beads).children("t-1").issues) == 60


def owned_by(beads: "BeadsProject", **fields: object) -> BeadsDirectory:
    beads.put("t-1")
    (beads.root / ".beads" / ".exclusive-lock").write_text(json.dumps(fields))
    place = find_beads(beads.path)
    assert place is not None
    return place


def test_an_exclusive_lock_is_respected_and_no_bd_started(beads: "BeadsProject") -> None:
    owned_by(beads, holder="a vacuum", pid=os.getpid(), hostname=socket.gethostname())
    answer = bd_of(beads).show("t-1")
    assert answer == BdResult(BdOutcome.LOCKED, (), "a vacuum holds the exclusive lock of the database")
    assert beads.calls == []


def test_the_lock_of_a_dead_program_of_this_machine_is_none(beads: "BeadsProject") -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert exclusive_owner(owned_by(beads, holder="x", pid=child, hostname=socket.gethostname())) == ""
    assert exclusive_owner(owned_by(beads, holder="x", pid=child, hostname="elsewhere")) == "x"


def test_a_lock_that_cannot_be_read_counts(beads: "BeadsProject") -> None:
    place = owned_by(beads)
    (beads.root / ".beads" / ".exclusive-lock").write_text("{")
    assert exclusive_owner(place) == "another program"


def test_bd_is_found_on_path_in_the_usual_places_or_where_the_settings_say(
    beads: "BeadsProject", monkeypatch: pytest.MonkeyPatch, private_home: Path
) -> None:
    unset = msgspec.structs.replace(beads.settings, program=None)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("flowd.sinks.beads.bd.INSTALL_DIRS", ("~/go/bin",))
    assert find_bd(unset) is None
    usual = private_home / "go" / "bin" / "bd"
    usual.parent.mkdir(parents=True)
    usual.symlink_to(beads.program)
    assert find_bd(unset) == str(usual)
    monkeypatch.setenv("PATH", str(beads.program.parent))
    assert find_bd(unset) == str(beads.program)
    assert find_bd(msgspec.structs.replace(unset, program="~/go/bin/bd")) == str(usual)
    assert find_bd(msgspec.structs.replace(unset, program="/nowhere/bd")) is None


def test_a_worktree_uses_the_beads_of_its_repository(beads: "BeadsProject", tmp_path: Path) -> None:
    beads.put("t-1")
    common = beads.root / ".git"
    (common / "worktrees" / "w").mkdir(parents=True)
    (common / "worktrees" / "w" / "commondir").write_text("../..\n")
    worktree = tmp_path / "w"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {common}/worktrees/w\n")
    assert find_beads(str(worktree)) == (str(worktree), str(beads.root / ".beads"))
    (tmp_path / "plain").mkdir()
    assert find_beads(str(tmp_path / "plain")) is None
