"""``flow extract``: the state that flowd would hold after reading a transcript, or a part of one."""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from flowd.cli.output import wrapped
from flowd.extractors.transcript.protocol import ProjectPlace
from flowd.extractors.transcript.whole import TranscriptReading, first_lines, read
from flowd.model.session import SessionState
from flowd.system.errors import FlowdError
from flowd.workspace.project import resolve_project

EXAMPLES = """\
examples:
  flow extract ~/.claude/projects/-home-me-app/0b1c.jsonl
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
    """Describe the verb."""
    parser = subparsers.add_parser(
        "extract",
        help="the state of a session, read from its transcript",
        description="Print what flowd reads out of a transcript, without a model and without the daemon.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a transcript (.jsonl) of Claude Code")
    parser.add_argument("--until-line", type=_line_number, metavar="N", help="read the first N lines only")
    parser.add_argument("--json", action="store_true", help="as JSON, the insights with their records")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the state after the transcript's lines."""
    data = _contents(arguments.file)
    if arguments.until_line is not None:
        data = first_lines(data, arguments.until_line)
    reading = read(data)
    if not reading.records:
        raise FlowdError(
            f"{arguments.file} holds no record of a session",
            hint="transcripts lie below ~/.claude/projects, one .jsonl file for each session",
        )
    state = _state(reading, arguments.file)
    print(_as_json(state) if arguments.json else "\n".join(_page(state)))
    return 0


def _line_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("lines are counted from 1")
    return number


def _contents(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise FlowdError(
            f"{file} cannot be read: {error.strerror or error}",
            hint="name a transcript, such as a .jsonl file below ~/.claude/projects",
        ) from error


def _state(reading: TranscriptReading, file: Path) -> SessionState:
    activity = reading.memory.part("activity")
    return reading.memory.state(reading.session_id or file.stem, _place(activity.cwd, activity.first_cwd))


def _place(cwd: str, first_cwd: str) -> ProjectPlace:
    """Return the project that the session worked in; its first directory where that is on no disk here."""
    home = str(Path.home())
    for directory in (cwd, first_cwd):
        project = resolve_project(directory) if Path(directory or "/").is_dir() else None
        if project:
            return ProjectPlace(
                root=project.root, repository=project.repository, worktree=project.worktree, home=home
            )
    return ProjectPlace(root=first_cwd, home=home)


def _as_json(state: SessionState) -> str:
    fields: dict[str, object] = {name: getattr(state, name) for name in FIELDS}
    fields["insights"] = state.insights
    return msgspec.json.format(msgspec.json.encode(fields)).decode()


def _page(state: SessionState) -> list[str]:
    """Return the state for people, 80 columns wide."""
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
