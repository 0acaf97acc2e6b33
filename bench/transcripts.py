"""Made-up transcripts with the shapes, sizes and mix of real ones; no word of them was ever said.

The mix follows what was counted in real transcripts of 2026 clients: half of the bytes are tool results,
a seventh tool calls, an eighth thinking; a record is 2.4 KB in the middle, some are 100 KB.
"""

import json
import os
import random
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

SESSION = "5e551017-0000-4000-8000-000000000000"
MARK = "5e551017"
PLACE = "/home/dev/place-of-work"
CLIENT = "2.1.121"

_WORDS = (
    "parser cursor journal retry socket thread window buffer record schema index cache token layer batch "
    "reader writer signal worker delta patch branch commit merge rebase test fixture assert mock build "
    "deploy config header footer module import function method value error result option string bytes "
    "stream queue timer clock event hook handler route request response client server session user "
    "should could now then because until after before while when which that this keeps drops reads "
    "writes checks fails passes returns raises holds takes gives moves opens closes first last next"
).split()
_STEMS = "parser cursor journal retry socket window buffer record schema cache layer batch".split()
_COMMANDS = (
    "pytest -q|git status --short|git diff --stat|ls -la src|make check|cargo test|npm run build".split("|")
)

Make = Callable[[random.Random], dict[str, Any]]


class Laid(NamedTuple):
    """A transcript on disk, and the project that its session works in."""

    path: Path
    project: Path
    session_id: str


def prose(chance: random.Random, size: int) -> str:
    """Return about *size* characters of sentences."""
    words: list[str] = []
    left = size
    while left > 0:
        sentence = chance.choices(_WORDS, k=chance.randint(5, 16))
        words.append(" ".join(sentence).capitalize() + ".")
        left -= len(words[-1]) + 1
    return " ".join(words)


def code(chance: random.Random, size: int) -> str:
    """Return about *size* characters that look like a numbered listing of a source file."""
    lines: list[str] = []
    left = size
    while left > 0:
        name, other, word = chance.choices(_WORDS, k=3)
        lines.append(f"{len(lines) + 1:6d}\t    {name}_{other} = self.{word}({name!r}, {other}) # {word}")
        left -= len(lines[-1]) + 1
    return "\n".join(lines)


def _size(chance: random.Random, median: float, sigma: float, most: int) -> int:
    return min(most, int(chance.lognormvariate(0, sigma) * median))


def _identity(chance: random.Random) -> str:
    return f"{MARK}-{uuid.UUID(int=chance.getrandbits(128))!s:.27}"


def _file(chance: random.Random) -> str:
    return f"{PLACE}/src/{chance.choice(_STEMS)}_{chance.randint(1, 30)}.py"


def _assistant(chance: random.Random, block: dict[str, Any]) -> dict[str, Any]:
    tokens = {"input_tokens": 6, "cache_read_input_tokens": chance.randint(10_000, 90_000)}
    usage = tokens | {
        "cache_creation_input_tokens": chance.randint(100, 9000),
        "output_tokens": chance.randint(20, 2000),
        "service_tier": "standard",
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "cache_creation": {"ephemeral_1h_input_tokens": 1060, "ephemeral_5m_input_tokens": 0},
    }
    message = {
        "model": "claude-opus-4-7",
        "id": f"msg_01{_identity(chance)}",
        "type": "message",
        "role": "assistant",
        "content": [block],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return {"type": "assistant", "message": message, "requestId": f"req_01{_identity(chance)}"}


def _thinking(chance: random.Random) -> dict[str, Any]:
    signature = f"{chance.getrandbits(8 * 900):x}"[: _size(chance, 1200, 0.6, 1800)]
    return _assistant(chance, {"type": "thinking", "thinking": "", "signature": signature})


def _said(chance: random.Random) -> dict[str, Any]:
    return _assistant(chance, {"type": "text", "text": prose(chance, _size(chance, 350, 0.9, 6000))})


def _tool_use(chance: random.Random) -> dict[str, Any]:
    name, given = chance.choice(
        (
            ("Bash", {"command": chance.choice(_COMMANDS), "description": prose(chance, 40)}),
            ("Read", {"file_path": _file(chance)}),
            ("Grep", {"pattern": chance.choice(_WORDS), "path": f"{PLACE}/src"}),
            (
                "Edit",
                {
                    "file_path": _file(chance),
                    "old_string": code(chance, _size(chance, 500, 0.9, 6000)),
                    "new_string": code(chance, _size(chance, 600, 0.9, 6000)),
                },
            ),
        )
    )
    block = {"type": "tool_use", "id": f"toolu_01{_identity(chance)}", "name": name, "input": given}
    return _assistant(chance, block)


def _tool_result(chance: random.Random) -> dict[str, Any]:
    text = code(chance, _size(chance, 1300, 1.2, 110_000))
    block = {
        "tool_use_id": f"toolu_01{_identity(chance)}",
        "type": "tool_result",
        "content": text,
        "is_error": chance.random() < 0.03,
    }
    result = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": result}


def _prompt(chance: random.Random) -> dict[str, Any]:
    content = prose(chance, _size(chance, 300, 1.2, 12_000))
    return {"type": "user", "message": {"role": "user", "content": content}, "permissionMode": "default"}


def _progress(chance: random.Random) -> dict[str, Any]:
    data = {
        "type": "bash_progress",
        "output": prose(chance, 250),
        "elapsedTimeSeconds": chance.randint(1, 90),
    }
    return {"type": "progress", "data": data, "toolUseID": f"toolu_01{_identity(chance)}"}


def _attachment(chance: random.Random) -> dict[str, Any]:
    inner = {"type": "hook_success", "hookName": "PostToolUse", "stdout": prose(chance, 800), "exitCode": 0}
    return {"type": "attachment", "attachment": inner}


def _snapshot(chance: random.Random) -> dict[str, Any]:
    backups = {_file(chance): {"version": 1, "backupTime": _now_text()} for _ in range(4)}
    inner = {"messageId": _identity(chance), "trackedFileBackups": backups, "timestamp": _now_text()}
    return {"type": "file-history-snapshot", "snapshot": inner, "isSnapshotUpdate": False}


def _system(chance: random.Random) -> dict[str, Any]:
    return {"type": "system", "subtype": "turn_duration", "durationMs": chance.randint(900, 90_000)}


def _title(chance: random.Random) -> dict[str, Any]:
    return {"type": "ai-title", "aiTitle": prose(chance, 30).rstrip(".")}


def _mode(_: random.Random) -> dict[str, Any]:
    return {"type": "permission-mode", "permissionMode": "default"}


_MIX: tuple[tuple[Make, int], ...] = (
    (_tool_use, 164),
    (_tool_result, 164),
    (_progress, 143),
    (_thinking, 81),
    (_said, 72),
    (_attachment, 34),
    (_snapshot, 25),
    (_mode, 36),
    (_prompt, 18),
    (_system, 20),
    (_title, 9),
)
_MAKERS = [make for make, _ in _MIX]
_WEIGHTS = [weight for _, weight in _MIX]


def _now_text(ago_s: float = 0.0) -> str:
    return datetime.fromtimestamp(time.time() - ago_s, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def line(chance: random.Random, make: Make | None = None, ago_s: float = 0.0) -> bytes:
    """Return one record as a line, with the placeholders ``SESSION`` and ``PLACE`` still in it."""
    body = (make or chance.choices(_MAKERS, _WEIGHTS)[0])(chance)
    common = {
        "parentUuid": _identity(chance),
        "isSidechain": False,
        **body,
        "uuid": _identity(chance),
        "timestamp": _now_text(ago_s),
        "userType": "external",
        "entrypoint": "cli",
        "cwd": PLACE,
        "sessionId": SESSION,
        "version": CLIENT,
        "gitBranch": "main",
    }
    return json.dumps(common, separators=(",", ":")).encode() + b"\n"


def conversation(chance: random.Random, size: int) -> bytes:
    """Return a whole transcript of about *size* bytes, placeholders still in it."""
    lines = [line(chance, _prompt, 600.0), line(chance, _title, 600.0), line(chance, _said, 600.0)]
    left = size - sum(map(len, lines))
    while left > 0:
        lines.append(line(chance, ago_s=max(0.0, 500.0 * left / size)))
        left -= len(lines[-1])
    return b"".join(lines)


def made_out_to(template: bytes, session_id: str, project: Path) -> bytes:
    """Return *template* as a transcript of *session_id* that works in *project*."""
    place = json.dumps(str(project))[1:-1].encode()
    mark = session_id[: len(MARK)].encode()
    own = template.replace(SESSION.encode(), session_id.encode())
    return own.replace(MARK.encode(), mark).replace(PLACE.encode(), place)


def session_name(number: int) -> str:
    """Return a session id that is the same in every run."""
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def make_project(work: Path, number: int) -> Path:
    """Make a directory that is a git repository as far as looking goes."""
    project = work / f"project-{number:03d}"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return project


def folder_of(projects: Path, project: Path) -> Path:
    """Return where the client keeps the transcripts of *project*."""
    folder = projects / str(project).replace("/", "-")
    folder.mkdir(exist_ok=True)
    return folder


def lay_out(projects: Path, work: Path, *, count: int, sessions: int, templates: list[bytes]) -> list[Laid]:
    """Write *sessions* transcripts, dealt out to *count* projects, and return them."""
    laid = []
    roots = [make_project(work, number) for number in range(count)]
    folders = [folder_of(projects, root) for root in roots]
    for number in range(sessions):
        root, session_id = roots[number % count], session_name(number + 1)
        path = folders[number % count] / f"{session_id}.jsonl"
        path.write_bytes(made_out_to(templates[number % len(templates)], session_id, root))
        laid.append(Laid(path, root, session_id))
    return laid


def set_age(path: Path, age_s: float) -> None:
    """Make *path* look as if last changed *age_s* ago."""
    moment = time.time() - age_s
    os.utime(path, (moment, moment))
