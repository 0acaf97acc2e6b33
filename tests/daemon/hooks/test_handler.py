"""Hook events from the control socket and from the spool."""

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.daemon.hooks.handler import MAX_BYTES, Spool
from tests.support.live_session import exchange_hook, send_hook, write_record
from tests.support.repository import DATA

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome


def test_a_starting_session_is_told_what_an_unfinished_one_was_doing(
    daemon_home: "DaemonHome", project: Path
) -> None:
    daemon_home.start()
    path = write_record(daemon_home, project, "killed")
    common = {"cwd": str(project), "hook_event_name": "SessionStart", "source": "startup"}
    assert (
        send_hook(daemon_home, hook_event_name="Stop", session_id="killed", transcript_path=str(path)) == ""
    )
    answer = json.loads(send_hook(daemon_home, session_id="next", **common))
    assert "step 1" in answer["hookSpecificOutput"]["additionalContext"]
    assert send_hook(daemon_home, session_id="next", **common) == ""


def test_what_was_not_delivered_is_not_recorded_as_injected(daemon_home: "DaemonHome", project: Path) -> None:
    """A hook that has given up gets nothing, and its session was told nothing."""
    daemon_home.start()
    path = write_record(daemon_home, project, "worked")
    send_hook(daemon_home, hook_event_name="Stop", session_id="worked", transcript_path=str(path))
    start = {"cwd": str(project), "hook_event_name": "SessionStart", "source": "startup"}
    assert exchange_hook(daemon_home, start | {"session_id": "late"}, is_printed=False)
    assert send_hook(daemon_home, session_id="patient", **start)
    shown = json.loads(_flow(daemon_home, project, "show", "--json"))
    assert [given["session_id"] for given in shown["injected"]] == ["patient"]


def test_a_session_that_a_program_starts_is_told_only_if_that_is_asked_for(
    daemon_home: "DaemonHome", project: Path
) -> None:
    daemon_home.start()
    path = write_record(daemon_home, project, "worked")
    send_hook(daemon_home, hook_event_name="Stop", session_id="worked", transcript_path=str(path))
    start = {"cwd": str(project), "hook_event_name": "SessionStart", "entrypoint": "sdk-cli"}
    assert send_hook(daemon_home, session_id="next", **start) == ""
    daemon_home.stop()
    daemon_home.paths.config_file.write_text("inject:\n  headless: true\n")
    daemon_home.start()
    assert "step 1" in send_hook(daemon_home, session_id="next", **start)


@pytest.mark.parametrize(
    "event", ["PreCompact", "PostCompact", "SubagentStop", "UserPromptSubmit", "Unknown", ""]
)
def test_every_other_hook_is_answered_with_nothing(
    daemon_home: "DaemonHome", project: Path, event: str
) -> None:
    daemon_home.start()
    path = write_record(daemon_home, project, "s1")
    assert send_hook(daemon_home, hook_event_name=event, session_id="s1", transcript_path=str(path)) == ""
    assert send_hook(daemon_home, hook_event_name=event, transcript_path="") == ""


def test_what_a_hook_left_in_the_spool_is_taken_in_and_removed(
    daemon_home: "DaemonHome", project: Path
) -> None:
    spool = daemon_home.paths.spool_dir
    spool.mkdir(parents=True)
    path = write_record(daemon_home, project, "s1")
    left = {"hook_event_name": "PreCompact", "session_id": "s1", "transcript_path": str(path)}
    (spool / "1-1.json").write_text(json.dumps(left))
    (spool / "2-1.json").write_text("{broken")
    daemon_home.start()
    daemon_home.wait_for(lambda status: status["counts"]["captured"] == 1 and not any(spool.iterdir()))
    shown = json.loads(_flow(daemon_home, project, "show", "--json"))
    assert [kept["trigger"] for kept in shown["sessions"][0]["checkpoints"]] == ["precompact"]


def _flow(home: "DaemonHome", project: Path, *words: str) -> str:
    program = "import sys; from flowd.cli.flow import main; sys.exit(main())"
    run = subprocess.run(
        [sys.executable, "-c", program, *words],
        env=home.env,
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def test_every_input_that_claude_code_sends_is_answered(daemon_home: "DaemonHome", project: Path) -> None:
    daemon_home.start()
    for file in sorted((DATA / "hooks").glob("*.json")):
        fields = json.loads(file.read_text(encoding="utf-8")) | {"cwd": str(project)}
        answer = send_hook(daemon_home, **fields)
        assert answer == "" or fields["hook_event_name"] == "SessionStart", file.name
    assert {part["deaths"] for part in daemon_home.status()["parts"]} == {0}


def put(directory: Path, name: str, **fields: object) -> Path:
    file = directory / name
    file.write_text(json.dumps(fields))
    return file


def test_events_come_oldest_first_with_the_time_of_their_hook(tmp_path: Path) -> None:
    put(tmp_path, "2000000000-7.json", session_id="later")
    put(tmp_path, "1000000000-9.json", session_id="first")
    events = list(Spool(tmp_path).events())
    assert [(event.input.session_id, event.input.at) for event in events] == [("first", 1.0), ("later", 2.0)]


def test_a_file_stays_until_its_event_is_stored(tmp_path: Path) -> None:
    file = put(tmp_path, "1000000000-1.json", session_id="s1")
    (event,) = Spool(tmp_path).events()
    event.on_done(False)
    assert file.exists()
    event.on_done(True)
    event.on_done(True)  # two drains may have found it
    assert not file.exists()


@pytest.mark.parametrize(
    "text", ["not json", "[]", "", " " * (MAX_BYTES + 1)], ids=["text", "list", "empty", "large"]
)
def test_what_is_no_hook_input_is_removed(tmp_path: Path, text: str) -> None:
    (tmp_path / "1-1.json").write_text(text)
    good = put(tmp_path, "2-1.json", session_id="s1")
    assert [event.input.session_id for event in Spool(tmp_path).events()] == ["s1"]
    assert list(tmp_path.iterdir()) == [good]


def test_without_a_spool_directory_there_are_no_events(tmp_path: Path) -> None:
    assert list(Spool(tmp_path / "missing").events()) == []
