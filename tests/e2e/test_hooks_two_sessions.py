"""Sessions that end without a word, and sessions at work beside each other."""

import json
import threading
from pathlib import Path

from tests.e2e.fake_api import Asked, FakeApi
from tests.e2e.fake_message import Hold, Say, Step, Use
from tests.e2e.place import Place, RunClaude, StartClaude
from tests.e2e.running_flowd import RunningFlowd, kill_group
from tests.support.waiting import wait_until

FIRST = "11111111-2222-4333-8444-555555555555"
SECOND = "66666666-7777-4888-9999-aaaaaaaaaaaa"
PARSER = "Build a parser for the configuration format"
DOCUMENTS = "Write the documentation of the command line"


def written(file: Path) -> Step:
    """Return the model's call of the tool that writes *file*."""
    return Use("Write", {"file_path": str(file), "content": "one line\n"})


def told(asked: Asked) -> str:
    """Return what flowd told the model in this request."""
    _, _, rest = json.dumps(asked.body).partition("<flow-guardian-context>")
    return rest.partition("</flow-guardian-context>")[0]


def test_a_killed_client_is_found_unfinished_and_the_next_one_told(
    start_claude: StartClaude, run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    released = threading.Event()
    fake_api.script(written(place.project / "parser.py"), Hold(released))
    client = start_claude("-p", "--session-id", FIRST, "--allowedTools", "Write", "--", PARSER)
    wait_until(lambda: flowd.handoff().get("files") == ["parser.py"], "the work of the session is seen")
    wait_until(lambda: len(fake_api.turns()) == 2, "the client waits for the model")
    kill_group(client)
    released.set()
    assert not any(line.split()[1] == "SessionEnd" for line in flowd.hook_log())
    fake_api.script(Say("I see."))
    run_claude("-p", "--session-id", SECOND, "What was going on?")
    (turn,) = [asked for asked in fake_api.turns() if "What was going on?" in json.dumps(asked.body)]
    assert PARSER in told(turn)
    assert "parser.py" in told(turn)
    assert "left unfinished" in told(turn)
    sessions = json.loads(flowd.flow("sessions", "--json").stdout)["sessions"]
    assert {each["session_id"]: each["phase"] for each in sessions} == {FIRST: "unfinished", SECOND: "ended"}


def test_two_sessions_at_once_keep_their_states_apart_and_a_persons_words(
    start_claude: StartClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    hold_first, hold_second = threading.Event(), threading.Event()
    fake_api.script(written(place.project / "parser.py"), Hold(hold_first))
    first = start_claude("-p", "--session-id", FIRST, "--allowedTools", "Write", "--", PARSER)
    wait_until(lambda: len(fake_api.turns()) == 2, "the first session has written its file")
    fake_api.script(written(place.project / "manual.md"), Hold(hold_second))
    second = start_claude("-p", "--session-id", SECOND, "--allowedTools", "Write", "--", DOCUMENTS)
    wait_until(lambda: len(fake_api.turns()) == 4, "the second session has written its file")
    saved = flowd.flow("save", "Release first", "--goal", "Ship version two")
    assert saved.returncode == 0, saved.stderr
    fake_api.script(Say("The parser is done."))
    hold_first.set()
    assert first.wait(60) == 0
    wait_until(lambda: flowd.checkpoints("session-end", FIRST), "the end of the first is kept")
    fake_api.script(written(place.project / "manual.html"), Say("The manual is done."))
    hold_second.set()
    assert second.wait(60) == 0
    wait_until(lambda: flowd.checkpoints("session-end", SECOND), "the end of the second is kept")
    files = [sorted(body["work"]["files"]) for body in flowd.facts("work")]
    assert sorted(files) == [["manual.html", "manual.md"], ["parser.py"]]
    assert "Ship version two" in {body["work"]["goal"] for body in flowd.facts("work")}
