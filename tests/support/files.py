"""Writing to files the way Claude Code does."""

from pathlib import Path


def append(file: Path, data: bytes | str) -> None:
    """Add *data* to the end of *file*."""
    with file.open("ab") as stream:
        stream.write(data.encode() if isinstance(data, str) else data)
