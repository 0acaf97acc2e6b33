"""The hook program as the client runs it: a real process, real sockets, its budget, its silence."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from flowd.handoff import load_handoff
from flowd.hooks.command import TIMEOUTS_S, hook_program
from flowd.workspace.project import FOLDER
from tests.support.waiting import wait_until

DEADLINE_S = 60.0
BUDGETS = re.compile(r"^((?:START_)?)BUDGET_S, (?:START_)?ANSWER_S = .*$", re.MULTILINE)
SILENT_EVENTS = [event for event in TIMEOUTS_S if event != "SessionStart"]


def hook_with_budget(folder: Path, *, answer_s: float, budget_s: float) -> Path:
    """Return a copy of the hook program with other limits: a loaded machine needs more than the real ones."""
    shutil.copytree(hook_program().parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    program = folder / "program.py"
    text, found = BUDGETS.subn(rf"\1BUDGET_S, \1ANSWER_S = {budget_s}, {answer_s}", program.read_text())
    assert found == 2
    program.write_text(text)
    return folder / hook_program().name


class Scene:
    """A state directory, a project, and a way to run the hook in it."""

    def __init__(self, root: Path, runtime: Path) -> None:
        self.project = root / "project"
        self.project.mkdir()
        self.transcript = root / "s1.jsonl"
        self.transcript.touch()
        self.state = root / "state"
        self.socket = runtime / "flowd.sock"
        self.program = hook_with_budget(root / "hook", answer_s=DEADLINE_S, budget_s=2 * DEADLINE_S)
        self.environment = {
            "HOME": str(root / "home"),
            "PATH": os.environ["PATH"],
            "FLOWD_STATE_DIR": str(self.state),
            "FLOWD_DATA_DIR": str(root / "data"),
            "FLOWD_CONFIG": str(root / "config.yaml"),
            "CLAUDE_CODE_MESSAGING_TOKEN": "token-of-the-session",
        }

    def run(
        self, event: str, *more: str, stdin: bytes | None = None, **fields: Any
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run the hook for *event* to its end."""
        given = {
            "hook_event_name": event,
            "session_id": "s1",
            "cwd": str(self.project),
            "transcript_path": str(self.transcript),
            **fields,
        }
        return subprocess.run(
            [*self.command(), event, *more],
            input=json.dumps(given, indent=1).encode() if stdin is None else stdin,
            env=self.environment,
            capture_output=True,
            timeout=3 * DEADLINE_S,
            check=False,
        )

    def command(self) -> list[str]:
        """Return the hook's command line, without event."""
        options = [sys.executable, "-I", "-S", "-E", str(self.program)]
        return [*options, str(self.socket), str(self.state / "spool")]

    def log(self) -> list[str]:
        """Return the lines the hooks have logged."""
        return (self.state / "log" / "hooks.log").read_text().splitlines()

    def spooled(self) -> list[Path]:
        """Return what waits in the spool."""
        return sorted((self.state / "spool").glob("*.json"))


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A place of the test's own; the socket's path is short enough for the kernel."""
    runtime = Path(tempfile.mkdtemp(prefix="flowd-test-", dir="/tmp"))
    yield Scene(tmp_path, runtime)
    shutil.rmtree(runtime)


@pytest.fixture
def impatient(scene: Scene, tmp_path: Path) -> Scene:
    """A scene whose hook soon gives up waiting for an answer, and then has all the time it needs."""
    scene.program = hook_with_budget(tmp_path / "impatient", answer_s=0.2, budget_s=DEADLINE_S)
    return scene


@contextmanager
def listening(path: Path, answer: Callable[[socket.socket, bytes], None]) -> Iterator[list[bytes]]:
    """Serve *answer* at *path*; give the block the lines that came."""
    lines: list[bytes] = []
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    server.listen(8)

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            line = b""
            while not line.endswith(b"\n"):
                line += connection.recv(65536)
            lines.append(line)
            answer(connection, line)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield lines
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(DEADLINE_S)
        path.unlink(missing_ok=True)


def saying(answer: bytes) -> Callable[[socket.socket, bytes], None]:
    """Return a server that says *answer* and hangs up."""

    def say(connection: socket.socket, _: bytes) -> None:
        connection.sendall(answer)
        connection.close()

    return say


@pytest.mark.parametrize("event", SILENT_EVENTS)
def test_an_event_is_passed_on_as_it_came_and_nothing_is_printed(scene: Scene, event: str) -> None:
    with listening(scene.socket, saying(b"not for this event")) as lines:
        ran = scene.run(event, prompt="two\nlines")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    (line,) = lines
    told = json.loads(line)
    assert told["verb"] == "hook"
    assert told["input"]["hook_event_name"] == event
    assert told["input"]["prompt"] == "two\nlines"


def test_a_starting_session_is_told_exactly_what_the_daemon_says(scene: Scene) -> None:
    said = json.dumps(
        {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "é" * 40_000}}
    )
    with listening(scene.socket, saying(said.encode())):
        ran = scene.run("SessionStart", source="startup")
    assert ran.stdout == said.encode()
    assert ran.returncode == 0


def test_the_daemon_hears_that_its_answer_was_printed(scene: Scene) -> None:
    confirmed: list[bytes] = []

    def say(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"{}")
        connection.shutdown(socket.SHUT_WR)
        confirmed.append(connection.recv(10))
        connection.close()

    with listening(scene.socket, say):
        assert scene.run("SessionStart").stdout == b"{}"
    assert confirmed == [b"\n"]


def test_a_session_hears_that_flowd_is_hung_when_nothing_can_be_composed_in_time(
    scene: Scene, tmp_path: Path
) -> None:
    scene.program = hook_with_budget(tmp_path / "hasty", answer_s=0.2, budget_s=1.5)
    os.mkfifo(tmp_path / "settings")  # the child that composes the briefing waits for its settings
    scene.environment["FLOWD_CONFIG"] = str(tmp_path / "settings")
    log = scene.state / "log" / "hooks.log"
    log.parent.mkdir(parents=True)
    log.write_text(
        "2026-03-01T10:00:00Z Stop delivered 9.0 ms\n2026-03-01T10:00:09Z Stop hung-spooled 9 ms\n"
    )
    held: list[socket.socket] = []
    with listening(scene.socket, lambda connection, _: held.append(connection)):
        answer = json.loads(scene.run("SessionStart").stdout)
        scene.environment["CLAUDE_CODE_ENTRYPOINT"] = "sdk-cli"
        to_a_program = scene.run("SessionStart").stdout
    for connection in held:
        connection.close()
    said = answer["hookSpecificOutput"]["additionalContext"]
    assert "flowd has not answered since 2026-03-01T10:00:00Z" in said
    assert answer["systemMessage"] in said
    assert to_a_program == b""
    assert scene.log()[-1].split()[2] == "hung-late"


def test_the_log_tells_event_outcome_and_duration_and_nothing_else(scene: Scene) -> None:
    with listening(scene.socket, saying(b"")):
        scene.run("Stop", last_assistant_message="private words")
    (line,) = scene.log()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ Stop delivered \d+\.\d ms", line)
    assert (scene.state / "log" / "hooks.log").stat().st_mode & 0o777 == 0o600


def test_the_log_does_not_grow_for_ever(scene: Scene) -> None:
    log = scene.state / "log" / "hooks.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"x" * (256 << 10))
    with listening(scene.socket, saying(b"")):
        scene.run("Stop")
        scene.run("Stop")
    assert len(scene.log()) == 1
    assert log.with_name("hooks.log.1").stat().st_size > 256 << 10


def test_a_daemon_started_elsewhere_is_found_by_its_lock_file(scene: Scene) -> None:
    scene.state.mkdir()
    elsewhere = scene.socket.with_name("other.sock")
    (scene.state / "flowd.lock").write_text(
        json.dumps({"pid": 1, "socket": str(elsewhere)}, separators=(",", ":"))
    )
    with listening(elsewhere, saying(b"")) as lines:
        scene.run("Stop")
    assert len(lines) == 1


@pytest.mark.parametrize("event", ["PreCompact", "Stop", "SessionEnd"])
def test_without_a_daemon_the_event_is_spooled_and_the_state_saved(scene: Scene, event: str) -> None:
    ran = scene.run(event, last_assistant_message="kept")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    (file,) = scene.spooled()
    assert json.loads(file.read_bytes())["last_assistant_message"] == "kept"
    assert file.stat().st_mode & 0o777 == 0o600
    wait_until(lambda: scene.log()[-1].endswith("fallback saved"))
    handoff = load_handoff(scene.project)
    assert handoff is not None
    assert (handoff["goal"], handoff["now"]) == ("Working on project", "Session in progress")


def test_the_save_without_a_daemon_leaves_a_persons_words_alone(scene: Scene) -> None:
    (scene.project / FOLDER).mkdir()
    file = scene.project / FOLDER / "handoff.yaml"
    file.write_text("goal: Mine\nstatus: blocked\nnow: Waiting\nhypothesis: Cache\nfiles: [a.py]\nextra: 1\n")
    scene.run("PreCompact")
    wait_until(lambda: scene.log()[-1].endswith("fallback saved"))
    handoff = load_handoff(scene.project)
    assert handoff is not None
    assert handoff.pop("timestamp")
    assert handoff == {
        "goal": "Mine",
        "status": "blocked",
        "now": "Waiting",
        "hypothesis": "Cache",
        "files": ["a.py"],
        "extra": 1,
    }


def test_the_project_is_the_one_of_the_event_and_not_the_directory_the_hook_runs_in(scene: Scene) -> None:
    subprocess.run(["git", "init", "-q", "-b", "topic", str(scene.project)], check=True)
    (scene.project / "sub").mkdir()
    (scene.project / "sub" / "new.py").touch()
    scene.run("PreCompact", cwd=str(scene.project / "sub"))
    wait_until(lambda: scene.log()[-1].endswith("fallback saved"))
    handoff = load_handoff(scene.project)
    assert handoff is not None
    assert (handoff["branch"], handoff["files"]) == ("topic", ["sub/"])
    assert not (scene.project / "sub" / FOLDER).exists()


def test_secrets_do_not_stay_in_the_spool(scene: Scene) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    scene.run("Stop", last_assistant_message=f"the token is {secret}")
    wait_until(lambda: " fallback " in scene.log()[-1])
    (file,) = scene.spooled()
    assert secret not in file.read_text()
    assert "the token is" in file.read_text()


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SubagentStop", "PostCompact"])
def test_what_the_transcript_tells_anyway_is_not_spooled(scene: Scene, event: str) -> None:
    scene.run(event, prompt="words")
    assert scene.spooled() == []
    assert scene.log()[-1].split()[1:3] == [event, "away-dropped"]


@pytest.mark.parametrize("event", list(TIMEOUTS_S))
def test_a_silent_daemon_costs_no_more_than_the_budget(impatient: Scene, event: str) -> None:
    held: list[socket.socket] = []
    with listening(impatient.socket, lambda connection, _: held.append(connection)):
        ran = impatient.run(event)
    for connection in held:
        connection.close()
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert " hung-" in impatient.log()[0]
    assert len(impatient.spooled()) == (event in ("PreCompact", "Stop", "SessionEnd"))


def test_a_daemon_that_takes_no_connections_costs_no_more_than_the_budget(impatient: Scene) -> None:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(impatient.socket))
    server.listen(0)
    waiting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    waiting.connect(str(impatient.socket))
    ran = impatient.run("PreCompact")
    assert ran.returncode == 0
    assert len(impatient.spooled()) == 1
    waiting.close()
    server.close()


def test_an_input_that_never_ends_costs_no_more_than_the_budget(scene: Scene) -> None:
    scene.program = hook_program()
    process = subprocess.Popen([*scene.command(), "Stop"], env=scene.environment, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b'{"never"')
    process.stdin.flush()
    assert process.wait(DEADLINE_S) == 0
    process.stdin.close()
    assert scene.spooled() == []


def test_a_daemon_that_does_not_know_hooks_counts_as_away(scene: Scene) -> None:
    with listening(scene.socket, saying(b'{"ok":false,"error":"unknown request"}\n')):
        ran = scene.run("PreCompact")
        start = scene.run("SessionStart")
    assert ran.stdout == b""
    assert b'"ok"' not in start.stdout
    assert len(scene.spooled()) == 1


@pytest.mark.parametrize("stdin", [b"", b" \n", b"not json", b"\xff\xfe{", b'{"cwd": 3}'])
def test_strange_input_never_fails_the_client(scene: Scene, stdin: bytes) -> None:
    ran = scene.run("PreCompact", stdin=stdin)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_a_state_directory_that_cannot_be_written_never_fails_the_client(scene: Scene) -> None:
    scene.state.write_text("in the way")
    ran = scene.run("PreCompact")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_a_child_sees_nothing_of_the_sessions_own_variables(scene: Scene, tmp_path: Path) -> None:
    """The interpreter that the hook starts again is replaced by one that tells what it was given."""
    told = tmp_path / "told"
    stand_in = tmp_path / "python"
    stand_in.write_text(
        f'#!/bin/sh\ncase "$*" in *fallback*) {{ echo "$*"; env; }} > {told}.new; mv {told}.new {told};;'
        f' *) exec {sys.executable} "$@";; esac\n'
    )
    stand_in.chmod(0o755)
    code = "import sys; sys.executable = sys.argv.pop(1); sys.argv.pop(0); import runpy; "
    code += "runpy.run_path(sys.argv[0], run_name='__main__')"
    given = json.dumps({"hook_event_name": "PreCompact", "cwd": str(scene.project)}).encode()
    words = [sys.executable, "-c", code, str(stand_in), *scene.command()[4:], "PreCompact"]
    subprocess.run(words, input=given, env=scene.environment, check=True)
    wait_until(told.exists)
    first, *variables = told.read_text().splitlines()
    assert first.startswith("-I -m flowd.hooks.fallback ")
    assert not [line for line in variables if "token-of-the-session" in line]
    assert f"FLOWD_STATE_DIR={scene.state}" in variables


@pytest.mark.parametrize("command", ["~/hook.sh||: flowd", "x # flowd-hook Stop"])
def test_the_plugin_stands_back_where_the_settings_have_the_hook(
    scene: Scene, tmp_path: Path, command: str
) -> None:
    settings = tmp_path / "home" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    with listening(scene.socket, saying(b"")) as lines:
        scene.run("Stop", "plugin")
        assert len(lines) == 1
        settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"command": command}]}]}}))
        scene.run("Stop", "plugin")
        assert len(lines) == 1
    assert [line.split()[2] for line in scene.log()] == ["delivered", "left-to-settings"]


def test_without_a_word_about_it_the_event_is_taken_from_the_input(scene: Scene) -> None:
    """Words of the person or the model may name another event; inside a text their quotes are escaped."""
    said = json.dumps({"prompt": '"hook_event_name": "SessionStart"', "hook_event_name": "PreCompact"})
    with listening(scene.socket, saying(b"not for this event")):
        ran = subprocess.run(
            scene.command(), input=said.encode(), env=scene.environment, capture_output=True, check=True
        )
    assert ran.stdout == b""
    assert scene.log()[-1].split()[1:3] == ["PreCompact", "delivered"]


@pytest.mark.parametrize(
    ("entrypoint", "said", "told"),
    [
        ("sdk-cli", b'{"hook_event_name": "Stop"}', "sdk-cli"),
        ("sdk-cli", b' {\n "entrypoint": "cli"}', "cli"),
        ("sdk-cli", b"{}", None),
        ('x","session_id":"other', b'{"hook_event_name": "Stop"}', None),
        ("", b'{"hook_event_name": "Stop"}', None),
    ],
)
def test_how_the_client_was_started_is_told_with_the_event(
    scene: Scene, entrypoint: str, said: bytes, told: str | None
) -> None:
    scene.environment["CLAUDE_CODE_ENTRYPOINT"] = entrypoint
    with listening(scene.socket, saying(b"")) as lines:
        scene.run("Stop", stdin=said)
    (line,) = lines
    assert json.loads(line)["input"].get("entrypoint") == told


@pytest.mark.parametrize("event", ["PreCompact", "Stop", "SessionEnd"])
def test_a_session_that_keeps_no_transcript_leaves_nothing_behind(scene: Scene, event: str) -> None:
    """`claude -p --no-session-persistence` names a transcript that it never writes."""
    scene.transcript.unlink()
    scene.run(event, last_assistant_message="between us")
    wait_until(lambda: scene.log()[-1].endswith("fallback no-transcript"))
    assert scene.spooled() == []
    assert list(scene.project.iterdir()) == []


def test_a_transcript_that_comes_a_moment_after_its_first_hook_is_waited_for(scene: Scene) -> None:
    scene.transcript.unlink()
    process = subprocess.Popen([*scene.command(), "Stop"], env=scene.environment, stdin=subprocess.PIPE)
    said = {"hook_event_name": "Stop", "cwd": str(scene.project), "transcript_path": str(scene.transcript)}
    process.communicate(json.dumps(said).encode(), DEADLINE_S)
    scene.transcript.touch()
    wait_until(lambda: scene.log()[-1].endswith("fallback saved"))
    assert len(scene.spooled()) == 1


@pytest.mark.parametrize("fields", [{"transcript_path": ""}, {"entrypoint": "sdk-cli"}])
def test_what_may_be_nobodys_work_is_left_to_the_daemon(scene: Scene, fields: dict[str, Any]) -> None:
    scene.run("Stop", **fields)
    wait_until(lambda: scene.log()[-1].endswith("fallback left-to-daemon"))
    assert len(scene.spooled()) == 1
    assert list(scene.project.iterdir()) == []


def test_in_a_client_that_flowd_itself_started_it_does_nothing(scene: Scene) -> None:
    scene.environment["FLOWD_CHILD"] = "1"
    ran = scene.run("SessionEnd")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert not (scene.state / "spool").exists()
    assert " own-session " in (scene.state / "log" / "hooks.log").read_text()
