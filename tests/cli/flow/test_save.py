"""``flow init``, ``save``, ``show``, ``inject``, ``sessions`` and ``trust``, as people type them."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from flowd.actions.context import Context
from flowd.cli.flow import main
from flowd.handoff.yaml.api import load_handoff, save_handoff
from flowd.model.facts import Checkpointed, state_fact
from flowd.model.session import SessionState
from flowd.store.journal import Journal


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one uncommitted file, as the working directory."""
    root = tmp_path / "shop"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    (root / "parser.py").write_text("x = 1\n")
    monkeypatch.chdir(root)
    return root


def say(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run one flow command that must succeed; return what it printed."""
    code = main(words)
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return printed.out


def remember(project: Path, session_id: str, **fields: object) -> None:
    known = {"project": str(project), "last_activity_at": time.time(), **fields}
    Journal(Context().database).append(state_fact(SessionState(session_id=session_id, **known)))  # type: ignore[arg-type]


def test_save_writes_the_words_into_the_file_and_core_db(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message is what is going on now; branch and uncommitted files come from git."""
    printed = say(capsys, "save", "Halfway through", "--goal", "Ship the parser", "--status", "blocked")
    assert "flowd is not running: written directly" in printed
    handoff = load_handoff(project)
    assert handoff is not None
    wanted = {"goal": "Ship the parser", "now": "Halfway through", "status": "blocked", "branch": "main"}
    assert {field: handoff[field] for field in wanted} == wanted
    assert handoff["files"] == ["parser.py"]
    (fact,) = Journal(Context().database).facts_of_project(str(project), "checkpoint", 9)
    assert isinstance(fact.body, Checkpointed)
    assert fact.body.trigger == "manual"
    assert fact.body.state.goal == "Ship the parser"


def test_a_second_save_changes_only_what_it_names(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    say(capsys, "save", "First", "--goal", "Ship it", "--hypothesis", "Off by one")
    say(capsys, "save", "Second")
    handoff = load_handoff(project) or {}
    assert (handoff["goal"], handoff["now"], handoff["hypothesis"]) == ("Ship it", "Second", "Off by one")


def test_a_save_without_a_goal_takes_the_message_for_one(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say(capsys, "save", "Fix the login")
    assert (load_handoff(project) or {})["goal"] == "Fix the login"


def test_secrets_in_a_persons_words_are_masked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "ghp_" + "a1B2" * 9
    say(capsys, "save", f"Try token {secret}")
    assert secret not in (project / ".flow-guardian" / "handoff.yaml").read_text()
    assert all(secret not in str(fact.body) for fact in Journal(Context().database).facts_after(0, 99))


def test_save_works_from_a_directory_below_the_root(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(project / "deep" / "er")
    say(capsys, "save", "From below")
    assert (project / ".flow-guardian" / "handoff.yaml").exists()
    assert not (project / "deep" / "er" / ".flow-guardian").exists()


def test_save_at_home_is_refused_in_one_line(
    private_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(private_home)
    assert main(["save", "x"]) == 1
    assert "is not in a project" in capsys.readouterr().err
    assert not (private_home / ".flow-guardian").exists()


def test_with_core_db_broken_the_words_still_reach_the_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Context().database
    store.close()
    store.path.write_bytes(b"this is no database, and long enough to be sure of it" * 40)
    assert main(["save", "Kept anyway"]) == 0
    printed = capsys.readouterr()
    assert "saved in handoff.yaml only" in printed.err
    assert (load_handoff(project) or {})["now"] == "Kept anyway"


def test_save_without_git_keeps_the_words(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(project))
    say(capsys, "save", "No git here")
    assert (load_handoff(project) or {})["now"] == "No git here"


def test_init_makes_a_folder_that_ignores_itself(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "created" in say(capsys, "init")
    assert (project / ".flow-guardian" / ".gitignore").read_text().strip() == "*"
    assert "already exists" in say(capsys, "init")
    dirty = subprocess.run(
        ["git", "status", "--porcelain"], capture_output=True, text=True, check=True
    ).stdout
    assert ".flow-guardian" not in dirty


def test_show_tells_handoff_drift_and_other_sessions(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say(capsys, "save", "Here", "--files", "gone.py")
    remember(project, "other-session", goal="Other", now="Reviewing", branch="side")
    page = say(capsys, "show")
    assert "Here" in page
    assert "gone: gone.py" in page
    assert "other-se" in page
    assert "flowd is not running" in page
    view = json.loads(say(capsys, "show", "--json"))
    assert view["handoff"]["now"] == "Here"
    assert view["sessions"][0]["captured_records"] == 0


def test_show_in_a_fresh_project_says_how_to_begin(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no handoff yet" in say(capsys, "show")
    assert not (project / ".flow-guardian").exists()


def test_inject_prints_the_context_with_and_without_tags(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say(capsys, "save", "Here", "--goal", "Ship it")
    assert "<flow-guardian-context>" in say(capsys, "inject")
    quiet = say(capsys, "inject", "--quiet", "--level", "L0")
    assert "<flow-guardian-context>" not in quiet
    assert "**Goal:** Ship it" in quiet


def test_save_state_leaves_goal_now_and_hypothesis_alone(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say(capsys, "save", "Mine", "--goal", "Goal", "--files", "other.py")
    assert say(capsys, "inject", "--save-state", "--quiet") == "state saved\n"
    handoff = load_handoff(project) or {}
    assert (handoff["goal"], handoff["now"], handoff["files"]) == ("Goal", "Mine", ["parser.py"])


def test_save_state_in_a_fresh_project_writes_the_defaults(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say(capsys, "inject", "--save-state")
    handoff = load_handoff(project) or {}
    assert (handoff["goal"], handoff["now"]) == ("Working on shop", "Session in progress")


def test_sessions_lists_those_of_the_project_or_of_all(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no session" in say(capsys, "sessions")
    remember(project, "here-1", goal="Here")
    remember(project.parent, "there-1", goal="There")
    assert "there-1" not in say(capsys, "sessions")
    everywhere = say(capsys, "sessions", "--all")
    assert "here-1" in everywhere
    assert "there-1" in everywhere
    assert {
        state["session_id"] for state in json.loads(say(capsys, "sessions", "--all", "--json"))["sessions"]
    } == {
        "here-1",
        "there-1",
    }


def test_trust_shows_the_words_and_remembers_the_yes(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".flow-guardian").mkdir()
    save_handoff({"goal": "From a stranger", "status": "blocked", "now": "x"}, project)
    assert "From a stranger" not in say(capsys, "inject")
    assert main(["trust"]) == 1  # nobody is there to be asked
    assert "flow trust --yes" in capsys.readouterr().err
    assert "goal: From a stranger" in say(capsys, "trust", "--yes")
    assert "From a stranger" in say(capsys, "inject")
    assert "nothing to accept" in say(capsys, "trust")
