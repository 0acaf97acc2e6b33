"""``flow extract``: print the state that flowd extracts from a transcript, or from a part of one."""

import argparse
import re
from pathlib import Path
from typing import Any

from flowd.actions.context import Context
from flowd.cli.output import print_json, wrapped
from flowd.cli.parser import add_verb
from flowd.config.paths import claude_config_dir
from flowd.extractors.transcript.protocol import ProjectPlace
from flowd.extractors.transcript.session import TranscriptReading, first_lines, read_transcript
from flowd.model.session import SessionState
from flowd.system.errors import FlowdError
from flowd.workspace.project import resolve_project

EXAMPLES = """\
  flow extract ~/.claude/projects/-home-me-app/0b1c.jsonl
  flow extract b4db9cba                 a session, by the start of its id
  flow extract session.jsonl --until-line 120
  flow extract session.jsonl --json | jq .next
"""
ONE = ("goal", "status", "now", "hypothesis", "outcome", "branch")
MANY = ("next", "questions", "blockers", "decisions", "learnings", "files")
FIELDS = (
    "goal",
    "status",
    "now",
    "hypothesis",
    "outcome",
    "files",
    "branch",
    "decisions",
    "learnings",
    "questions",
    "blockers",
    "next",
)


def add_parser(subparsers: Any) -> None:
    """Add ``flow extract``."""
    parser = add_verb(
        subparsers,
        "extract",
        "print the state of a session, read from its transcript",
        "Print what flowd extracts from a transcript, without a model and without the daemon.",
        run,
        examples=EXAMPLES,
        json="print the state as JSON, insights with their records",
    )
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE|SESSION",
        help="a transcript (.jsonl) of Claude Code, or the start of a session id",
    )
    parser.add_argument("--until-line", type=_line_number, metavar="N", help="read the first N lines only")


def run(arguments: argparse.Namespace) -> int:
    """Print the state after the last line read."""
    arguments.file = _file_of(arguments.file)
    data = _contents(arguments.file)
    if arguments.until_line is not None:
        data = first_lines(data, arguments.until_line)
    with Context() as context:
        reading = read_transcript(data, context.redact.custom)
    if not reading.records:
        raise FlowdError(
            f"{arguments.file} has no records of a session",
            hint="transcripts are the .jsonl files below ~/.claude/projects, one for each session",
        )
    state = _state(reading, arguments.file)
    if arguments.json:
        print_json({name: getattr(state, name) for name in (*FIELDS, "insights")})
    else:
        print("\n".join(_page(state)))
    return 0


def _line_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _file_of(given: Path) -> Path:
    """Return *given*, or the transcript of the session whose id begins with it."""
    name = str(given)
    if given.exists() or not re.fullmatch(r"[0-9a-fA-F-]{4,36}", name):
        return given
    with Context() as context:
        projects = claude_config_dir(context.settings.claude.config_dir) / "projects"
    found = sorted(projects.glob(f"*/{name}*.jsonl"))
    if len(found) == 1:
        return found[0]
    listed = f": {', '.join(file.stem for file in found[:3])}" if found else ""
    problem = "several sessions begin" if found else "no session begins"
    raise FlowdError(f"{problem} with {name}{listed}", hint="`flow sessions --all` lists sessions")


def _contents(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise FlowdError(
            f"cannot read {file}: {error.strerror or error}",
            hint="give the path of a transcript, a .jsonl file below ~/.claude/projects",
        ) from error


def _state(reading: TranscriptReading, file: Path) -> SessionState:
    activity = reading.memory.part("activity")
    return reading.memory.state(reading.session_id or file.stem, _place(activity.cwd, activity.first_cwd))


def _place(cwd: str, first_cwd: str) -> ProjectPlace:
    """Return the project of the session, or its first directory if that does not exist on this machine."""
    home = str(Path.home())
    for directory in (cwd, first_cwd):
        project = resolve_project(directory) if Path(directory or "/").is_dir() else None
        if project:
            return ProjectPlace(
                root=project.root, repository=project.repository, worktree=project.worktree, home=home
            )
    return ProjectPlace(root=first_cwd, home=home)


def _page(state: SessionState) -> list[str]:
    """Return the state as lines of at most 80 columns."""
    lines: list[str] = []
    for name in ONE:
        if value := getattr(state, name):
            lines += wrapped(value, first=f"{name + ':':<12}", rest=" " * 12)
    for name in MANY:
        if values := getattr(state, name):
            lines += ["", f"{name}:"]
            for value in values:
                lines += wrapped(value, first="  - ", rest="    ")
    return lines
