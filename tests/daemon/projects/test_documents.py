"""Handoffs on disk come into core.db; who asks for a person is heard until one answers."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from flowd.actions.brief import BriefingRequest, compose
from flowd.handoff.markdown.directory import directory_name
from flowd.handoff.markdown.document import SIGNAL
from flowd.model.facts import HandoffIndexed, state_fact
from flowd.model.session import SessionState
from flowd.store.database import Database
from flowd.store.documents import acknowledging_facts, open_escalations
from flowd.store.journal import Journal

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome
    from tests.support.following import Following

TEXT = "# Handoff — 2026-03-01\n\nsession_id: s1\npurpose: Ship login\n\n## Next\n- Cookies\n"


@pytest.fixture
def directory(tmp_path: Path, project: Path) -> Path:
    """Where the project's handoffs are, not made yet."""
    return tmp_path / "handoffs" / directory_name(str(project))


def written(directory: Path, name: str = "a.md", text: str = TEXT) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_text(text)
    return directory / name


def taken(following: "Following") -> list[HandoffIndexed]:
    return [fact.body for fact in following.facts("handoff") if isinstance(fact.body, HandoffIndexed)]


def heard(following: "Following") -> tuple[str, ...]:
    return following.reader.handoffs.escalations


def test_what_lies_there_is_taken_once(following: "Following", directory: Path) -> None:
    path = written(directory)
    written(directory, "notes.txt")
    following.catch_up()
    following.catch_up()
    following.restart()
    (body,) = taken(following)
    assert (body.path, body.purpose, body.open_items) == (str(path), "Ship login", ("Cookies",))
    assert following.facts("handoff")[0].session_id == "s1"


def test_a_change_replaces_what_was_known_and_a_removal_forgets_nothing(
    following: "Following", directory: Path
) -> None:
    path = written(directory)
    following.look(path)
    path.write_text(TEXT.replace("Ship login", "Ship logout"))
    following.look(path)
    path.unlink()
    following.look(path)
    assert [body.purpose for body in taken(following)] == ["Ship logout"]


def test_the_directory_of_all_may_come_later(following: "Following", directory: Path) -> None:
    following.catch_up()
    written(directory)
    following.look(directory.parent)
    assert len(taken(following)) == 1


def test_hidden_places_and_deeper_ones_are_passed_over(following: "Following", directory: Path) -> None:
    for place in (directory.parent / ".index", directory / "archive", directory.parent):
        written(place)
        following.look(place / "a.md")
    following.catch_up()
    assert taken(following) == []


def test_a_secret_in_a_handoff_does_not_reach_core_db(following: "Following", directory: Path) -> None:
    token = "ghp" + "_" + "a1B2" * 9
    written(directory, text=TEXT.replace("Ship login", token) + f"- use {token}\n\n{SIGNAL}: {token}\n")
    following.catch_up()
    (fact,) = following.facts("handoff")
    assert token not in str(fact)
    assert "[redacted:github-token]" in str(fact)


def test_whose_it_is_is_found_when_its_session_becomes_known(
    following: "Following", directory: Path, project: Path
) -> None:
    written(directory)
    following.catch_up()
    assert [fact.project for fact in following.facts("handoff")] == [""]
    Journal(following.database).append(state_fact(SessionState(session_id="s1", project=str(project))))
    following.catch_up()
    assert [fact.project for fact in following.facts("handoff")] == [str(project)]


def test_of_two_projects_with_one_name_the_one_that_the_file_names_owns_it(
    following: "Following", tmp_path: Path
) -> None:
    places = [tmp_path / "a-b", tmp_path / "a_b"]
    for place in places:
        place.mkdir()
        state = SessionState(session_id=place.name, project=str(place))
        Journal(following.database).append(state_fact(state))
    directory = tmp_path / "handoffs" / directory_name(str(places[0]))
    written(directory, "one.md", TEXT.replace("s1", "a_b"))
    written(directory, "two.md", f"# H\n\ncwd: {places[0]}\n")
    written(directory, "three.md", "# H\n\nsays nothing of its place\n")
    following.catch_up()
    owners = {Path(fact.body.path).name: fact.project for fact in following.facts("handoff")}  # type: ignore[union-attr]  # the facts of this kind
    assert owners == {"one.md": str(places[1]), "two.md": str(places[0]), "three.md": ""}


def test_an_escalation_is_heard_until_a_person_answers_and_again_when_it_is_raised_anew(
    following: "Following", directory: Path
) -> None:
    journal = Journal(following.database)
    path = written(directory, text=f"{TEXT}\n{SIGNAL}: look at the keys\n")
    following.catch_up()
    assert list(heard(following)) == [f"{directory.name}: look at the keys ({path})"]
    journal.append(*acknowledging_facts(journal, open_escalations(journal)))
    following.reader.handoffs.refresh()
    assert not heard(following)
    path.write_text(path.read_text() + "\nA remark.\n")
    following.look(path)
    assert not heard(following)
    path.write_text(path.read_text() + f"\n{SIGNAL.lower()}: look at the keys\n")
    following.look(path)
    assert len(heard(following)) == 1


def test_a_starting_session_is_told_of_escalations_first_and_of_the_latest_handoff(
    following: "Following", directory: Path, project: Path
) -> None:
    path = written(directory, text=f"{TEXT}\n{SIGNAL}: look at the keys\n")
    following.catch_up()
    text = compose(
        following.database, BriefingRequest(cwd=str(project), session_id="new", source="startup")
    ).text
    lines = text.splitlines()
    assert lines[2] == "HUMAN ATTENTION ASKED FOR: look at the keys"
    assert any(line.startswith(f"Latest handoff document: {path} (just now): Ship login") for line in lines)
    assert SIGNAL not in text


def test_another_projects_escalation_is_not_told_here(
    following: "Following", tmp_path: Path, directory: Path
) -> None:
    written(directory, text=f"{TEXT}\n{SIGNAL}: look at the keys\n")
    following.catch_up()
    (tmp_path / "garage").mkdir()
    assert compose(following.database, BriefingRequest(cwd=str(tmp_path / "garage"))).text == ""


def test_a_real_daemon_notices_a_worker_and_shows_what_it_asks(
    daemon_home: "DaemonHome", tmp_path: Path, project: Path
) -> None:
    daemon_home.start()
    directory = daemon_home.claude_dir / "handoffs" / directory_name(str(project))
    written(directory, text=f"{TEXT}\n{SIGNAL}: look at the keys\n")
    daemon_home.wait_for(lambda status: any("look at the keys" in line for line in status["escalations"]))
    assert "needs a person" in " ".join(daemon_home.command("status").stdout.split())
    database = Database(daemon_home.paths.database)
    journal = Journal(database)
    journal.append(*acknowledging_facts(journal, open_escalations(journal)))
    database.close()
    subprocess.run(
        [sys.executable, "-c", "from flowd.actions.daemon_client import poke_daemon; poke_daemon()"],
        check=True,
    )
    daemon_home.wait_for(lambda status: not status["escalations"])


def test_a_real_daemon_leaves_a_handoff_when_a_session_ends(daemon_home: "DaemonHome", project: Path) -> None:
    daemon_home.start()
    transcript = daemon_home.claude_dir / "projects" / "-shop" / "5e551017-0000.jsonl"
    transcript.parent.mkdir(parents=True)
    record = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "5e551017-0000",
        "cwd": str(project),
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "message": {"role": "user", "content": "Please paint the door of the shop in blue"},
    }
    transcript.write_bytes(msgspec.json.encode(record) + b"\n")
    daemon_home.wait_for(lambda status: status["counts"]["captured"] >= 1)
    hook = {
        "hook_event_name": "SessionEnd",
        "session_id": "5e551017-0000",
        "cwd": str(project),
        "transcript_path": str(transcript),
        "reason": "other",
    }
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(daemon_home.paths.socket))
        connection.sendall(msgspec.json.encode({"verb": "hook", "input": hook}) + b"\n")
        while connection.recv(4096):
            continue
    directory = daemon_home.claude_dir / "handoffs" / directory_name(str(project))
    index = directory.parent / ".index" / f"{directory.name}.md"
    daemon_home.wait_for(lambda status: index.exists())
    (name,) = os.listdir(directory)
    assert name == "5e551017-auto.md"
    assert "Paint the door of the shop in blue" in (directory / name).read_text()
    assert name in index.read_text()


def test_at_the_first_start_only_the_newest_handoff_asks_for_a_person(
    following: "Following", directory: Path
) -> None:
    """What stands in older ones has been followed by a newer handoff long ago."""
    for age_s, name in ((900, "a.md"), (600, "b.md"), (60, "c.md")):
        path = written(directory, name, f"{TEXT}\n{SIGNAL}: {name}\n")
        os.utime(path, (time.time() - age_s,) * 2)
    following.catch_up()
    assert [one.reason for one in open_escalations(Journal(following.database))] == ["c.md"]
    path = written(directory, "d.md", f"{TEXT}\n{SIGNAL}: d.md\n")
    following.look(path)
    reasons = {one.reason for one in open_escalations(Journal(following.database))}
    assert reasons == {"c.md", "d.md"}


def test_an_escalation_ends_when_its_file_is_removed(following: "Following", directory: Path) -> None:
    path = written(directory, "a.md", f"{TEXT}\n{SIGNAL}: keys\n")
    following.look(path)
    following.catch_up()
    path.unlink()
    following.look(path)
    assert heard(following) == ()
