"""``flow handoff`` in a project with a conductor: create, resume, begin, and the question about workers."""

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flowd.handoff.markdown.directory import directory_name
from tests.support.beads_project import BeadsProject, make_project
from tests.support.commands import FlowCommand
from tests.support.repository import ROOT
from tests.support.track_project import TrackProject

DEADLINE_S = 60.0
FLOW = "import sys; from flowd.cli.flow import main; sys.exit(main(sys.argv[1:]))"
SESSION = "0b5e4c1a-0000-4000-8000-000000000001"


class Shop(FlowCommand):
    """A project with a track and Beads, and ``flow`` run inside it."""

    def __init__(self, beads: BeadsProject, claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.beads = beads
        self.root = beads.root
        (self.root / ".git").mkdir()
        (self.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.track = TrackProject(beads.root).make(beads={"epicId": "t-1"})
        self.contract = claude / "handoffs" / directory_name(str(self.root))
        super().__init__(capsys)
        beads.put("t-1", status="in_progress", notes="Somebody: keys are in the vault")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shop:
    """The project as the working directory, with the stand-in bd on the PATH."""
    beads = make_project(tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("PATH", f"{beads.program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(beads.root)
    return Shop(beads, tmp_path / "claude", capsys)


def test_a_tracks_whole_life_by_commands_leaves_a_note_that_a_stranger_can_resume_from(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design, begin, end, idle, a new session, finish; Beads counts the progress, closed children too."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    for child in range(1, 61):
        shop.beads.put(f"t-1.{child}", status="closed" if child <= 15 else "open")

    def told(section: int, percent: int, next_step: str, sessions: int = 1) -> None:
        notes = shop.beads.notes("t-1")
        assert f"HANDOFF: Section {section} saved at conductor/handoffs/{shop.track.track}/" in notes
        assert shop.track.files[-1] in notes
        assert f"({percent}% of track {shop.track.track})" in notes
        assert next_step in notes
        assert notes.startswith("Somebody: keys are in the vault\n")
        assert notes.count("<!-- /flowd -->") == sessions
        assert shop.track.metadata["handoff"]["progress_percent"] == percent
        assert len(shop.track.history) == section == len(shop.track.files)

    shop.flow("handoff", "create", "--trigger", "design-end", "--next", "Sign tokens")
    told(1, 25, "NEXT: Sign tokens")
    assert shop.answer("handoff", "begin", shop.track.track, "E1")["track"]["progress_percent"] == 25
    told(2, 25, "NEXT: ")
    for child in range(16, 31):
        shop.beads.put(f"t-1.{child}", status="closed")
    shop.flow("handoff", "create", "--trigger", "epic-end", "--epic", "E1", "--next", "Rotate keys")
    told(3, 50, "NEXT: Rotate keys")
    shop.flow("handoff", "create", "--trigger", "idle", "--next", "Rotate keys")
    told(4, 50, "NEXT: Rotate keys")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "another")
    resumed = shop.answer("handoff", "resume")["track"]
    assert (resumed["progress_percent"], resumed["handoff"]["todos"][0]) == (50, "Rotate keys")
    assert "NEXT: Rotate keys" in resumed["beads"]["notes"]
    assert shop.track.metadata["handoff"]["status"] == "active"
    shop.flow("handoff", "create", "--trigger", "pre-finish", "--done", "All of it", "--next", "Release")
    told(5, 50, "NEXT: Release", sessions=2)
    assert [trigger for _, trigger, _ in shop.track.history] == [
        *("design-end", "epic-start", "epic-end", "idle", "pre-finish")
    ]


def test_create_writes_the_track_and_the_contract(shop: Shop) -> None:
    """Both places tell the same, a person's words first."""
    answer = shop.answer(
        "handoff",
        "create",
        "--trigger",
        "epic-end",
        "--epic",
        "E1",
        "--purpose",
        "Tokens",
        "--next",
        "Rotate",
    )
    assert Path(answer["path"]).parent == shop.contract
    assert shop.track.history == [(1, "epic-end", "E1")]
    (name,) = shop.track.files
    assert answer["track"]["path"] == f"conductor/handoffs/{shop.track.track}/{name}"
    text = (shop.track.handoffs / name).read_text()
    assert "- Tokens\n" in text
    assert "1. [ ] Rotate\n" in text
    assert "author: human\n" in text


def test_one_command_resumes_in_a_new_session_and_else_creates(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Criterion 1: ``flow handoff`` alone chooses."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "first")
    assert "handoff written to" in shop.flow("handoff")
    assert shop.track.history == [(1, "manual", None)]
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "second")
    assert shop.answer("handoff")["track"]["name"] == shop.track.track
    assert shop.track.metadata["handoff"]["status"] == "active"
    assert "handoff written to" in shop.flow("handoff")


def test_every_handoff_leaves_its_context_in_beads(shop: Shop) -> None:
    """Criterion 2: whoever runs ``bd show`` can go on; another's lines stay."""
    for trigger in ("design-end", "manual", "pre-finish"):
        shop.flow("handoff", "create", "--trigger", trigger, "--next", f"After {trigger}")
        notes = shop.beads.notes("t-1")
        assert notes.startswith("Somebody: keys are in the vault\n")
        assert f"NEXT: After {trigger}" in notes
        assert f"HANDOFF: Section {len(shop.track.files)} saved at conductor/handoffs/" in notes
        assert shop.track.files[-1] in notes


def test_progress_is_shown_on_resume(shop: Shop) -> None:
    """Criterion 3: with what Beads knows, and the open steps."""
    shop.track.plan("xx~ ")
    shop.flow("handoff", "create", "--next", "Rotate")
    printed = shop.flow("handoff", "resume", shop.track.track)
    assert f"Track {shop.track.track}: progress 50 % (2 of 4 tasks)" in printed
    assert "Beads t-1 (in_progress): t-1" in printed
    assert "Somebody: keys are in the vault" in printed
    assert "- [ ] Rotate" in printed


def test_workers_are_detected_before_a_handoff(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Criterion 4: without a terminal the setting decides; cancelled is cancelled everywhere."""
    config = shop.root.parent / "config.yaml"
    monkeypatch.setenv("FLOWD_CONFIG", str(config))
    shop.track.workers("BlueLake")
    config.write_text("conductor: {parallel: cancel}\n")
    assert "cancelled: parallel workers are running" in shop.flow("handoff", "create", code=1)
    assert (shop.track.files, shop.contract.exists()) == ([], False)
    config.write_text("conductor: {parallel: wait, parallel_wait_s: 0}\n")
    shop.flow("handoff", "create")
    notes = shop.beads.notes("t-1")
    assert "PARALLEL_STATE: 1 workers, 0 completed, 1 in progress" in notes
    assert "WORKERS: BlueLake running" in notes


def test_five_documents_became_two_and_the_template(shop: Shop) -> None:
    """Criterion 5: one command definition, one workflow reference, one template; all shipped."""
    from importlib import resources

    shipped = {
        "flowd.commands": "handoff.toml",
        "flowd.workflows": "handoff.md",
        "flowd.handoff.track": "template.md",
    }
    for package, name in shipped.items():
        assert resources.files(package).joinpath(name).read_text()
    repository = ROOT
    gone = ("create.md", "resume.md", "triggers.md", "idle-detection.md", "agent-mail-format.md")
    assert [name for name in gone if (repository / "handoff" / name).exists()] == []
    plugin = repository / "plugin"
    assert (plugin / "commands" / "handoff.toml").read_text() == (
        repository / "commands" / "handoff.toml"
    ).read_text()
    assert (plugin / "workflows" / "handoff.md").is_file()


def test_begin_takes_up_and_marks_the_start_in_one_step(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beads context, progress and the epic-start handoff of the first epic that is open."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    shop.track.plan("xx  ")
    answer = shop.answer("handoff", "begin", shop.track.track)
    assert answer["track"]["progress_percent"] == 50
    assert answer["track"]["beads"]["notes"] == "Somebody: keys are in the vault"
    assert shop.track.history == [(1, "epic-start", "E2")]
    assert answer["created"]["section"] == 1
    printed = shop.flow("handoff", "begin", shop.track.track, "E9")
    assert "last handoff (epic-start, just now)" in printed
    assert shop.track.history == [(1, "epic-start", "E2"), (2, "epic-start", "E9")]


def test_a_session_that_began_a_track_stays_with_it(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another track that was changed later is not meant."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    shop.flow("handoff", "begin", shop.track.track)
    other = TrackProject(shop.root, "other").make()
    os.utime(other.folder / "metadata.json", (time.time() + 60,) * 2)
    shop.flow("handoff", "create")
    assert [trigger for _, trigger, _ in shop.track.history] == ["epic-start", "manual"]
    assert other.history == []


def test_an_unknown_track_is_said_with_those_there_are(shop: Shop) -> None:
    """Nothing is written."""
    assert f"tracks here: {shop.track.track}" in shop.flow("handoff", "begin", "nope", code=1)
    assert shop.track.history == []


def test_without_conductor_and_beads_nothing_is_started_or_written(
    tmp_path: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The contract's file in Claude's own directory is all."""
    bare = tmp_path / "bare"
    (bare / ".git").mkdir(parents=True)
    monkeypatch.chdir(bare)
    assert shop.answer("handoff", "create", "--done", "x")["track"] is None
    assert shop.answer("handoff", "resume")["track"] is None
    assert os.listdir(bare) == [".git"]
    assert shop.beads.calls == []


@pytest.mark.parametrize(("answer", "written"), [("x\nb\n", 1), ("c\n", 0), ("a\n", 1)])
def test_a_person_at_a_terminal_chooses(shop: Shop, answer: str, written: int) -> None:
    """A waits until nobody runs, B includes their state, C cancels."""
    shop.track.workers("BlueLake", "RedFox")
    shown = at_terminal(shop, answer)
    assert "Parallel workers running: [BlueLake, RedFox]" in shown
    assert "[A] Wait for completion" in shown
    assert "[B] Handoff anyway (include worker state)" in shown
    assert len(shop.track.files) == written


def at_terminal(shop: Shop, answer: str) -> str:
    """Run ``flow handoff create`` at a terminal, type *answer*, and return what it shows."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", FLOW, "handoff", "create"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=shop.root,
    )
    os.close(slave)
    shown = ""
    while "[C] Cancel" not in shown:
        shown += os.read(master, 4096).decode()
    os.write(master, answer.encode())
    if answer.startswith("a"):
        (shop.track.folder / "parallel_state.json").write_text('{"workers": []}')
    process.wait(DEADLINE_S)
    os.close(master)
    return shown


@pytest.mark.parametrize("epic", ["E1: JWT core", "w-1, w-2", "--help"])
def test_an_epic_id_that_is_no_id_is_said_and_stops_nothing(shop: Shop, epic: str) -> None:
    """metadata.json is written by people: what bd cannot take is left to them."""
    whole = json.loads((shop.track.folder / "metadata.json").read_text()) | {"beads": {"epicId": epic}}
    (shop.track.folder / "metadata.json").write_text(json.dumps(whole))
    calls = len(shop.beads.calls)
    printed = shop.flow("handoff", "create", "--done", "Tokens")
    assert "not an issue id" in printed
    assert "handoff written to" in printed
    assert "not an issue id" in shop.flow("handoff", "resume", shop.track.track)
    assert f"Track {shop.track.track}" in shop.flow("handoff", "begin", shop.track.track)
    assert all(epic not in call["words"] for call in shop.beads.calls[calls:])


def test_begin_keeps_a_richer_note(shop: Shop) -> None:
    """The epic that begins has nothing to tell yet; what the last one left stays."""
    words = ("--trigger", "epic-end", "--epic", "E1", "--done", "Tokens are signed")
    shop.flow("handoff", "create", *words, "--gotcha", "Clocks drift", "--next", "Rotate the keys")
    shop.flow("handoff", "begin", shop.track.track, "E2")
    notes = shop.beads.notes("t-1")
    for text in ("Tokens are signed", "Clocks drift", "Rotate the keys"):
        assert text in notes
    assert "HANDOFF: Section 2 saved at" in notes


def test_two_sessions_on_one_issue_both_keep_their_note(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for session, word in (("first", "Signed"), ("second", "Documented"), ("first", "Rotated")):
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session)
        shop.flow("handoff", "create", "--done", word, "--next", f"After {word}")
    notes = shop.beads.notes("t-1")
    assert notes.count("<!-- /flowd -->") == 2
    for text in ("NEXT: After Documented", "NEXT: After Rotated", "session second", "session first"):
        assert text in notes
    assert notes.startswith("Somebody: keys are in the vault\n")


def test_a_note_names_no_folders_of_the_tools_and_no_empty_session(shop: Shop) -> None:
    shop.flow("handoff", "create", "--done", "Tokens")
    notes = shop.beads.notes("t-1")
    for text in ("session )", ", session person", ".beads/", "changed conductor/"):
        assert text not in notes
