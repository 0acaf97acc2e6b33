"""``flow handoff`` and ``flow escalate`` as a person or an agent types them, without a daemon."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from flowd.actions.context import Context
from flowd.cli.flow import main
from flowd.handoff.markdown.directory import directory_name, encode_path_v1
from flowd.handoff.markdown.document import SIGNAL
from flowd.handoff.markdown.parse import read_document
from flowd.model.facts import state_fact
from flowd.model.session import SessionState
from flowd.store.journal import Journal
from tests.support.commands import FlowCommand
from tests.support.git import git

SESSION = "0b5e4c1a-0000-4000-8000-000000000001"
DAY_S = 86_400.0


class Shop(FlowCommand):
    """A git project, its handoff directory, and ``flow`` run inside it."""

    def __init__(self, root: Path, claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.handoffs = claude / "handoffs"
        self.directory = self.handoffs / directory_name(str(root))
        super().__init__(capsys)
        git(self.root, "init", "-q", "-b", "main")

    def commit(self, subject: str) -> None:
        (self.root / "file").write_text(subject)
        git(self.root, "add", "file")
        git(self.root, "commit", "-qm", subject)

    def worker_writes(
        self, name: str = "w.md", *, age_s: float = 60.0, more: str = "", branch: str = "main"
    ) -> Path:
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.directory / name
        path.write_text(
            f"# Handoff — 2026-03-01\n\nsession_id: another\npurpose: Ship login\nbranch: {branch}\n\n"
            f"## Done\n- Parser\n\n## Next\n- Cookies\n- Logout\n\n## Gotchas\n- Wet paint\n{more}"
        )
        moment = time.time() - age_s
        os.utime(path, (moment, moment))
        return path

    def knows(self, **fields: Any) -> None:
        state = SessionState(
            session_id=SESSION, project=str(self.root), last_activity_at=time.time() - 5, **fields
        )
        Journal(Context().database).append(state_fact(state))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shop:
    root = tmp_path / "shop"
    root.mkdir()
    monkeypatch.setenv("FLOWD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    monkeypatch.chdir(root)
    return Shop(root, tmp_path / "claude", capsys)


def test_create_writes_the_contracts_file_from_all_that_is_known(shop: Shop) -> None:
    before = shop.worker_writes()
    kept = before.stat().st_mtime_ns
    shop.commit("Add the till")
    shop.knows(
        goal="Open the shop", now="Painting", next=("Hang the sign",), learnings=("Paint is wet",),
        blockers=("No ladder",), decisions=("Blue it is",), started_at=time.time() - 3600,
    )  # fmt: skip
    shop.flow("save", "Door first", "--outcome", "Shelves are up")
    path = shop.answer("handoff", "create", "--next", "Buy a bell", "--done", "Swept")["path"]
    text = Path(path).read_text()
    lines = text.splitlines()
    assert lines[0] == f"# Handoff — {time.strftime('%Y-%m-%d')}"
    assert lines[2:4] == [f"session_id: {SESSION}", "purpose: Open the shop"]
    assert lines[4].startswith("source: flowd (manual) on main@")
    assert [line for line in lines if line.startswith("## ")] == [
        "## Done", "## Next", "## Gotchas", "## Risks", "## Reflection"
    ]  # fmt: skip
    document = read_document(Path(path).read_text())
    done = [item.text for item in document.items("done")]
    assert done[:4] == ["Swept", "Shelves are up", "Committed: Add the till", "Last worked on: Door first"]
    assert document.open_items == [
        "Buy a bell", "Hang the sign", "Cookies (carried forward)", "Logout (carried forward)"
    ]  # fmt: skip
    assert "- Blocked: No ladder" in text
    assert "- Decided: Blue it is" in text
    assert Path(path).name == "0b5e4c1a.md"
    assert before.stat().st_mtime_ns == kept
    assert sorted(os.listdir(shop.directory)) == ["0b5e4c1a.md", "w.md"]


def test_create_works_where_nothing_is_known(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    first = Path(shop.answer("handoff", "create", "--purpose", "a: b", "--trigger", "pre-finish")["path"])
    second = Path(shop.answer("handoff", "create", "--done", "x")["path"])
    document = read_document(Path(first).read_text())
    assert (document.purpose, document.trigger) == ("a: b", "pre-finish")
    assert first != second
    assert first.exists()


def test_a_trigger_that_is_none_is_wrong_usage(shop: Shop) -> None:
    assert main(["handoff", "create", "--trigger", "whim"]) == 2


def test_a_path_too_long_for_a_name_is_said_and_nothing_is_lost(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = shop.root.parent / ("d" * 120) / ("e" * 120)
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert "255 are possible" in shop.flow("handoff", "create", "--done", "Shelves", code=1)
    assert Journal(Context().database).facts_of_session(SESSION, "checkpoint")


def test_resume_says_what_is_open_and_what_has_changed(shop: Shop) -> None:
    shop.commit("First")
    shop.worker_writes(age_s=60, branch="feat/login")
    shop.commit("Second")
    (shop.root / "dirty.txt").write_text("x")
    view = shop.answer("handoff", "resume")
    assert view["warnings"] == ["Branch mismatch: was feat/login, now main"]
    assert view["todos"] == ["Cookies", "Logout"]
    assert view["progress_percent"] is None
    assert view["dirty_files"] == ["dirty.txt"]
    assert view["drift"] == ["2 commits since"]
    page = shop.flow("handoff", "resume")
    assert page.splitlines()[0] == "! Branch mismatch: was feat/login, now main"
    assert "- [ ] Cookies\n- [ ] Logout\n" in page
    assert len(Journal(Context().database).facts_of_session(SESSION, "handoff-resumed")) == 2


def test_what_should_stop_one_is_said_first(shop: Shop) -> None:
    shop.worker_writes(age_s=8 * DAY_S, more=f"\n{SIGNAL}: keys in the log\n", branch="old")
    shop.commit("x")
    first, second, third, *_ = shop.flow("handoff", "resume").splitlines()
    assert first == "! Needs a person: keys in the log"
    assert second == "! Stale: written 8 days ago"
    assert third.startswith("! Branch mismatch")


@pytest.mark.parametrize("how", ["name", "session", "path", "track"])
def test_a_handoff_is_found_by_whatever_names_it(shop: Shop, how: str) -> None:
    path = shop.worker_writes("old.md", age_s=9000)
    shop.worker_writes("new.md", age_s=10).write_text("# Handoff\n\nsession_id: newer\n")
    if how == "track":
        track = shop.root / "conductor" / "handoffs" / "login_2026"
        track.mkdir(parents=True)
        path = path.rename(track / "2026-01-01_manual.md")
        (track / "index.md").write_text("| a |\n")
    word = {"name": "old", "session": "anoth", "path": str(path), "track": "login_2026"}[how]
    assert shop.answer("handoff", "resume", word)["path"] == str(path)


@pytest.mark.parametrize("word", ["nothing", "../..", "/etc"])
def test_a_word_that_names_nothing_is_said(shop: Shop, word: str) -> None:
    assert "no handoff matches" in shop.flow("handoff", "resume", word, code=1)


def test_without_any_handoff_resume_says_how_to_make_one(shop: Shop) -> None:
    assert "flow handoff create" in shop.flow("handoff", "resume", code=1)
    assert "no handoff" in shop.flow("handoff", "log")


def test_without_a_word_the_first_message_resumes_and_the_next_creates(shop: Shop) -> None:
    shop.worker_writes()
    shop.knows(title="Handoff", goal="Handoff")
    assert "Open items" in shop.flow("handoff")
    assert "handoff written to" in shop.flow("handoff")


@pytest.mark.parametrize("case", ["asked before", "stale", "none", "its own"])
def test_without_a_word_a_handoff_is_made_unless_there_is_one_to_take_up(shop: Shop, case: str) -> None:
    if case == "asked before":
        shop.worker_writes()
        shop.knows(goal="Paint the door", title="Painting")
    elif case == "none":
        shop.knows(goal="Paint the door", title="Painting")
    elif case == "stale":
        shop.worker_writes(age_s=7 * DAY_S + 60)
    elif case == "its own":
        path = shop.worker_writes()
        path.write_text(path.read_text().replace("another", SESSION))
    assert "handoff written to" in shop.flow("handoff")


def test_outside_of_a_session_the_last_handoff_is_taken_up(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    shop.worker_writes()
    assert shop.answer("handoff")["todos"] == ["Cookies", "Logout"]


def test_an_escalation_is_added_shown_and_acknowledged(shop: Shop) -> None:
    path = shop.worker_writes()
    shop.flow("escalate", "the migration\ndrops a table")
    assert path.read_text().endswith(f"\n{SIGNAL}: the migration drops a table\n")
    assert path.read_text().startswith("# Handoff — 2026-03-01\n\nsession_id: another\n")
    assert "the migration drops a table" in shop.flow("show")
    assert "HUMAN ATTENTION ASKED FOR: the migration drops a table" in shop.flow("inject")
    assert "needs a person" in shop.flow("handoff", "log")
    (seen,) = shop.answer("handoff", "ack")["acknowledged"]
    assert seen["reason"] == "the migration drops a table"
    assert "drops a table" not in shop.flow("show") + shop.flow("inject") + shop.flow("handoff", "log")
    assert "no open escalations" in shop.flow("handoff", "ack")
    assert SIGNAL in path.read_text()
    assert shop.answer("handoff", "resume")["warnings"] == []
    shop.flow("escalate", "the migration drops a table")
    assert len(shop.answer("handoff", "ack", "w.md")["acknowledged"]) == 1


def test_escalating_without_a_handoff_makes_one_and_hides_secrets(shop: Shop) -> None:
    token = "ghp" + "_" + "a1B2" * 9
    shop.flow("escalate", f"revoke {token}")
    (name,) = os.listdir(shop.directory)
    text = (shop.directory / name).read_text()
    assert f"{SIGNAL}: revoke [redacted:github-token]" in text
    assert "needs a reason" in shop.flow("escalate", " ", code=1)
    assert "no open escalation in" in shop.flow("handoff", "ack", "other.md", code=1)


def test_an_escalation_of_another_project_is_acknowledged_only_when_meant(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.worker_writes(more=f"\n{SIGNAL}: keys\n")
    shop.flow("show")
    shop.flow("handoff", "log")
    garage = shop.root.parent / "garage"
    garage.mkdir()
    monkeypatch.chdir(garage)
    assert shop.answer("handoff", "ack")["acknowledged"] == []
    assert len(shop.answer("handoff", "ack", "--all")["acknowledged"]) == 1


def test_the_log_lists_what_there_is_and_makes_the_index_anew(shop: Shop) -> None:
    shop.worker_writes("one.md", age_s=500)
    shop.flow("handoff", "create", "--purpose", "Second", "--trigger", "epic-end")
    answer = shop.answer("handoff", "log")
    assert [(row["trigger"], row["purpose"]) for row in answer["handoffs"]] == [
        ("epic-end", "Second"),
        ("session", "Ship login"),
    ]
    Path(answer["index"]).unlink()
    page = shop.flow("handoff", "log")
    assert "epic-end" in page
    assert "| epic-end | Second | 0b5e4c1a.md |" in Path(answer["index"]).read_text()


def test_migrate_first_shows_then_moves_and_keeps_whose_it_was(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``a_b`` and ``a-b`` had directories of their own; in one they are still told apart."""
    for name in ("a_b", "a-b"):
        place = shop.root.parent / name
        place.mkdir()
        old = shop.handoffs / encode_path_v1(str(place))
        old.mkdir(parents=True)
        (old / "s.md").write_text(f"# Handoff\n\npurpose: Work of {name}\n")
    old = shop.handoffs / encode_path_v1(str(shop.root.parent / "a_b"))
    os.utime(old / "s.md", (1000.0, 1000.0))
    monkeypatch.chdir(shop.root.parent / "a_b")
    assert shop.answer("handoff", "log")["handoffs"][-1]["purpose"] == "Work of a_b"
    plan = shop.answer("handoff", "migrate")
    moves = [move for move in plan["moves"] if move["source"] == str(old)]
    assert (len(moves), moves[0]["merges"], plan["applied"]) == (1, True, False)
    assert old.is_dir()
    assert "moved" in shop.flow("handoff", "migrate", "--apply")
    assert not old.exists()
    rows = shop.answer("handoff", "log")["handoffs"]
    assert [row["at"] for row in rows if row["purpose"] == "Work of a_b"] == ["1970-01-01T00:16:40.000Z"]
    monkeypatch.chdir(shop.root.parent / "a-b")
    assert [row["purpose"] for row in shop.answer("handoff", "log")["handoffs"]] == ["Work of a-b"]
    assert "nothing to migrate" in shop.flow("handoff", "migrate")


def test_where_a_file_does_not_say_whose_it_is_the_person_is_told(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = shop.root.parent / "my_shop"
    here = shop.root.parent / "my-shop"
    here.mkdir()
    state = SessionState(session_id="x", project=str(other), last_activity_at=1.0)
    Journal(Context().database).append(state_fact(state))
    directory = shop.handoffs / directory_name(str(here))
    directory.mkdir(parents=True)
    (directory / "s.md").write_text("# Handoff\n\n## Next\n- Something\n")
    monkeypatch.chdir(here)
    (warning,) = shop.answer("handoff", "resume")["warnings"]
    assert str(other) in warning
    assert f"it may belong to {other}" in shop.flow("handoff", "log")


def test_from_a_symlinked_directory_the_physical_one_is_meant(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop.root.parent / "link").symlink_to(shop.root)
    monkeypatch.chdir(shop.root.parent / "link")
    assert Path(shop.answer("handoff", "create", "--done", "x")["path"]).parent == shop.directory


def test_an_escalation_that_a_worker_gives_is_written_as_given(shop: Shop) -> None:
    """The contract's consumers grep for these words; whoever states a risk with them means them."""
    path = Path(shop.answer("handoff", "create", "--risk", f"{SIGNAL}: drops a table")["path"])
    assert f"- {SIGNAL}: drops a table\n" in path.read_text()
    assert "drops a table" in shop.flow("show")


def test_an_escalation_that_a_session_only_mentioned_raises_none(shop: Shop) -> None:
    shop.knows(goal="Explain the contract", next=(f"Document {SIGNAL} in the README",))
    path = Path(shop.answer("handoff", "create", "--done", "Read it")["path"])
    assert SIGNAL not in path.read_text()
    assert read_document(path.read_text()).escalations == ()


def test_a_second_create_of_a_session_adds_to_its_first(shop: Shop) -> None:
    words = ("--purpose", "Open the shop", "--done", "Shelves", "--gotcha", "Paint is wet")
    first = shop.answer("handoff", "create", *words)["path"]
    second = shop.answer("handoff", "create", "--next", "Hang the sign", "--done", "Shelves")["path"]
    assert second == first
    assert os.listdir(shop.directory) == [Path(first).name]
    document = read_document(Path(first).read_text())
    assert document.purpose == "Open the shop"
    assert [item.text for item in document.items("done")] == ["Shelves"]
    assert [item.text for item in document.items("gotchas")] == ["Paint is wet"]
    assert document.open_items == ["Hang the sign"]


def test_a_second_create_keeps_what_somebody_wrote_between(shop: Shop) -> None:
    first = Path(shop.answer("handoff", "create", "--done", "Shelves")["path"])
    first.write_text(first.read_text() + f"\n## Notes of a reviewer\n\n{SIGNAL}: check the till\n")
    shop.flow("handoff", "create", "--next", "Hang the sign")
    text = first.read_text()
    assert f"## Notes of a reviewer\n\n{SIGNAL}: check the till\n" in text
    assert "- Hang the sign\n" in text


def test_a_second_create_after_a_handoff_of_another_session_is_a_new_one(shop: Shop) -> None:
    """What is newest must stay newest: an older file is not written again below another one's."""
    first = Path(shop.answer("handoff", "create", "--done", "Shelves")["path"])
    os.utime(first, (time.time() - 600,) * 2)
    shop.worker_writes(age_s=60)
    second = Path(shop.answer("handoff", "create", "--next", "Hang the sign")["path"])
    assert second != first
    assert [item.text for item in read_document(second.read_text()).items("done")] == ["Shelves"]


def test_handoffs_of_a_person_have_ids_of_their_own(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    paths = [shop.answer("handoff", "create", "--purpose", word)["path"] for word in ("One", "Two")]
    ids = {read_document(Path(path).read_text()).session_id for path in paths}
    assert len(set(paths)) == len(ids) == 2


def test_nothing_to_hand_over_makes_no_file(shop: Shop) -> None:
    """An empty handoff would become the newest and hide the last one that says something."""
    printed = shop.flow("handoff", "create", code=1)
    assert "nothing to hand over" in printed
    assert "--done" in printed
    assert not shop.directory.exists()


def test_in_a_subdirectory_the_contracts_directory_is_that_of_the_working_directory(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A consumer there looks below the name of `pwd -P`, and finds it."""
    inside = shop.root / "packages" / "till"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    path = Path(shop.answer("handoff", "create", "--done", "Shelves")["path"])
    assert path.parent == shop.handoffs / directory_name(str(inside))
    assert shop.answer("handoff", "resume")["path"] == str(path)


def test_a_newer_handoff_does_not_hide_an_open_escalation(shop: Shop) -> None:
    shop.worker_writes("old.md", age_s=600, more=f"\n{SIGNAL}: keys in the log\n")
    shop.worker_writes("new.md", age_s=60)
    warnings = shop.answer("handoff", "resume")["warnings"]
    assert warnings == [f"Needs a person: keys in the log ({shop.directory / 'old.md'})"]


def test_an_escalation_ends_with_its_file(shop: Shop) -> None:
    path = shop.worker_writes(more=f"\n{SIGNAL}: keys in the log\n")
    assert "keys in the log" in shop.flow("handoff", "log")
    path.unlink()
    assert "keys in the log" not in shop.flow("show") + shop.flow("inject")
    assert shop.answer("handoff", "ack")["acknowledged"] == []


def test_show_names_a_handoff_document_that_is_all_there_is(shop: Shop) -> None:
    shop.worker_writes()
    shop.flow("handoff", "log")
    printed = shop.flow("show")
    assert "no handoff yet" not in printed
    assert str(shop.directory / "w.md") in printed
