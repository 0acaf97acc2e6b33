"""The track sink and its workflow: ten steps in order, each failure reported, nothing done twice."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from flowd.config.settings import LiveSettings, Settings
from flowd.handoff.track.tracks import Track, choose_track
from flowd.model.facts import Checkpointed, Fact
from flowd.sinks.beads.sink import BeadsSink
from flowd.sinks.protocol import RetryLaterError
from flowd.sinks.track.create import Creation, CreationResult
from flowd.sinks.track.delivery import DeferDelivery, DeliverNow
from flowd.sinks.track.resume import resume_track
from flowd.sinks.track.sink import TrackSink
from flowd.store.database import Database
from flowd.store.handoff_fields import binding_fact
from flowd.store.journal import Journal
from flowd.system.errors import FlowdError
from tests.support.beads_project import BeadsProject
from tests.support.stand_ins.agent_mail import running_server
from tests.support.track_project import TrackProject

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
STEPS = [
    *("context", "parallel workers", "metadata", "secrets", "Agent Mail", "Beads"),
    *("markdown", "metadata.json", "index.md", ".last_activity"),
]


@pytest.fixture
def shop(tmp_path: Path) -> TrackProject:
    """A project with one track."""
    root = tmp_path / "project"
    root.mkdir()
    return TrackProject(root).make()


@pytest.fixture
def sink(database: Database, settings: LiveSettings) -> TrackSink:
    """The sink as the daemon makes it."""
    return TrackSink(database, settings)


def tell(sink: TrackSink, fact: Fact) -> None:
    """Deliver *fact* twice, as a crash would."""
    if sink.key(fact) is not None:
        sink.accept(fact)
        sink.accept(fact)


def create(shop: TrackProject, fact: Fact, settings: Settings) -> CreationResult:
    """Run the workflow as a command does."""
    assert isinstance(fact.body, Checkpointed)
    return Creation(str(shop.root), fact.body, fact.at, settings, DeliverNow(settings)).run()


def test_a_tracks_whole_life(shop: TrackProject, sink: TrackSink, settings: LiveSettings) -> None:
    """Design, epics, idle, a new session, finish: history, index and progress are right after each."""
    expected: list[tuple[int, str, str | None]] = []

    def happens(trigger: str, epic: str, percent: int) -> None:
        tell(sink, shop.checkpoint(trigger, epic, last_activity_at=time.time()))  # type: ignore[arg-type]
        expected.append((len(expected) + 1, trigger, epic or None))
        section = shop.metadata["handoff"]
        assert shop.history == expected
        assert len(shop.files) == len(expected)
        assert (section["status"], section["progress_percent"]) == ("handed_off", percent)

    happens("design-end", "", 0)
    happens("epic-start", "E1", 0)
    shop.plan("xx~!")
    happens("epic-end", "E1", 50)
    happens("idle", "", 50)
    resumed = resume_track(choose_track(str(shop.root)), settings.current)
    assert shop.metadata["handoff"]["status"] == "active"
    assert resumed.progress.percent == 50
    assert resumed.handoff is not None
    assert resumed.handoff.next_steps[0] == "Rotate the keys"
    happens("epic-start", "E2", 50)
    shop.plan("xxxx")
    happens("epic-end", "E2", 100)
    happens("pre-finish", "", 100)
    assert shop.metadata["workflow"] == {"tdd": True}
    assert list(shop.metadata) == ["title", "status", "workflow", "handoff"]


def test_the_steps_come_in_their_order(shop: TrackProject, settings: LiveSettings) -> None:
    """All ten are told."""
    created = create(shop, shop.checkpoint("manual"), settings.current)
    assert [step.name for step in created.steps] == STEPS
    assert created.failures == []
    assert (shop.root / created.path).is_file()
    assert (shop.root / "conductor" / ".last_activity").exists()


def test_a_broken_metadata_json_stops_nothing_else(shop: TrackProject, settings: LiveSettings) -> None:
    """The failure is reported, the markdown and the index are written, the file is left alone."""
    (shop.folder / "metadata.json").write_text("{")
    bound = shop.checkpoint("manual")
    assert isinstance(bound.body, Checkpointed)
    body = msgspec.structs.replace(bound.body, track=shop.track)
    created = Creation(str(shop.root), body, bound.at, settings.current, DeferDelivery()).run()
    assert [step.name for step in created.failures] == ["metadata", "metadata.json"]
    assert len(shop.files) == 1
    assert (shop.folder / "metadata.json").read_text() == "{"


def test_an_index_that_cannot_be_written_is_reported(shop: TrackProject, settings: LiveSettings) -> None:
    """History has the handoff all the same."""
    shop.handoffs.mkdir(parents=True)
    (shop.handoffs / "index.md").mkdir()
    created = create(shop, shop.checkpoint("manual"), settings.current)
    assert [step.name for step in created.failures] == ["index.md"]
    assert shop.history == [(1, "manual", None)]


def test_no_secret_reaches_any_file(shop: TrackProject, settings: LiveSettings) -> None:
    """Neither one that flowd knows nor one of the project's own pattern."""
    (shop.root / "conductor" / "workflow.md").write_text("handoff:\n  secrets_patterns: ['ACME-[0-9]{6}']\n")
    fact = shop.checkpoint("manual", goal=f"Use {SECRET}", next=("Send ACME-123456",), learnings=(SECRET,))
    created = create(shop, fact, settings.current)
    assert {step.name: step.said for step in created.steps}["secrets"] == "3 hidden"
    for folder, _, names in os.walk(shop.root):
        for name in names:
            text = Path(folder, name).read_text()
            assert SECRET not in text
            assert "ACME-123456" not in text or name == "workflow.md"


def test_every_handoff_saves_its_context_in_beads(
    beads: BeadsProject, config: Path, settings: LiveSettings
) -> None:
    """The note of the track's epic tells progress, next and the file; bd says what is closed."""
    config.write_text(f"beads: {{program: {beads.program}}}\n")
    settings.reload()
    shop = TrackProject(beads.root).make(beads={"epicId": "t-1"})
    beads.put("t-1", status="in_progress", notes="a line of somebody else")
    created = create(shop, shop.checkpoint("epic-end", "E1"), settings.current)
    assert created.failures == []
    notes = beads.notes("t-1")
    assert notes.startswith("a line of somebody else\n")
    assert "KEY DECISIONS: RS256" in notes
    assert "NEXT: Rotate the keys" in notes
    assert f"HANDOFF: Section 1 saved at {created.path}" in notes


def test_bd_that_fails_stops_no_file(beads: BeadsProject, config: Path, settings: LiveSettings) -> None:
    """An unknown epic is said; the rest is done."""
    config.write_text(f"beads: {{program: {beads.program}}}\n")
    settings.reload()
    shop = TrackProject(beads.root).make(beads_epic="t-404")
    beads.put("t-1")
    created = create(shop, shop.checkpoint("epic-end", "E1"), settings.current)
    assert [step.name for step in created.failures] == ["Beads"]
    assert len(shop.files) == 1


def test_workers_are_seen_before_a_handoff(
    shop: TrackProject, sink: TrackSink, config: Path, settings: LiveSettings
) -> None:
    """The setting decides: wait until the deadline, include their state, or cancel."""
    shop.workers("BlueLake", "RedFox")
    config.write_text("conductor: {parallel: wait}\n")
    settings.reload()
    with pytest.raises(RetryLaterError, match="BlueLake, RedFox"):
        tell(sink, shop.checkpoint("epic-end", "E1"))
    config.write_text("conductor: {parallel: cancel}\n")
    settings.reload()
    tell(sink, shop.checkpoint("epic-end", "E1"))
    assert shop.history == []
    config.write_text("conductor: {parallel: wait, parallel_wait_s: 0}\n")
    settings.reload()
    tell(sink, shop.checkpoint("epic-end", "E1"))
    (name,) = shop.files
    assert "- Worker: BlueLake running" in (shop.handoffs / name).read_text()


def test_triggers_can_be_turned_off(shop: TrackProject, sink: TrackSink) -> None:
    """Not design-end and pre-finish."""
    (shop.root / "conductor" / "workflow.md").write_text(
        "handoff:\n  idle_threshold_minutes: 0\n  auto_triggers: {epic-end: false, pre-finish: false}\n"
    )
    for trigger in ("epic-end", "idle", "pre-finish"):
        tell(sink, shop.checkpoint(trigger, "E1"))
    assert shop.history == [(1, "pre-finish", "E1")]


def test_an_epic_is_closed_once_however_often_it_is_told(shop: TrackProject, sink: TrackSink) -> None:
    """Unless it was begun again."""
    for trigger in ("epic-end", "epic-end", "epic-start", "epic-end"):
        tell(sink, shop.checkpoint(trigger, "E1"))
    assert [trigger for _, trigger, _ in shop.history] == ["epic-end", "epic-start", "epic-end"]


def test_a_session_that_left_its_handoff_is_not_idle_once_more(shop: TrackProject, sink: TrackSink) -> None:
    """Nothing happened since."""
    tell(sink, shop.checkpoint("pre-finish"))
    tell(sink, shop.checkpoint("idle"))
    assert [trigger for _, trigger, _ in shop.history] == ["pre-finish"]


def test_an_epic_closed_in_beads_export_is_told_at_the_next_checkpoint(
    shop: TrackProject, sink: TrackSink, database: Database
) -> None:
    """Of the track's own epics, since the session began; whatever the checkpoint is."""
    whole = json.loads((shop.folder / "metadata.json").read_text()) | {"beads": {"epicId": "t-1"}}
    (shop.folder / "metadata.json").write_text(json.dumps(whole))
    (shop.root / ".beads").mkdir()
    now = datetime.now(UTC).isoformat()
    issues = [
        {"id": "t-1.1", "issue_type": "epic", "status": "closed", "closed_at": now},
        {"id": "t-1.2", "issue_type": "epic", "status": "closed", "closed_at": "2020-01-01T00:00:00Z"},
        {"id": "t-1.3", "issue_type": "task", "status": "closed", "closed_at": now},
        {"id": "t-2", "issue_type": "epic", "status": "closed", "closed_at": now},
        {"id": "t-9", "issue_type": "epic", "status": "closed", "closed_at": now}
        | {"dependencies": [{"depends_on_id": "t-1", "type": "parent-child"}]},
    ]
    (shop.root / ".beads" / "issues.jsonl").write_text("broken\n" + "\n".join(map(json.dumps, issues)))
    tell(sink, shop.checkpoint("stop"))
    assert shop.history == [(1, "epic-end", "t-1.1"), (2, "epic-end", "t-9")]
    noted = Journal(database).facts_of_session("s1", "checkpoint")
    for fact in noted:
        tell(sink, fact)  # every sink gets them, this one too
    assert [fact.body.epic for fact in noted if isinstance(fact.body, Checkpointed)] == ["t-1.1", "t-9"]
    assert len(shop.files) == 2


def test_a_session_bound_to_a_track_stays_with_it(
    shop: TrackProject, sink: TrackSink, database: Database
) -> None:
    """Another track that was changed later is not meant."""
    other = TrackProject(shop.root, "other_20260302").make()
    os.utime(other.folder / "metadata.json", (time.time() + 60,) * 2)
    Journal(database).append(binding_fact("s1", str(shop.root), shop.track))
    tell(sink, shop.checkpoint("pre-finish"))
    assert len(shop.history) == 1
    assert other.history == []


def test_work_outside_any_track_goes_to_general(tmp_path: Path, sink: TrackSink) -> None:
    """With an index, without a history."""
    (tmp_path / "conductor").mkdir()
    general = TrackProject(tmp_path, "general")
    tell(sink, general.checkpoint("idle"))
    (name,) = general.files
    assert name.endswith("_general_idle.md")
    assert not (tmp_path / "conductor" / "tracks").exists()


def test_a_project_without_conductor_costs_nothing(tmp_path: Path, sink: TrackSink) -> None:
    """The sink does not want to hear of it."""
    root = tmp_path / "bare"
    root.mkdir()
    for trigger in ("epic-end", "idle", "stop", "pre-finish"):
        assert sink.key(TrackProject(root).checkpoint(trigger)) is None
    assert os.listdir(root) == []


def test_a_failure_is_shown_and_tried_again(shop: TrackProject, sink: TrackSink) -> None:
    """What stands in the way goes away: then the same fact is written."""
    shop.handoffs.mkdir(parents=True)
    (shop.handoffs / "index.md").mkdir()
    fact = shop.checkpoint("epic-end", "E1")
    with pytest.raises(FlowdError, match=r"index\.md"):
        sink.accept(fact)
    (shop.handoffs / "index.md").rmdir()
    sink.accept(fact)
    assert len(shop.files) == 1
    assert shop.history == [(1, "epic-end", "E1")]


def test_resuming_tells_progress_by_beads_and_what_has_drifted(
    beads: BeadsProject, config: Path, settings: LiveSettings
) -> None:
    """The issue is what bd shows; a stale handoff and another branch are warned of."""
    config.write_text(f"beads: {{program: {beads.program}}}\n")
    settings.reload()
    shop = TrackProject(beads.root).make(beads={"epicId": "t-1"})
    beads.put("t-1", status="in_progress", notes="what is known")
    body = shop.checkpoint("manual", branch="feat").body
    assert isinstance(body, Checkpointed)
    Creation(str(shop.root), body, time.time() - 8 * 86_400, settings.current, DeferDelivery()).run()
    (shop.root / ".git").mkdir()
    (shop.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    resumed = resume_track(Track(str(shop.root), shop.track), settings.current)
    assert resumed.issue is not None
    assert resumed.issue.notes == "what is known"
    assert resumed.warnings == ("Branch mismatch: was feat, now main", "Stale: written 8 days ago")


def test_the_note_waits_for_the_handoff_that_it_names(
    beads: BeadsProject, sink: TrackSink, config: Path, settings: LiveSettings
) -> None:
    """In the daemon two sinks take one checkpoint; the note must not name the section before."""
    config.write_text(f"beads: {{program: {beads.program}}}\n")
    settings.reload()
    shop = TrackProject(beads.root).make(beads={"epicId": "t-1"})
    beads.put("t-1", status="in_progress")
    notes, fact = BeadsSink(settings), shop.checkpoint("epic-end", "E1")
    with pytest.raises(RetryLaterError):
        notes.accept(fact)
    sink.accept(fact)
    notes.accept(fact)
    (name,) = shop.files
    assert f"HANDOFF: Section 1 saved at conductor/handoffs/{shop.track}/{name}" in beads.notes("t-1")
    late = msgspec.structs.replace(shop.checkpoint("epic-start", "E2"), at=fact.at + 0.5 - 60)
    notes.accept(late)  # a track that is never written holds nobody up for long


def test_a_handoff_is_mailed_and_found_there_first(
    shop: TrackProject, config: Path, settings: LiveSettings
) -> None:
    """The threads of the track and of its last epic are looked at; files are read as well."""
    with running_server() as server:
        config.write_text(f"agent_mail: {{url: '{server.url}', agent: GreenCastle, recipient: RedLake}}\n")
        settings.reload()
        for trigger, epic in (("design-end", ""), ("epic-end", "E1")):
            created = create(shop, shop.checkpoint(trigger, epic), settings.current)  # type: ignore[arg-type]
            assert created.failures == []
            resumed = resume_track(choose_track(str(shop.root)), settings.current)
            assert resumed.mail is not None
            assert resumed.mail.subject.startswith(f"[HANDOFF:{trigger}] {shop.track}")
            assert resumed.handoff is not None
        assert [message["importance"] for message in server.messages] == ["high", "high"]


def test_a_mail_server_that_is_away_stops_nothing(
    shop: TrackProject, config: Path, settings: LiveSettings
) -> None:
    """The step is reported, files are written and read."""
    with running_server() as server:
        url = server.url
    config.write_text(f"agent_mail: {{url: '{url}', agent: GreenCastle, recipient: RedLake}}\n")
    settings.reload()
    created = create(shop, shop.checkpoint("manual"), settings.current)
    assert [step.name for step in created.failures] == ["Agent Mail"]
    assert len(shop.files) == 1
    assert resume_track(choose_track(str(shop.root)), settings.current).handoff is not None


def test_steps_left_open_are_handed_on(shop: TrackProject, settings: LiveSettings) -> None:
    """Where the session names none of its own; ticked ones are done, and what always stands is no step."""
    create(shop, shop.checkpoint("manual", next=("Rotate", "Revoke")), settings.current)
    first = shop.handoffs / shop.files[0]
    first.write_text(first.read_text().replace("1. [ ] Rotate", "1. [x] Rotate"))
    create(shop, shop.checkpoint("manual", next=()), settings.current)
    create(shop, shop.checkpoint("manual", next=("Release",)), settings.current)
    steps = [(shop.handoffs / name).read_text().partition("## Next Steps\n\n")[2] for name in shop.files]
    assert steps[1].startswith("1. [ ] Revoke\n2. [ ] Go on with Epic 1: Tokens\n3. [ ] Check")
    assert steps[2].startswith("1. [ ] Release\n2. [ ] Go on with")
