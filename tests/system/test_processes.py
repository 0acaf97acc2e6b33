"""Running somebody else's program: two streams, a deadline for the whole group, nothing left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flowd.system.processes import DeadlineExceededError, run_program, running_programs, scrubbed_environment
from tests.support.waiting import wait_until

FAMILY = """
import os, pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("pids.new").write_text(f"{os.getpid()} {child.pid}")
os.rename("pids.new", "pids")
if len(sys.argv) > 1:
    time.sleep(600)
"""


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-c", code, *words]


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True).stdout[:1] in (
        b"",
        b"Z",
    )


def wait_until_gone(pids: list[int]) -> None:
    wait_until(lambda: all(map(is_gone, pids)), "they are gone")


def family(folder: Path) -> list[int]:
    return [int(word) for word in (folder / "pids").read_text().split()]


def test_the_streams_are_told_apart_and_the_place_is_the_given_one(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd()); print('oops', file=sys.stderr); sys.exit(3)"
    finished = run_program(python(code), cwd=str(tmp_path), env=os.environ, timeout_s=60)
    assert finished == (3, f"{tmp_path}\n", "oops\n")


@pytest.mark.parametrize("given", [b"", b"a line\n", b"x" * 300_000])
def test_a_program_gets_its_input_and_then_the_end_of_it(tmp_path: Path, given: bytes) -> None:
    code = "import sys; print(len(sys.stdin.buffer.read()))"
    finished = run_program(python(code), cwd=str(tmp_path), env=os.environ, timeout_s=60, stdin=given)
    assert finished == (0, f"{len(given)}\n", "")


def test_a_program_that_ignores_term_is_ended_with_its_children(tmp_path: Path) -> None:
    with pytest.raises(DeadlineExceededError, match="did not end within 4 s"):
        run_program(python(FAMILY, "hang"), cwd=str(tmp_path), env=os.environ, timeout_s=4)
    wait_until_gone(family(tmp_path))
    assert running_programs() == 0


def test_what_a_finished_program_left_running_is_ended_too(tmp_path: Path) -> None:
    assert run_program(python(FAMILY), cwd=str(tmp_path), env=os.environ, timeout_s=60).code == 0
    wait_until_gone(family(tmp_path))


def test_bytes_that_are_no_text_do_not_stop_the_reading(tmp_path: Path) -> None:
    code = r"import sys; sys.stdout.buffer.write(b'a\xffb')"
    assert run_program(python(code), cwd=str(tmp_path), env=os.environ, timeout_s=60).stdout == "a\ufffdb"


def test_a_process_that_stops_ends_what_runs_and_starts_nothing_more(tmp_path: Path) -> None:
    outer = f"""
import os, pathlib, sys, threading, time
from flowd.system.processes import end_programs, run_program
command = [sys.executable, "-c", {FAMILY!r}, "hang"]
run = lambda: print(run_program(command, cwd=".", env=os.environ, timeout_s=600).code, flush=True)
thread = threading.Thread(target=run)
thread.start()
while not pathlib.Path("pids").exists():
    time.sleep(0.01)
end_programs()
thread.join()
try:
    run()
except InterruptedError as error:
    print(error)
"""
    ended = subprocess.run(python(outer), cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.stdout == "-9\nflowd is stopping\n", ended.stderr
    wait_until_gone(family(tmp_path))


def test_a_child_inherits_nothing_of_a_claude_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_MESSAGING_TOKEN", "x")
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/c")
    kept = {name for name in scrubbed_environment() if name.startswith("CLAUDE")}
    assert kept == {"CLAUDE_CONFIG_DIR"}
    assert scrubbed_environment().keys() < os.environ.keys()
