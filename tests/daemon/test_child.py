"""A child the daemon keeps: ended with its group, never outliving a killed parent."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from flowd.daemon.child import Child, ChildEndedError

FAMILY = """
import os, subprocess, sys, time
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(os.getpid(), grandchild.pid, flush=True)
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(600)
"""


def pids(output: Path) -> list[int]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        words = output.read_text().split() if output.exists() else []
        if len(words) == 2:
            return [int(word) for word in words]
        time.sleep(0.01)
    raise AssertionError("the child did not come up")


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def wait_until_gone(*processes: int) -> None:
    deadline = time.monotonic() + 30
    while not all(is_gone(pid) for pid in processes):
        assert time.monotonic() < deadline, "still there"
        time.sleep(0.01)


def test_closing_ends_a_child_that_ignores_term_and_its_own_children(tmp_path: Path) -> None:
    output = tmp_path / "out"
    child = Child([sys.executable, "-c", FAMILY], output)
    thread = threading.Thread(target=child.run)
    thread.start()
    family = pids(output)
    assert child.is_running
    child.close()
    thread.join(30)
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
