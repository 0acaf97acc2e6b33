"""A Claude Code session beside a real daemon: its hooks and its transcript."""

import json
import socket
from pathlib import Path
from typing import Any

from tests.support.daemon_home import DaemonHome
from tests.support.transcript_lines import append, line
from tests.support.waiting import DEADLINE_S


def send_hook(home: DaemonHome, **fields: Any) -> str:
    """Do what the hook program does: send a line, read everything, say that it is printed."""
    return exchange_hook(home, fields, is_printed=True)


def exchange_hook(home: DaemonHome, fields: dict[str, Any], *, is_printed: bool) -> str:
    """Send one hook's input and return the answer, which is confirmed if it *is_printed*."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(DEADLINE_S)
        connection.connect(str(home.paths.socket))
        connection.sendall(json.dumps({"verb": "hook", "input": fields}).encode() + b"\n")
        answer = b""
        while received := connection.recv(65536):
            answer += received
        if answer and is_printed:
            connection.sendall(b"\n")  # printed
    return answer.decode()


def write_record(home: DaemonHome, project: Path, session: str, number: int = 1) -> Path:
    """Append one record to the transcript of *session*."""
    folder = home.claude_dir / "projects" / "-shop"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    append(path, line(number, session, cwd=str(project)))
    return path
