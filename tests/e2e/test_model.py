"""The optional model with the real client: what is sent, when, at what cost, and what is done without it."""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.fake_api import Asked, FakeApi
from tests.e2e.fake_message import Answered, Hold, Say, Use
from tests.e2e.place import Place, RunClaude
from tests.e2e.running_flowd import RunningFlowd
from tests.support.waiting import wait_until

SESSION = "11111111-2222-4333-8444-555555555555"
OTHER = "22222222-2222-4333-8444-555555555555"
TASK = "Build a parser for the configuration format in parser.py"
MARK = "Word four fields"
ANSWER = {
    "goal": "A parser for the configuration format (parser.py)",
    "status": "in_progress",
    "now": "parser.py is written, nothing is committed",
    "next": ["Write tests for nested sections of parser.py"],
}
OUTPUT_TOKENS = 10


class ModelApi(FakeApi):
    """Tells the calls that flowd makes from those of the conversation, and answers them."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Answered] = []
        self.logged_tokens = 0
        # What a compaction waits for: with a real model it takes half a minute.
        self.before_compaction: Callable[[], None] = lambda: None

    def answer(self, asked: Asked) -> Answered:
        """Return the next of the answers for flowd, what the script says for the conversation."""
        if asked.is_compaction:
            self.before_compaction()
        if not is_flowds(asked):
            return super().answer(asked)
        self.asked.append(asked)
        step = self.answers.pop(0) if self.answers else Use("StructuredOutput", ANSWER, tokens=1900)
        self.logged_tokens += getattr(step, "tokens", 0) + OUTPUT_TOKENS * isinstance(step, Say | Use)
        return step

    def calls(self) -> list[Asked]:
        """Return the requests that flowd has caused."""
        return [asked for asked in self.asked if is_flowds(asked)]


def is_flowds(asked: Asked) -> bool:
    """Return True if flowd has caused a request, and not the conversation."""
    return MARK in json.dumps(asked.body.get("system", ""))


@pytest.fixture
def fake_api() -> Iterator[FakeApi]:
    """A Messages API that knows the calls of flowd."""
    with ModelApi() as api:
        yield api


@pytest.fixture
def model(fake_api: FakeApi) -> ModelApi:
    """The same, by its own type."""
    assert isinstance(fake_api, ModelApi)
    return fake_api


@pytest.fixture
def work(run_claude: RunClaude, fake_api: FakeApi, place: Place, flowd: RunningFlowd) -> Callable[..., None]:
    """Plays a session that writes a file and ends."""

    def play(session: str = SESSION, task: str = TASK, name: str = "parser.py") -> None:
        fake_api.script(
            Use("Write", {"file_path": str(place.project / name), "content": "def parse(): ...\n"}),
            Say("The parser is written. Next I will add tests for nested sections."),
        )
        ran = run_claude("-p", "--session-id", session, "--allowedTools", "Write", "--", task)
        assert ran.returncode == 0, ran.stderr
        wait_until(lambda: flowd.checkpoints("session-end", session) != [], "the end of the session is kept")

    return play


def switched_on(flowd: RunningFlowd, claude: Path | None = None) -> None:
    """Agree to the model; *claude* is installed where its own installer would put it."""
    if claude is not None:
        place = Path(flowd.environment["HOME"]) / ".local" / "bin"
        place.mkdir(parents=True)
        (place / "claude").symlink_to(claude)
    ran = flowd.flowd("model", "on", "--yes")
    assert ran.returncode == 0, ran.stderr


def meter(flowd: RunningFlowd) -> dict[str, Any]:
    """Return what ``flowd model status`` says."""
    found: dict[str, Any] = json.loads(flowd.flowd("model", "status", "--json").stdout)
    return found


def states(flowd: RunningFlowd) -> list[str]:
    """Return how the calls ended, the oldest first."""
    return column(flowd, "state")


def moments(flowd: RunningFlowd) -> list[str]:
    """Return the moments of the calls, the oldest first."""
    return column(flowd, "moment")


def column(flowd: RunningFlowd, name: str) -> list[str]:
    """Return one column of the calls, the oldest first."""
    with sqlite3.connect(f"file:{flowd.database}?mode=ro", uri=True) as connection:
        rows = connection.execute(f"select {name} from flow_summaries order by id").fetchall()
    connection.close()
    return [value for (value,) in rows]


def sink_is_done(flowd: RunningFlowd) -> bool:
    """Return True if the model's sink has looked at everything there is."""
    status = json.loads(flowd.flowd("status", "--json").stdout)
    sink = next(one for one in status["sinks"] if one["name"] == "model")
    return bool(sink["queue"] == 0 and sink["cursor"] == max(one["cursor"] for one in status["sinks"]))


def test_off_there_is_not_one_request(model: ModelApi, flowd: RunningFlowd, work: Any) -> None:
    work()
    wait_until(lambda: sink_is_done(flowd), "the sink has seen the end of the session")
    assert model.calls() == []
    assert states(flowd) == []
    assert "parser" in flowd.handoff()["goal"]


def test_on_there_is_one_small_request_for_a_moment(
    model: ModelApi, flowd: RunningFlowd, claude: Path, work: Any, place: Place
) -> None:
    switched_on(flowd, claude)
    work()
    wait_until(lambda: states(flowd) == ["answered"], "the model has answered")
    wait_until(lambda: flowd.handoff()["now"] == ANSWER["now"], "handoff.yaml has the model's words")
    (asked,) = model.calls()
    size = len(json.dumps(asked.body))
    assert size < 8000, size
    print(f"request: {size} bytes, system {len(json.dumps(asked.body['system']))}")
    # Clients of 2.1.326 send a placeholder beside it, which does nothing.
    assert {tool["name"] for tool in asked.body["tools"]} <= {"StructuredOutput", "DeferredToolPlaceholder"}
    assert asked.body["max_tokens"] == 1200
    preview = flowd.flowd("model", "preview").stdout.removesuffix("\n")
    assert json.dumps(preview, ensure_ascii=False)[1:-1] in json.dumps(
        asked.body["messages"], ensure_ascii=False
    )
    shown = json.loads(flowd.flow("show", "--json").stdout)["work"]
    assert shown["origins"] == {
        "goal": "model",
        "status": "model",
        "now": "model",
        "hypothesis": "rules",
        "outcome": "rules",
    }
    assert shown["steps"][0]["source"] == "model"
    used = meter(flowd)
    assert (used["calls_today"], used["tokens_today"]) == (1, 1900 + OUTPUT_TOKENS)
    projects = Path(place.environment["HOME"]) / ".claude" / "projects"
    assert [file.stem for file in projects.glob("*/*.jsonl")] == [SESSION]
    wait_until(lambda: sink_is_done(flowd), "the sink has seen the work's new fact")
    assert len(model.calls()) == 1


def test_the_same_digest_is_asked_for_once_and_the_meter_equals_the_log(
    model: ModelApi, flowd: RunningFlowd, claude: Path, work: Any, run_claude: RunClaude
) -> None:
    switched_on(flowd, claude)
    model.answers += [Use("StructuredOutput", ANSWER, tokens=many) for many in (1234, 77)]
    work()
    wait_until(lambda: states(flowd) == ["answered"], "the model has answered")
    run_claude("-p", "--resume", SESSION, "/compact keep the parser")
    wait_until(lambda: len(flowd.checkpoints("session-end", SESSION)) == 2, "the session has ended again")
    wait_until(lambda: sink_is_done(flowd), "the sink has seen everything")
    assert meter(flowd)["tokens_today"] == model.logged_tokens
    bodies = [json.dumps(asked.body["messages"]) for asked in model.calls()]
    assert len(bodies) == len(set(bodies))


def test_a_compacted_session_is_told_what_the_model_worded_before(
    model: ModelApi, flowd: RunningFlowd, claude: Path, place: Place, run_claude: RunClaude
) -> None:
    switched_on(flowd, claude)
    model.before_compaction = partial(
        wait_until, lambda: "answered" in states(flowd), "the model has answered"
    )
    model.script(
        Use("Write", {"file_path": str(place.project / "parser.py"), "content": "def parse(): ...\n"}),
        Use("Bash", {"command": "echo one"}, tokens=190_000),
        Say("The parser is written. Next I will add tests for nested sections."),
    )
    words = ("-p", "--session-id", SESSION, "--allowedTools", "Write", "Bash", "--", TASK)
    ran = run_claude(*words, CLAUDE_CODE_AUTO_COMPACT_WINDOW="100000")
    assert ran.returncode == 0, ran.stderr
    turn = model.turns_after_compaction()[0]
    for part in (ANSWER["goal"], ANSWER["now"], "worded by a model"):
        assert turn.count(str(part)) == 1, part
    wait_until(lambda: sink_is_done(flowd), "the sink has seen the end of the session")
    assert moments(flowd)[0] == "precompact"
    assert len(moments(flowd)) == len(set(moments(flowd))) == len(model.calls())
    assert meter(flowd)["tokens_today"] == model.logged_tokens


def test_at_the_cap_it_stops_and_says_so(
    model: ModelApi, flowd: RunningFlowd, claude: Path, work: Any, place: Place
) -> None:
    Path(place.environment["FLOWD_CONFIG"]).write_text("model: {tokens_per_day: 6000}\n")
    assert flowd.flowd("reload").returncode in (0, 2)
    flowd.stop()
    flowd.start()
    switched_on(flowd, claude)
    model.answers.append(Use("StructuredOutput", ANSWER, tokens=4000))
    work()
    wait_until(lambda: states(flowd) == ["answered"], "the model has answered")
    work(OTHER, "Write a lexer for the configuration format in lexer.py", "lexer.py")
    wait_until(lambda: states(flowd)[1:] == ["capped"], "the second moment is at the cap")
    assert len(model.calls()) == 1
    assert "model.tokens_per_day is 6000" in flowd.flowd("model", "status").stdout
    assert "stopped: model.tokens_per_day" in " ".join(flowd.flowd("status").stdout.split())


def test_without_the_client_the_rules_remain(
    model: ModelApi, flowd: RunningFlowd, work: Any, place: Place
) -> None:
    (place.home / "bin" / "claude").unlink()
    switched_on(flowd)
    work()
    wait_until(lambda: states(flowd) == ["failed"], "the call is given up")
    assert model.calls() == []
    used = meter(flowd)
    assert used["tokens_today"] == 0
    assert used["last_error"] == "Claude Code is not installed"
    assert "parser" in flowd.handoff()["goal"]


def test_a_client_that_hangs_is_ended_and_counted_as_reserved(
    model: ModelApi, flowd: RunningFlowd, claude: Path, work: Any, place: Place
) -> None:
    Path(place.environment["FLOWD_CONFIG"]).write_text("model: {timeout_s: 4}\n")
    flowd.stop()
    flowd.start()
    switched_on(flowd, claude)
    held = threading.Event()
    model.answers += [Hold(held)] * 20
    work()
    wait_until(lambda: states(flowd) == ["failed"], "the call is given up")
    held.set()
    used = meter(flowd)
    assert "did not end within 4 s" in used["last_error"]
    assert used["tokens_today"] > 1200
    assert flowd.handoff()["now"] != ANSWER["now"]


@pytest.mark.parametrize(
    "answer",
    [
        Say("I think the work goes well.", tokens=1700),
        Use("StructuredOutput", {**ANSWER, "status": "great"}, tokens=1700),
        Use("StructuredOutput", {"goal": ANSWER["goal"]}, tokens=1700),
    ],
    ids=["words", "wrong status", "fields missing"],
)
def test_a_malformed_answer_is_refused_and_counted(
    model: ModelApi, flowd: RunningFlowd, claude: Path, work: Any, answer: Answered
) -> None:
    switched_on(flowd, claude)
    model.answers += [answer] * 10
    work()
    wait_until(lambda: states(flowd) in (["refused"], ["failed"]), "the answer is refused")
    used = meter(flowd)
    print(
        f"requests: {len(model.calls())}, meter {used['tokens_today']}, log {model.logged_tokens}: ", end=""
    )
    print(used["last_error"])
    assert used["last_error"]
    assert used["tokens_today"] == model.logged_tokens > 0
    assert flowd.handoff()["now"] != ANSWER["now"]


def test_a_field_with_an_invented_file_is_refused(
    model: ModelApi, flowd: RunningFlowd, claude: Path, work: Any
) -> None:
    switched_on(flowd, claude)
    invented = {**ANSWER, "now": "src/invented.py is written", "next": ["Mend tokenizer.go", *ANSWER["next"]]}
    model.answers.append(Use("StructuredOutput", invented, tokens=1900))
    work()
    wait_until(lambda: states(flowd) == ["answered"], "the model has answered")
    wait_until(lambda: flowd.handoff()["goal"] == ANSWER["goal"], "the field that holds is taken")
    assert "invented" not in flowd.handoff()["now"]
    shown = json.loads(flowd.flow("show", "--json").stdout)["work"]
    assert "tokenizer.go" not in json.dumps(shown)
    refused = meter(flowd)["last_error"]
    assert "src/invented.py is not in the digest" in refused or refused == ""


def test_a_secret_is_masked_in_the_digest(
    model: ModelApi, flowd: RunningFlowd, claude: Path, work: Any, fake_api: FakeApi
) -> None:
    switched_on(flowd, claude)
    secret = "ghp_" + "a1B2" * 9
    work(task=f"{TASK}. The token of the registry is {secret}")
    wait_until(lambda: states(flowd) == ["answered"], "the model has answered")
    assert fake_api.saw(secret)
    (asked,) = model.calls()
    assert asked.count(secret) == 0


def test_a_second_daemon_on_the_same_core_db_asks_for_nothing(
    model: ModelApi, flowd: RunningFlowd, claude: Path, work: Any, place: Place
) -> None:
    switched_on(flowd, claude)
    elsewhere = {"FLOWD_RUNTIME_DIR": str(place.home / "run"), "FLOWD_STATE_DIR": str(place.home / "state2")}
    second = RunningFlowd({**place.environment, **elsewhere}, place.project)
    refused = second.flowd("run")
    assert refused.returncode == 1, refused.stderr
    work()
    wait_until(lambda: states(flowd) == ["answered"], "the model has answered")
    wait_until(lambda: sink_is_done(flowd), "the sink has seen everything")
    assert len(model.calls()) == 1
