"""handoff.yaml shows the current work, and a person's words in it stand."""

import itertools
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from flowd.config.settings import LiveSettings
from flowd.daemon.projects.watchers import ProjectResolver
from flowd.model.facts import Fact
from flowd.model.work import Work
from flowd.sinks.handoff_yaml import HandoffYamlSink
from flowd.sinks.protocol import PermanentFailureError
from flowd.store.database import Database
from flowd.store.works import WorkRows, put_works, work_fact

NOW = time.time()
FIELDS = ["goal", "status", "now", "hypothesis", "outcome", "files", "branch", "timestamp", "session_id"]


@pytest.fixture
def sink(database: Database, settings: LiveSettings) -> HandoffYamlSink:
    return HandoffYamlSink(database, settings)


def state(project: Path, session: str = "s1", **fields: Any) -> Fact:
    known: dict[str, Any] = {"id": "w1", "goal": "Mend the parser", "now": "Reading"} | fields
    known["touched_at"] = known.pop("last_activity_at", NOW)
    return work_fact(Work(session_id=session, project=str(project), **known))


def file_of(project: Path) -> Path:
    return project / ".flow-guardian" / "handoff.yaml"


def handoff(project: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(file_of(project).read_text(encoding="utf-8"))
    return loaded


def edit(project: Path, **fields: Any) -> None:
    """Change the file as a person would."""
    file_of(project).write_text(yaml.safe_dump(handoff(project) | fields, sort_keys=False), encoding="utf-8")


def test_a_new_file_has_all_fields_in_their_order_and_its_folder_ignores_itself(
    sink: HandoffYamlSink, project: Path
) -> None:
    sink.accept(state(project, files=("b.py", "a.py"), branch="main", hypothesis="h", status="blocked"))
    assert list(handoff(project)) == FIELDS
    assert handoff(project) == {
        "goal": "Mend the parser",
        "status": "blocked",
        "now": "Reading",
        "hypothesis": "h",
        "outcome": None,
        "files": ["b.py", "a.py"],
        "branch": "main",
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(NOW)),
        "session_id": "s1",
    }
    assert (file_of(project).parent / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("field", "theirs"),
    [("goal", "My goal"), ("status", "completed"), ("hypothesis", "Mine"), ("outcome", "Done by me")],
)
def test_what_a_person_wrote_stands_while_the_rest_moves(
    sink: HandoffYamlSink, project: Path, field: str, theirs: str
) -> None:
    sink.accept(state(project, hypothesis="h", outcome="o"))
    edit(project, **{field: theirs})
    later = {"goal": "Other", "status": "blocked", "hypothesis": "h2", "outcome": "o2"}
    for step in (1, 2, 3):
        sink.accept(
            state(project, **later, now=f"Step {step}", branch="b", files=("f",), last_activity_at=NOW + step)
        )
    found = handoff(project)
    assert found.pop(field) == theirs
    later.pop(field)
    assert {name: found[name] for name in later} == later
    assert (found["now"], found["branch"], found["files"]) == ("Step 3", "b", ["f"])


def test_a_person_may_change_now_but_the_next_step_replaces_it(sink: HandoffYamlSink, project: Path) -> None:
    sink.accept(state(project))
    edit(project, now="Having lunch")
    sink.accept(state(project, now="Writing", last_activity_at=NOW + 1))
    assert handoff(project)["now"] == "Writing"


def test_what_a_person_emptied_is_filled_again(sink: HandoffYamlSink, project: Path) -> None:
    sink.accept(state(project))
    edit(project, goal=None)
    sink.accept(state(project, goal="New goal", last_activity_at=NOW + 1))
    assert handoff(project)["goal"] == "New goal"


def test_what_was_there_before_flowd_is_a_persons(sink: HandoffYamlSink, project: Path) -> None:
    file_of(project).parent.mkdir()
    file_of(project).write_text("# ours\n\nzeta: 1\ngoal: Theirs\nstatus: blocked\nnow: old\nalpha: [x]\n")
    sink.accept(state(project))
    text = file_of(project).read_text()
    assert text.startswith("# ours\n")
    found = handoff(project)
    theirs = ["zeta", "goal", "status", "now", "alpha"]
    assert [name for name in found if name in theirs] == theirs
    assert (found["zeta"], found["alpha"], found["goal"], found["now"]) == (1, ["x"], "Theirs", "Reading")
    assert not (file_of(project).parent / ".gitignore").exists()


def test_a_restart_between_noting_and_writing_does_not_turn_own_words_into_a_persons(
    database: Database, settings: LiveSettings, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    HandoffYamlSink(database, settings).accept(state(project, goal="First"))
    with monkeypatch.context() as killed:
        killed.setattr("flowd.sinks.handoff_yaml.merge_into_file", lambda *_, **__: 1 / 0)
        for goal in ("Second", "Third", "Fourth"):
            with pytest.raises(ZeroDivisionError):
                HandoffYamlSink(database, settings).accept(
                    state(project, goal=goal, last_activity_at=NOW + 1)
                )
    assert handoff(project)["goal"] == "First"
    HandoffYamlSink(database, settings).accept(state(project, goal="Fifth", last_activity_at=NOW + 2))
    assert handoff(project)["goal"] == "Fifth"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_most_recent_session_wins_in_any_order_of_delivery(
    sink: HandoffYamlSink, project: Path, order: tuple[int, ...]
) -> None:
    for age in order:
        sink.accept(state(project, f"s{age}", goal=f"goal {age}", last_activity_at=NOW - age))
    assert (handoff(project)["session_id"], handoff(project)["goal"]) == ("s0", "goal 0")


def test_the_same_fact_twice_writes_once(sink: HandoffYamlSink, project: Path) -> None:
    sink.accept(state(project))
    before = file_of(project).stat()
    sink.accept(state(project))
    after = file_of(project).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def choose(config: Path, settings: LiveSettings, projects: str) -> None:
    config.write_text(f"handoff_yaml: {{projects: {projects}}}\n")
    settings.reload()


def test_none_writes_nowhere(
    sink: HandoffYamlSink, project: Path, config: Path, settings: LiveSettings
) -> None:
    choose(config, settings, "none")
    sink.accept(state(project))
    assert not file_of(project).parent.exists()


def test_opted_in_writes_only_where_the_folder_is(
    sink: HandoffYamlSink, project: Path, config: Path, settings: LiveSettings
) -> None:
    choose(config, settings, "opted_in")
    sink.accept(state(project))
    assert not file_of(project).parent.exists()
    file_of(project).parent.mkdir()
    sink.accept(state(project))
    assert handoff(project)["goal"] == "Mend the parser"


def test_history_changes_no_file(sink: HandoffYamlSink, project: Path) -> None:
    sink.accept(state(project, last_activity_at=NOW - 31 * 86_400))
    assert not file_of(project).parent.exists()


def test_a_missing_project_writes_nothing(sink: HandoffYamlSink, project: Path) -> None:
    sink.accept(state(project / "gone"))
    assert not (project / "gone").exists()


def test_a_persons_words_in_the_file_end_with_the_work_they_were_about(
    sink: HandoffYamlSink, project: Path
) -> None:
    sink.accept(state(project))
    edit(project, goal="My goal")
    sink.accept(state(project, "s2", id="w2", goal="Write the docs", last_activity_at=NOW + 1))
    assert handoff(project)["goal"] == "Write the docs"


def test_a_link_that_leaves_the_project_is_refused_for_good(
    sink: HandoffYamlSink, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (project / ".flow-guardian").symlink_to(tmp_path / "outside")
    with pytest.raises(PermanentFailureError, match="leads out of the project"):
        sink.accept(state(project))
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_broken_file_is_kept_aside_and_replaced(sink: HandoffYamlSink, project: Path) -> None:
    file_of(project).parent.mkdir()
    file_of(project).write_text("goal: [unclosed\n")
    sink.accept(state(project))
    assert handoff(project)["goal"] == "Mend the parser"
    kept = [path for path in file_of(project).parent.iterdir() if "broken" in path.name]
    assert [path.read_text() for path in kept] == ["goal: [unclosed\n"]


def test_facts_without_a_project_are_not_for_this_sink(sink: HandoffYamlSink) -> None:
    assert sink.key(work_fact(Work(id="w1", project="", session_id="s"))) is None


@pytest.mark.parametrize("cwd", [lambda: str(Path.home()), lambda: "/", lambda: "/tmp", lambda: "/var/tmp"])
def test_home_root_and_temp_roots_are_no_projects(cwd: Callable[[], str]) -> None:
    assert ProjectResolver().resolve(cwd(), cwd()).root == ""


def test_a_worktree_has_its_own_file_and_names_the_repository(tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    (main / ".git" / "worktrees" / "tree").mkdir(parents=True)
    (main / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (main / ".git" / "worktrees" / "tree" / "commondir").write_text("../..\n")
    (main / ".git" / "worktrees" / "tree" / "HEAD").write_text("ref: refs/heads/side\n")
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main / '.git' / 'worktrees' / 'tree'}\n")
    place = ProjectResolver().resolve(str(tree), str(tree))
    assert (place.root, place.repository, place.worktree) == (str(tree), str(main / ".git"), "tree")
    assert ProjectResolver().resolve(str(main), str(main)).repository == place.repository


@hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_whatever_flowd_wrote_it_knows_again_as_its_own(
    database: Database, settings: LiveSettings, project: Path, goal: str
) -> None:
    """Otherwise an odd character would freeze the goal for ever, as if a person had written it."""
    file_of(project).unlink(missing_ok=True)
    HandoffYamlSink(database, settings).accept(state(project, goal=goal))
    HandoffYamlSink(database, settings).accept(state(project, goal="Next goal"))
    assert handoff(project)["goal"] == "Next goal"


def test_a_file_that_shows_a_work_which_is_gone_shows_the_latest_that_is_left(
    sink: HandoffYamlSink, database: Database, project: Path
) -> None:
    left = Work(id="w1", session_id="s1", project=str(project), goal="Mend the parser", touched_at=NOW - 60)
    gone = Work(id="w2", session_id="s2", project=str(project), goal="Add a licence", touched_at=NOW)
    with database.transaction() as connection:
        put_works(connection, WorkRows([left, gone]))
    sink.accept(work_fact(gone))
    sink.accept(work_fact(left))
    assert handoff(project)["goal"] == "Add a licence"
    with database.transaction() as connection:
        put_works(connection, WorkRows(removed=["w2"]))
    sink.accept(work_fact(left))
    assert handoff(project)["goal"] == "Mend the parser"


def test_a_copied_project_goes_on_with_work_of_its_own(sink: HandoffYamlSink, project: Path) -> None:
    """The values in the copy are flowd's, not a person's, who would be waited for."""
    sink.accept(state(project, status="completed", outcome="Mended"))
    copy = project.with_name("copy")
    shutil.copytree(project, copy)
    sink.flush()
    sink.accept(state(copy, "s2", id="w2", goal="Write the lexer", last_activity_at=NOW + 5))
    shown = handoff(copy)
    assert (shown["goal"], shown["status"], shown["outcome"]) == ("Write the lexer", "in_progress", None)


def test_what_a_person_changed_in_a_copy_stands(sink: HandoffYamlSink, project: Path) -> None:
    sink.accept(state(project))
    copy = project.with_name("copy")
    shutil.copytree(project, copy)
    edit(copy, goal="My own goal")
    sink.flush()
    sink.accept(state(copy, "s2", id="w2", goal="Write the lexer", last_activity_at=NOW + 5))
    assert handoff(copy)["goal"] == "My own goal"


def test_two_sessions_at_work_do_not_take_the_file_from_each_other(
    sink: HandoffYamlSink, project: Path
) -> None:
    """It shows the work that a person asked for last, not the one that wrote the last line."""
    told: list[str] = []
    for second in range(12):
        name = "ab"[second % 2]
        asked = {"a": NOW - 90, "b": NOW - 80}[name]
        fields = {"id": f"w-{name}", "goal": f"Work {name}", "asked_at": asked, "now": f"Step {second}"}
        sink.accept(state(project, name, last_activity_at=NOW - 60 + second, **fields))
        told.append(handoff(project)["goal"])
    assert told == ["Work a", *["Work b"] * 11]
    again = {"id": "w-a", "goal": "Work a", "asked_at": NOW - 20}
    sink.accept(state(project, "a", last_activity_at=NOW - 10, **again))
    assert handoff(project)["goal"] == "Work a"


def test_a_work_that_rests_gives_the_file_away(sink: HandoffYamlSink, project: Path) -> None:
    """Its last request was later, but nothing has happened in it for long."""
    late = {"id": "w-b", "goal": "Work b", "asked_at": NOW - 3000}
    sink.accept(state(project, "b", last_activity_at=NOW - 2900, **late))
    early = {"id": "w-a", "goal": "Work a", "asked_at": NOW - 3600}
    sink.accept(state(project, "a", last_activity_at=NOW - 5, **early))
    assert handoff(project)["goal"] == "Work a"
