"""JSON for programs to read, on standard output."""

import msgspec


def print_json(value: object) -> None:
    """Print *value*, indented."""
    print(msgspec.json.format(msgspec.json.encode(value)).decode())
