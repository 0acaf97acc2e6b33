"""``claude -p`` is known to be nobody's session; one that keeps no transcript leaves nothing at all."""

import sqlite3

from tests.e2e.fake_api import FakeApi
from tests.e2e.fake_message import Say, Use
from tests.e2e.place import Place, RunClaude
from tests.e2e.running_flowd import RunningFlowd
from tests.support.waiting import wait_until

PERSON = "11111111-2222-4333-8444-555555555555"
PROGRAM = "66666666-2222-4333-8444-555555555555"
OPENING = "<flow-guardian-context>"
SDK = {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}


def work(run_claude: RunClaude, fake_api: FakeApi, place: Place) -> None:
    """Have a person's session do some work."""
    write = {"file_path": str(place.project / "parser.py"), "content": "def parse(): ...\n"}
    fake_api.script(Use("Write", write), Say("The parser is written."))
    ran = run_claude("-p", "--session-id", PERSON, "--allowedTools", "Write", "--", "Build a parser for TOML")
    assert ran.returncode == 0, ran.stderr


def ask(run_claude: RunClaude, fake_api: FakeApi, *words: str) -> None:
    """Have a program ask something."""
    fake_api.script(Say("4"))
    ran = run_claude("-p", *words, "--session-id", PROGRAM, "--", "What is 2+2?", **SDK)
    assert ran.returncode == 0, ran.stderr


def rows_naming(flowd: RunningFlowd, session: str) -> list[str]:
    """Return the tables of core.db that name *session* anywhere."""
    with sqlite3.connect(f"file:{flowd.database}?mode=ro", uri=True) as connection:
        names = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
        rows = {name: connection.execute(f"select * from {name}").fetchall() for (name,) in names}
    connection.close()
    return [name for name, found in rows.items() if session in str(found)]


def test_a_session_of_a_program_is_told_from_one_of_a_person(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    work(run_claude, fake_api, place)
    wait_until(lambda: flowd.checkpoints("session-end", PERSON), "the person's session is kept")
    ask(run_claude, fake_api)
    wait_until(lambda: flowd.checkpoints("session-end", PROGRAM), "the program's session is kept")
    assert not flowd.checkpoints("session-end", PERSON)[-1]["state"].get("headless")
    assert flowd.checkpoints("session-end", PROGRAM)[-1]["state"]["headless"]
    assert not [asked for asked in fake_api.turns() if asked.count(OPENING)]


def test_a_program_may_be_told_what_was_going_on_when_it_is_asked_for(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    flowd.stop()
    (place.home / "flowd.yaml").write_text("inject:\n  headless: true\n")
    flowd.start()
    work(run_claude, fake_api, place)
    wait_until(lambda: flowd.checkpoints("session-end", PERSON), "the person's session is kept")
    ask(run_claude, fake_api)
    assert fake_api.turns()[-1].count(OPENING) == 1


def test_a_session_that_keeps_no_transcript_leaves_nothing(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    work(run_claude, fake_api, place)
    wait_until(lambda: flowd.checkpoints("session-end", PERSON), "the person's session is kept")
    wait_until(lambda: flowd.handoff().get("files") == ["parser.py"], "handoff.yaml shows the person's work")
    before = flowd.handoff()
    told = len(flowd.hook_log())
    ask(run_claude, fake_api, "--no-session-persistence")
    events = [line.split()[1] for line in flowd.hook_log()[told:]]
    assert events[-1] == "SessionEnd"
    wait_until(lambda: flowd.log().count("hook_dropped") == 2, "the daemon has given up Stop and SessionEnd")
    for field in ("goal", "files", "session_id", "branch"):
        assert flowd.handoff()[field] == before[field]
    assert rows_naming(flowd, PROGRAM) == []
