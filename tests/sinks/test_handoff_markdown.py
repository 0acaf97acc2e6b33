"""Automatic handoffs: written when a session leaves without one, never in the way of a worker's."""

import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from flowd.config.settings import LiveSettings
from flowd.handoff.markdown.directory import directory_name, handoff_files
from flowd.handoff.markdown.document import SIGNAL
from flowd.handoff.markdown.index import ParsedHandoff, index_path, parse_file
from flowd.model.checkpoints import checkpoint_event, checkpoint_fact
from flowd.model.facts import Fact, StateChanged, Trigger, state_fact
from flowd.model.session import SessionState
from flowd.sinks.handoff_markdown import GRACE_S, HandoffIndexSink, HandoffMarkdownSink
from flowd.sinks.protocol import PermanentFailureError
from flowd.store.database import Database
from flowd.store.documents import acknowledging_facts, indexed_fact, open_escalations
from flowd.store.handoff_fields import user_fields_fact
from flowd.store.journal import Journal
from flowd.store.migrations import migrate

NOW = time.time()
SESSION = "0b5e4c1a-0000-4000-8000-000000000001"


class Shop:
    """A project, its handoff directory, and a sink that can be restarted."""

    def __init__(self, root: Path, database: Database) -> None:
        self.project = root / "shop"
        self.project.mkdir()
        self.directory = root / "claude" / "handoffs" / directory_name(str(self.project))
        self.config = root / "config.yaml"
        self.config.write_text(f"claude: {{config_dir: {root / 'claude'}}}\n")
        self.database = database
        self.journal = Journal(database)
        self.state = SessionState(
            session_id=SESSION,
            project=str(self.project),
            goal="Ship login",
            now="Writing cookies",
            next=("Test the cookies",),
            last_activity_at=NOW - 7200,
        )
        self.restart()

    def restart(self) -> None:
        self.sink = HandoffMarkdownSink(self.database, LiveSettings(self.config))

    def works(self, at: float, **fields: object) -> None:
        self.state = msgspec.structs.replace(self.state, last_activity_at=at, **fields)

    def checkpoint(self, trigger: Trigger = "idle", state: SessionState | None = None) -> Fact:
        state = state or self.state
        fact = checkpoint_fact(state, trigger, checkpoint_event(trigger, state), "")
        if self.sink.key(fact) is not None:
            self.sink.accept(fact)
        return fact

    def worker_writes(
        self, at: float, name: str = "0b5e4c1a.md", session: str = SESSION, more: str = ""
    ) -> Path:
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.directory / name
        path.write_text(
            f"# Handoff — 2026-03-01\n\nsession_id: {session}\npurpose: Worker's own words\n\n"
            f"## Done\n- Parser\n\n## Next\n- Paint the door\n\n## Gotchas\n- Wet paint\n{more}"
        )
        os.utime(path, (at, at))
        return path

    @property
    def shelf(self) -> list[ParsedHandoff]:
        return [shelved for filed in handoff_files(str(self.directory)) if (shelved := parse_file(filed))]

    @property
    def newest(self) -> ParsedHandoff:
        return self.shelf[0]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    migrate(tmp_path / "core.db")
    database = Database(tmp_path / "core.db")
    yield Shop(tmp_path, database)
    database.close()


def test_a_session_that_leaves_without_a_handoff_gets_one(shop: Shop) -> None:
    shop.checkpoint("precompact")
    (written,) = shop.shelf
    document = written.document
    assert document.title.endswith("(auto)")
    assert (document.session_id, document.purpose, document.trigger) == (SESSION, "Ship login", "precompact")
    assert document.project == str(shop.project)
    assert document.open_items == ["Test the cookies"]
    assert written.file.modified_at == pytest.approx(NOW - 7200, abs=0.01)


@pytest.mark.parametrize("trigger", ["stop", "manual"])
def test_the_end_of_a_turn_and_a_persons_save_leave_none(shop: Shop, trigger: Trigger) -> None:
    shop.checkpoint(trigger)
    assert shop.shelf == []


def test_a_session_without_a_word_leaves_none(shop: Shop) -> None:
    shop.works(NOW - 100, goal="", now="", next=())
    shop.checkpoint()
    shop.works(NOW - 8 * 86_400, goal="Long ago")
    shop.checkpoint()
    assert shop.shelf == []


def test_it_can_be_turned_off(shop: Shop) -> None:
    shop.config.write_text(shop.config.read_text() + "handoff_markdown: {triggers: []}\n")
    shop.restart()
    shop.checkpoint()
    assert shop.shelf == []


STEPS = ("worker", "activity", "idle", "precompact", "restart")


@pytest.mark.parametrize("order", list(itertools.permutations(STEPS)), ids="-".join)
def test_a_workers_handoff_is_never_shadowed_in_any_order(shop: Shop, order: tuple[str, ...]) -> None:
    """Whoever opens the newest file finds the worker's, or one that says all it says and newer things."""
    clock = NOW - 20_000
    shop.works(clock)
    worker: Path | None = None
    written_at = 0.0
    for step in order:
        clock += GRACE_S * 3
        if step == "worker":
            worker, written_at = shop.worker_writes(clock), clock
        elif step == "activity":
            shop.works(clock, now=f"Active at {clock}")
        elif step == "restart":
            repeat_everything(shop)
        else:
            shop.checkpoint("idle" if step == "idle" else "precompact")
        if worker is not None:
            assert_not_shadowed(shop, worker)
    repeat_everything(shop)
    assert worker is not None
    assert_not_shadowed(shop, worker)
    assert worker.stat().st_mtime == pytest.approx(written_at, abs=0.01)


def repeat_everything(shop: Shop) -> None:
    """Deliver every checkpoint again, as after a crash."""
    shop.restart()
    for trigger in ("precompact", "idle", "session-end"):
        shop.checkpoint(trigger)


def assert_not_shadowed(shop: Shop, worker: Path) -> None:
    newest = shop.newest
    if newest.file.path == str(worker):
        return
    assert newest.document.is_auto
    assert shop.state.last_activity_at > worker.stat().st_mtime + GRACE_S
    said = {
        item.text.removesuffix(" (carried forward)")
        for section in newest.document.sections
        for item in section.items
    }
    assert {"Parser", "Paint the door", "Wet paint"} <= said
    assert "Worker's own words" in worker.read_text()


def test_the_goodbye_after_a_handoff_is_no_new_work(shop: Shop) -> None:
    worker = shop.worker_writes(NOW - 4000)
    shop.works(NOW - 4000 + GRACE_S - 1)
    shop.checkpoint()
    assert shop.newest.file.path == str(worker)
    shop.works(NOW - 4000 + GRACE_S + 60)
    shop.checkpoint()
    assert shop.newest.document.is_auto


def test_an_older_session_going_idle_stays_below_anothers_handoff(shop: Shop) -> None:
    worker = shop.worker_writes(NOW - 3000, "other.md", session="another")
    shop.works(NOW - 5000)
    shop.checkpoint()
    assert [shelved.file.path for shelved in shop.shelf] == [str(worker)]


def test_a_checkpoint_delivered_late_does_not_look_new(shop: Shop) -> None:
    fact = checkpoint_fact(shop.state, "idle", "late", "")
    worker = shop.worker_writes(NOW - 100, "other.md", session="another")
    shop.sink.accept(fact)
    assert shop.newest.file.path == str(worker)


def test_delivering_twice_changes_nothing(shop: Shop) -> None:
    shop.checkpoint()
    before = (shop.newest.file, Path(shop.newest.file.path).stat().st_ino)
    shop.restart()
    shop.checkpoint()
    assert (shop.newest.file, Path(shop.newest.file.path).stat().st_ino) == before


def test_a_session_keeps_one_automatic_file_that_grows_with_it(shop: Shop) -> None:
    shop.worker_writes(NOW - 9000, "other.md", session="another")
    for hour in (2, 1):
        shop.works(NOW - hour * 3600, now=f"{hour} hours ago")
        shop.checkpoint()
    automatic, _ = shop.shelf
    assert "Last worked on: 1 hours ago" in [item.text for item in automatic.document.items("done")]
    assert automatic.document.open_items == ["Test the cookies", "Paint the door (carried forward)"]


def test_what_is_unfinished_goes_from_session_to_session(shop: Shop) -> None:
    shop.worker_writes(NOW - 90_000, "old.md", session="another")
    shop.checkpoint()
    shop.works(NOW - 60, session_id="11111111-2222", next=())
    shop.checkpoint()
    assert shop.newest.document.open_items == [
        "Test the cookies (carried forward)",
        "Paint the door (carried forward)",
    ]


def test_an_automatic_file_that_someone_edited_is_kept(shop: Shop) -> None:
    shop.checkpoint()
    edited = Path(shop.newest.file.path)
    edited.write_text(edited.read_text() + "\n- A reviewer's remark\n")
    os.utime(edited, (NOW - 6000, NOW - 6000))
    shop.works(NOW - 60)
    shop.checkpoint()
    assert "A reviewer's remark" in edited.read_text()
    assert Path(shop.newest.file.path).name == "0b5e4c1a-auto-2.md"


def test_an_escalation_stays_the_newest_until_it_is_acknowledged(shop: Shop) -> None:
    worker = shop.worker_writes(NOW - 9000, more=f"\n{SIGNAL}: look at the keys\n")
    shop.journal.append(indexed_fact(shop.newest, str(shop.project)))
    shop.checkpoint()
    assert shop.newest.file.path == str(worker)
    shop.journal.append(*acknowledging_facts(shop.journal, open_escalations(shop.journal)))
    shop.checkpoint()
    assert shop.newest.document.is_auto
    assert shop.newest.document.escalations == ()


def test_a_persons_words_come_first(shop: Shop) -> None:
    said: dict[str, str | list[str]] = {"goal": "Open on Monday", "outcome": "Shelves are up"}
    shop.journal.append(user_fields_fact(shop.journal, str(shop.project), said, SESSION))
    shop.checkpoint()
    assert shop.newest.document.purpose == "Open on Monday"
    assert shop.newest.document.items("done")[0].text == "Shelves are up"


def test_a_project_of_the_same_encoded_name_is_told_apart(shop: Shop) -> None:
    """``a-b`` and ``a_b`` share a directory; neither takes the other's work for its own."""
    for name in ("a-b", "a_b"):
        place = shop.project / name
        place.mkdir()
        state = msgspec.structs.replace(
            shop.state, session_id=name, project=str(place), next=(f"Work of {name}",)
        )
        shop.journal.append(state_fact(state))
        shop.checkpoint(state=state)
    directory = shop.directory.parent / directory_name(str(shop.project / "a_b"))
    shelf = [shelved for filed in handoff_files(str(directory)) if (shelved := parse_file(filed))]
    assert sorted(shelved.document.open_items[0] for shelved in shelf) == ["Work of a-b", "Work of a_b"]
    assert [len(shelved.document.open_items) for shelved in shelf] == [1, 1]


def test_a_path_too_long_for_a_name_is_put_aside_with_a_clear_word(shop: Shop) -> None:
    place = shop.project / ("d" * 120) / ("e" * 120)
    place.mkdir(parents=True)
    with pytest.raises(PermanentFailureError, match="255 are possible"):
        shop.checkpoint(state=msgspec.structs.replace(shop.state, project=str(place)))


def test_the_index_follows_what_lies_there(shop: Shop) -> None:
    shop.checkpoint()
    fact = indexed_fact(shop.newest, str(shop.project))
    sink = HandoffIndexSink()
    assert sink.key(fact) == str(shop.directory)
    sink.accept(fact)
    assert "| idle | Ship login | 0b5e4c1a-auto.md |" in Path(index_path(str(shop.directory))).read_text()
    assert sink.key(Fact("k", "s", "p", 0.0, StateChanged(shop.state))) is None
