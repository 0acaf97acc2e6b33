"""A line on a terminal that says what is being measured; nothing elsewhere."""

import sys

_WIDTH = 30


class Progress:
    """Redraws one line of standard error in place."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def step(self, what: str, done: int, of: int) -> None:
        """Say that *done* of *of* pieces of *what* are behind us."""
        if self._shown:
            full = _WIDTH * done // max(1, of)
            bar = "#" * full + "." * (_WIDTH - full)
            print(f"\r\x1b[K{what:<20} [{bar}] {done}/{of}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave an empty line behind."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
