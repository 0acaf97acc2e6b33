"""A story: sessions of the real client over several days, and what each of them was given to start with."""

import json
import sqlite3
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import takewhile
from pathlib import Path

from tests.e2e.client import run_program
from tests.e2e.clock import Clock
from tests.e2e.fake_api import Asked, FakeApi
from tests.e2e.fake_message import Say, Step, Use, WritePlan
from tests.e2e.place import Place
from tests.e2e.running_flowd import RunningFlowd
from tests.e2e.terminal import ESCAPE, READY, Terminal, wait_until
from tests.support import waiting

OPENING, CLOSING = "<flow-guardian-context>", "</flow-guardian-context>"
INTERRUPTED = "[Request interrupted by user"
TOOLS = ("--allowedTools", "Write", "Edit", "Bash", "TodoWrite")


class Session:
    """One session in a terminal, which its person talks to."""

    def __init__(self, story: "Story", session_id: str, cwd: Path, *words: str) -> None:
        self.id = session_id
        self.cwd = cwd
        self._story = story
        starts = story.count("SessionStart")
        # Not the mode that newer clients begin with: it asks the API about each call of a tool.
        mode = () if "--permission-mode" in words else ("--permission-mode", "default")
        command = [str(story.claude), *words, *mode, *TOOLS]
        self.terminal = story.exits.enter_context(Terminal(command, story.place.environment, cwd))
        self.terminal.wait_for(READY)
        wait_until(lambda: story.count("SessionStart") > starts, "the session has started")

    def ask(self, prompt: str, *steps: Step) -> None:
        """Enter *prompt*, and return when the model, which answers with *steps*, has ended its turn."""
        stops = self._story.count("Stop")
        self._story.api.script(*steps)
        self.terminal.enter(prompt)
        wait_until(lambda: self._story.count("Stop") > stops, f"the turn {prompt!r} has ended")

    def begin(self, prompt: str, *steps: Step) -> None:
        """Enter *prompt*, and return when the model has been asked for as many *steps*."""
        asked = len(self._story.api.turns())
        self._story.api.script(*steps)
        self.terminal.enter(prompt)
        wait_until(lambda: len(self._story.api.turns()) >= asked + len(steps), f"{prompt!r} is under way")

    def compact(self, words: str = "") -> None:
        """Have the conversation compacted."""
        starts = self._story.count("SessionStart")
        self.terminal.enter(f"/compact {words}".strip())
        wait_until(lambda: self._story.count("SessionStart") > starts, "the conversation is compacted")

    def clear(self) -> None:
        """Begin a new conversation in the same terminal."""
        starts = self._story.count("SessionStart")
        self.terminal.enter("/clear")
        wait_until(lambda: self._story.count("SessionStart") > starts, "the conversation is cleared")
        self.id = self._story.newest_session()

    def approve_plan(self, prompt: str, plan: str) -> None:
        """Ask for a plan, and approve it without having it carried out yet."""
        self._story.api.script(WritePlan(plan), Use("ExitPlanMode", {"plan": plan}), Say("It is approved."))
        since = len(self.terminal.text)
        stops = self._story.count("Stop")
        self.terminal.enter(prompt)
        self.terminal.wait_for("Would you like to proceed?", since)
        self.terminal.wait_for("to approve with this feedback", since)
        wait_until(lambda: self._has_approved(stops), "the plan is approved")

    def _has_approved(self, stops: int) -> bool:
        """Press the return key, which does nothing once the plan is approved."""
        self.terminal.press("\r")
        with suppress(AssertionError):
            waiting.wait_until(lambda: self._story.count("Stop") > stops, deadline_s=5.0)
        return self._story.count("Stop") > stops

    def wait_for_tool(self, command: str) -> None:
        """Return once *command* runs."""
        wait_until(lambda: is_running(command), f"{command!r} runs")

    def interrupt(self) -> None:
        """Press the escape key."""
        self.terminal.press(ESCAPE)
        transcript = self._story.transcript_of(self.id)
        wait_until(lambda: INTERRUPTED in transcript.read_text(), "the turn is interrupted")

    def leave(self) -> None:
        """Say goodbye, as a person does."""
        ends = self._story.count("SessionEnd")
        self.terminal.enter("/exit")
        self.terminal.wait()
        wait_until(lambda: self._story.count("SessionEnd") > ends, "the session's end is reported")
        self._story.rest()

    def die(self) -> None:
        """Lose the terminal with everything in it."""
        self.terminal.kill()
        self._story.rest()

    @property
    def told(self) -> str:
        """What flowd gave the session at its latest start, as the model was sent it."""
        turns = self._story.turns_of(self.id)
        return told_in(turns[-1]) if turns else ""

    @property
    def told_goal(self) -> str:
        """The goal in what the session was given."""
        return self.told_field("Goal")

    @property
    def told_steps(self) -> list[str]:
        """The open steps in what the session was given."""
        return list_in(self.told, "Unfinished")

    @property
    def told_decisions(self) -> str:
        """The decisions in what the session was given."""
        return "\n".join(list_in(self.told, "Decided"))

    @property
    def told_other(self) -> str:
        """The other works in what the session was given."""
        return "\n".join(list_in(self.told, "Other work here"))

    def told_field(self, name: str) -> str:
        """Return the field *name* of what the session was given."""
        return field_in(self.told, name)


class Story:
    """Plays sessions in one project, with one flowd; the clock is moved between them."""

    def __init__(self, place: Place, api: FakeApi, flowd: RunningFlowd, claude: Path, clock: Clock) -> None:
        self.place = place
        self.api = api
        self.flowd = flowd
        self.claude = claude
        self.clock = clock
        self.exits = ExitStack()

    @property
    def project(self) -> Path:
        """The checkout in which the story begins."""
        return self.place.project

    def trust(self, directory: Path) -> None:
        """Let the client know *directory*: it asks about a new one."""
        file = self.place.home / ".claude.json"
        settings = json.loads(file.read_text())
        settings["projects"][str(directory)] = settings["projects"][str(self.project)]
        file.write_text(json.dumps(settings))

    def documents(self) -> list[str]:
        """Return the names of the handoff documents."""
        return sorted(file.name for file in (self.place.home / ".claude" / "handoffs").glob("*/*.md"))

    def numbers(self) -> dict[str, int]:
        """Return the numbers of the open steps, as ``flow next --json`` has them."""
        return {step["text"]: step["n"] for step in json.loads(self.flow("next", "--json"))["steps"]}

    def everything_stored(self) -> str:
        """Return core.db as text."""
        with sqlite3.connect(f"file:{self.flowd.database}?mode=ro", uri=True) as connection:
            text = "\n".join(connection.iterdump())
        connection.close()
        return text

    def day(self, days_ago: float) -> None:
        """Let it be *days_ago*."""
        self.clock.move_to(days_ago)

    def open(self, *words: str, cwd: Path | None = None, resume: str = "") -> Session:
        """Return a new session, or the one with the id *resume* again."""
        session_id = resume or str(uuid.uuid4())
        option = "--resume" if resume else "--session-id"
        return Session(self, session_id, cwd or self.place.project, option, session_id, *words)

    def run_headless(self, prompt: str, *steps: Step, words: tuple[str, ...] = ()) -> str:
        """Have a program ask *prompt* by ``claude -p``, and return the id of its session."""
        session_id = str(uuid.uuid4())
        self.api.script(*steps)
        environment = self.place.environment | {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
        command = [str(self.claude), "-p", *words, "--session-id", session_id, *TOOLS, "--", prompt]
        ran = run_program(command, environment, self.place.project)
        assert ran.returncode == 0, ran.stderr
        self.rest()
        return session_id

    def rest(self) -> None:
        """Let flowd take in what happened, and the files have the story's time."""
        files = [file for file in self._transcripts() if file.exists()]
        if self.flowd.daemon is not None and not self.flowd.is_suspended:
            wait_until(lambda: self.flowd.has_read(files), "flowd has read every transcript")
        self.clock.date_files(self.place.project, self.place.home / ".claude")

    def git(self, *words: str, cwd: Path | None = None) -> str:
        """Run git in the project, at the story's time."""
        command = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.com", *words]
        ran = run_program(command, self.place.environment, cwd or self.place.project)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def flow(self, *words: str, cwd: Path | None = None) -> str:
        """Run ``flow`` with *words*, and return what it printed."""
        ran = self.flowd.flow(*words, cwd=cwd)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def show(self, *sessions: Session) -> None:
        """Print what *sessions* were given; ``pytest -rP`` shows it."""
        for session in sessions:
            print(f"--- session {session.id[:8]}:\n{session.told}\n")

    def count(self, event: str) -> int:
        """Return how many hooks have reported *event*."""
        return sum(line.split()[1] == event for line in self.flowd.hook_log())

    def given_to(self, session: Session) -> str:
        """Return the whole text that flowd gave *session*, with its tags."""
        return f"{OPENING}\n{session.told}\n{CLOSING}"

    def turns_of(self, session_id: str) -> list[Asked]:
        """Return the turns of one session."""
        return [asked for asked in self.api.turns() if asked.session_id == session_id]

    def transcript_of(self, session_id: str) -> Path:
        """Return the transcript of a session."""
        return next(file for file in self._transcripts() if file.stem == session_id)

    def newest_session(self) -> str:
        """Return the session whose transcript is the newest."""
        return max(self._transcripts(), key=lambda file: file.stat().st_ctime_ns).stem

    def _transcripts(self) -> Iterator[Path]:
        return (self.place.home / ".claude" / "projects").glob("*/*.jsonl")


def told_in(asked: Asked) -> str:
    """Return what flowd told the model in *asked*, the latest where it did more than once."""
    texts = list(_texts(asked.body))
    found = [text for text in texts if OPENING in text]
    return found[-1].rpartition(OPENING)[2].partition(CLOSING)[0].strip() if found else ""


def is_running(command: str) -> bool:
    """Return True if a process was started with *command*."""
    words = command.split()
    listed = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True, check=True).stdout
    return any(line.split() == words for line in listed.splitlines())


def field_in(told: str, name: str) -> str:
    """Return the field *name* of a briefing."""
    return next(
        (line.partition(":** ")[2] for line in told.splitlines() if line.startswith(f"**{name}:**")), ""
    )


def list_in(told: str, title: str) -> list[str]:
    """Return the items below the heading *title* of a briefing."""
    lines = iter(told.splitlines())
    if not any(line == f"**{title}:**" for line in lines):
        return []
    return [line.removeprefix("- ") for line in takewhile(lambda line: line.startswith("- "), lines)]


def write(file: Path, content: str = "one line\n") -> Use:
    """Return the model's call of the tool that writes *file*."""
    return Use("Write", {"file_path": str(file), "content": content})


def bash(command: str) -> Use:
    """Return the model's call of the tool that runs *command*."""
    return Use("Bash", {"command": command})


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
