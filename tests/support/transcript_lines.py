"""Transcripts as Claude Code writes them."""

import json
from pathlib import Path
from typing import Any


def line(number: int = 1, session: str = "s1", **fields: Any) -> bytes:
    """Return one complete user record."""
    record = {
        "type": "user",
        "uuid": f"{session}-{number}",
        "sessionId": session,
        "timestamp": f"2026-01-02T03:{number // 60 % 60:02}:{number % 60:02}Z",
        "message": {"role": "user", "content": f"Please do step {number} – naïve 🙂"},
        **fields,
    }
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def lines(first: int, last: int, session: str = "s1", **fields: Any) -> bytes:
    """Return the records *first* to *last*."""
    return b"".join(line(number, session, **fields) for number in range(first, last + 1))


def append(file: Path, data: bytes | str) -> None:
    """Add *data* to the end of *file*."""
    with file.open("ab") as stream:
        stream.write(data.encode() if isinstance(data, str) else data)
