"""Every command in README.md and docs/, and every example of --help, runs in a home with some work."""

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.daemon_home import DaemonHome
from tests.support.live_session import write_record
from tests.support.repository import DATA, ROOT
from tests.support.stand_in_programs import Managers
from tests.support.waiting import DEADLINE_S
from tools.parsers import commands

PAGES = [
    ROOT / "README.md",
    *(file for file in sorted((ROOT / "docs").glob("*.md")) if file.name != "commands.md"),
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:flow|flowd) [a-z-][^`]*)`")
# Run by .ci/wheel in a clone, word for word: they install something.
INSTALLING = re.compile(r"(make|pipx|uv|git pull)\b")
# Serve until they are interrupted.
SERVING = re.compile(r"flowd (run|serve(?! --show-token)|logs -f|status --watch)\b")
SESSION = "b4db9cba-0000-4000-8000-000000000000"
THREAD = "hof_V1StGXR8_Z5jdHi6B-myT"
PLACEHOLDERS = {
    "N": "1",
    "ID": THREAD,
    "FILE": "tasks/4.md",
    "TASK": "task-005",
    "...": "words",
}
# Commands that rightly end with 1 in this home, and why.
COULD_NOT = {
    "flow handoff ack": "nothing is escalated unless the page did so before",
    "flow handoff resume b4db9cba": "the home has no document of that name",
    "flow handoff resume path/to/file.md": "the home has no such file",
    "flow handoff resume auth_": "the project has no such track",
    "flow handoff begin auth_": "same",
    "flow knowledge show pattern-": "an example of an id",
    "flow knowledge pin pattern-": "same",
    "flow knowledge forget pattern-": "same",
    "flow thread": "an earlier example has closed the thread",
    "flow trust": "a person has to answer at a terminal",
    "flowd restore-backup latest": "no daily backup has been made yet",
    "flowd setup": "a person has to answer at a terminal, or doctor finds the stand-ins",
    "flowd config edit": "there is no terminal to edit at",
    "flowd uninstall --purge": "a person has to answer at a terminal",
    "flowd model": "a person has to answer at a terminal, and the client is a stand-in",
    "flowd doctor": "stand-ins are not the real programs",
}
# A verb alone within a sentence is its name, and has to exist; it runs in the README and as an example.
KNOWN_VERBS = {" ".join(verb.words) for command in commands() for verb in command.verbs}


@pytest.fixture
def world(daemon_home: DaemonHome, managers: Managers, project: Path, tmp_path: Path) -> "World":
    """A home with a daemon, a client, and a project in which a session has worked."""
    return World(daemon_home, project, tmp_path / "bin")


class World:
    """A project with everything that the examples name."""

    def __init__(self, home: DaemonHome, project: Path, programs: Path) -> None:
        self.home, self.project, self.page = home, project, 0
        claude = programs / "claude"
        claude.write_text(CLAUDE.format(python=sys.executable))
        claude.chmod(0o755)
        self.environment = home.env | {
            "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "CLAUDE_CODE_SESSION_ID": "",
        }
        self.make_files()
        self.run("flowd start")
        write_record(home, project, SESSION)
        self.run("flow thread create Auth 'We decided on JWT' --as chat")
        with closing(sqlite3.connect(home.paths.data_dir / "core.db")) as database, database:
            database.execute("update handoffs set id = ?", (THREAD,))
            database.execute("update handoff_entries set handoff_id = ?", (THREAD,))
        self.run("flow handoff create --purpose 'Login: tokens done'")
        self.run("flow knowledge export --format json > graph.json")

    def prepare(self) -> None:
        """Begin a page: flowd runs, and there are open steps."""
        self.page += 1
        self.run("flowd start")
        for step in ("Write the tests", "Ask Eva about rounding", "Update the docs"):
            self.run(f"flow next add {shlex.quote(f'{step}, page {self.page}')}")
        self.run("flow save 'Parser done' --goal 'Ship the parser'")

    def run(self, command: str, *, may_fail: bool = False) -> str:
        """Run *command* as a person types it; return what it printed."""
        self.make_files()
        ran = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {command}"],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert ran.returncode in ((0, 1) if may_fail else (0,)), f"$ {command}\n{ran.stdout}"
        return ran.stdout

    def start_and_interrupt(self, command: str) -> None:
        """Run *command* until it has printed something, and interrupt it."""
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        printed = process.stdout.readline()
        process.terminate()
        printed += process.communicate(timeout=DEADLINE_S)[0]
        assert b"usage" not in printed, printed
        assert b"bug" not in printed, printed

    def make_files(self) -> None:
        """Write the files that examples name, as they are before any example."""
        home = Path(self.environment["HOME"])
        folders = (".local/share/bash-completion/completions", ".config/fish/completions")
        transcripts = ".claude/projects/-home-me-app"
        for folder in (*folders, transcripts, "shop"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        transcript = (DATA / "transcripts" / "fixed.jsonl").read_bytes()
        (home / transcripts / "0b1c.jsonl").write_bytes(transcript)
        tasks = self.project / "tasks"
        tasks.mkdir(exist_ok=True)
        for name in ("4.md", "task-004.md", "task-005.md"):
            (tasks / name).write_text("# Tiles\n\n## Handoff\n\n```yaml\noutcome: completed\n```\n")
        (self.project / "notes.md").write_text(
            "# Notes\n\nOutcome: completed\n\nGotcha: Safari keeps the form.\n"
        )
        (self.project / "session.jsonl").write_bytes(transcript)
        if not (self.project / ".venv").exists():
            (self.project / ".venv").mkdir()
            (self.project / ".venv" / "bin").symlink_to(Path(sys.executable).parent)


CLAUDE = """\
#!{python}
import sys
print("2.1.326 (Claude Code)" if sys.argv[1:] == ["--version"] else "done")
"""


def commands_of(page: Path) -> Iterator[str]:
    """Yield the lines of shell blocks and the commands within sentences, in the order of the text."""
    for match in re.finditer(f"{FENCE.pattern}|{INLINE.pattern}", page.read_text(), re.MULTILINE | re.DOTALL):
        language, block, inline = match.groups()
        if language == "sh":
            yield from (line for line in block.splitlines() if line and not line.startswith("#"))
        elif inline and (page.name == "README.md" or inline not in KNOWN_VERBS):
            yield inline


def filled_in(command: str) -> str:
    """Return *command* with real values for its placeholders."""
    words = re.split(r"(\s+)", command)
    return "".join(PLACEHOLDERS.get(word, word) for word in words)


def run_as_documented(world: World, command: str) -> None:
    command = filled_in(command)
    if INSTALLING.match(command):
        assert command in (ROOT / ".ci" / "wheel").read_text(), f"{command}: run it in .ci/wheel"
    elif SERVING.match(command):
        world.start_and_interrupt(command)
    else:
        bare = command.removeprefix(".venv/bin/")
        world.run(command, may_fail=bare.startswith(tuple(COULD_NOT)))


def failures(world: World, texts: Mapping[str, Iterable[str]]) -> list[str]:
    """Run the commands of each text, one text after the other; return what went wrong."""
    found = []
    for name, documented in texts.items():
        world.prepare()
        for command in documented:
            try:
                run_as_documented(world, command)
            except AssertionError as error:
                found.append(f"{name}: {error}")
    return found


def test_every_command_of_the_pages_runs(world: World) -> None:
    pages = {page.name: list(commands_of(page)) for page in PAGES}
    assert failures(world, pages) == []


EXAMPLES = {
    " ".join(verb.words): verb.examples for command in commands() for verb in command.verbs if verb.examples
}


def lines_of(examples: str) -> Iterator[str]:
    """Yield the commands of *examples* without the comments after them."""
    joined = examples.replace("\\\n", " ")
    for line in joined.splitlines():
        command = re.split(r"\s{2,}", line.strip())[0] if "\\" not in line else line
        if re.match(r"(flow|flowd) [a-z-]|(echo|claude) ", command) and "speaks" not in command:
            yield command


@pytest.mark.parametrize("prog", ["flow", "flowd"])
def test_every_example_of_the_help_runs(prog: str, world: World) -> None:
    examples = {verb: list(lines_of(text)) for verb, text in EXAMPLES.items() if verb.startswith(f"{prog} ")}
    assert failures(world, examples) == []
