"""A child the daemon keeps: ended with its group, never outliving a killed parent."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flowd.daemon.child import Child, ChildEndedError
from tests.support.waiting import DEADLINE_S, wait_until

FAMILY = """
import os, signal, subprocess, sys, time
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), grandchild.pid, flush=True)
time.sleep(600)
"""


def pids(output: Path) -> list[int]:
    wait_until(lambda: output.exists() and output.read_text().endswith("\n"), "the child has come up")
    first, second = output.read_text().split()
    return [int(first), int(second)]


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def wait_until_gone(*processes: int) -> None:
    wait_until(lambda: all(is_gone(pid) for pid in processes), "they are gone")


def test_closing_ends_a_child_that_ignores_term_and_its_own_children(tmp_path: Path) -> None:
    output = tmp_path / "out"
    child = Child([sys.executable, "-c", FAMILY], output)
    thread = threading.Thread(target=child.run)
    thread.start()
    family = pids(output)
    # It speaks before the thread that started it has heard of its start.
    wait_until(lambda: child.is_running, "the child runs")
    child.close()
    thread.join(DEADLINE_S)
    wait_until_gone(*family)
    assert not child.is_running


def test_the_end_of_a_child_is_told_as_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChildEndedError, match="ended with code 3"):
        Child([sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "out").run()


def test_a_child_closed_before_its_start_never_starts(tmp_path: Path) -> None:
    child = Child([sys.executable, "-c", "print('up')"], tmp_path / "out")
    child.close()
    child.run()
    assert not (tmp_path / "out").exists()


def test_a_child_follows_its_killed_parent(tmp_path: Path) -> None:
    output = tmp_path / "out"
    inner = (
        "from flowd.daemon.child import follow_parent; import os, time; "
        "follow_parent(); print(os.getpid(), 0, flush=True); time.sleep(600)"
    )
    outer = (
        "import sys; from pathlib import Path; from flowd.daemon.child import Child; "
        f"Child([sys.executable, '-c', {inner!r}], Path({str(output)!r})).run()"
    )
    parent = subprocess.Popen([sys.executable, "-c", outer])
    grandchild = pids(output)[0]
    parent.kill()
    parent.wait()
    wait_until_gone(grandchild)
