"""A progress bar on a terminal; nothing elsewhere."""

import sys

_WIDTH = 30


class ProgressBar:
    """Redraws one line of standard error in place, when that is a terminal."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()

    def step(self, what: str, done: int, of: int) -> None:
        """Show that *done* of *of* pieces of *what* are done."""
        if self.shown:
            full = _WIDTH * done // max(1, of)
            bar = "#" * full + "." * (_WIDTH - full)
            self._draw(f"{what:<20} [{bar}] {done}/{of}")

    def clear(self) -> None:
        """Leave an empty line behind."""
        if self.shown:
            self._draw("")

    def _draw(self, line: str) -> None:
        sys.stderr.write("\r\x1b[K" + line)
        sys.stderr.flush()
