"""A wall clock that a test moves: sessions of a story are days apart, for the client and for flowd."""

import os
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
DAY_S = 86_400


def can_be_moved() -> bool:
    """Return True if programs can be given another clock here."""
    return sys.platform == "linux" and shutil.which("cc") is not None


class Clock:
    """The clock of every program that runs with ``variables``. It begins at the real time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._shift_file, library = folder / "shift", folder / "clock.so"
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True, capture_output=True)
        self.variables = {"LD_PRELOAD": str(library), "E2E_CLOCK": str(self._shift_file)}
        self._shift_s = 0
        self._shift_file.write_bytes(struct.pack("q", 0))

    def move_to(self, days_ago: float) -> None:
        """Set the clock to *days_ago*; programs that run notice it at once."""
        self._shift_s = -int(days_ago * DAY_S)
        with self._shift_file.open("r+b") as file:  # in place: programs have it mapped
            file.write(struct.pack("q", self._shift_s))

    def date_files(self, *folders: Path) -> None:
        """Give files that were changed since the story's now this now: the kernel has its own clock."""
        now = time.time() + self._shift_s
        for folder in folders:
            for path in folder.rglob("*"):
                if not path.is_symlink() and path.is_file() and path.stat().st_mtime > now:
                    os.utime(path, (now, now))
