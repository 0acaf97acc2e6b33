"""ProgressBar is for terminals: one line, redrawn, and nothing for anybody else."""

import os
import pty
import subprocess
import sys

PROGRAM = """
from flowd.system.progress import ProgressBar
progress = ProgressBar()
progress.step("copying", 1, 2)
progress.clear()
print("done")
"""


def test_a_terminal_sees_the_bar_and_an_empty_line_at_the_end() -> None:
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", PROGRAM], stderr=theirs, stdout=subprocess.DEVNULL, check=True)
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert "copying" in shown
    assert "1/2" in shown
    assert shown.endswith("\r\x1b[K")


def test_a_pipe_sees_nothing() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("done\n", "")
