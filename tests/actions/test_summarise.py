"""A model is asked only with consent, within the cap, once for each digest; without it the rules remain."""

import json
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowd.actions.context import Context
from flowd.actions.summarise import Outcome, model_status, preview, summarise, switch_off, switch_on
from flowd.actions.works import WorkUpdater, open_works
from flowd.config.paths import resolve_paths
from flowd.model.facts import WorkChanged, state_fact
from flowd.model.session import Evidence, SessionState, TurnSummary
from flowd.store.journal import Batch, Journal
from flowd.store.summaries import Summaries

ANSWER = {
    "goal": "A parser for orders",
    "status": "in_progress",
    "now": "parser.py is written",
    "next": ["Write tests for parser.py"],
}
RECORDING = """\
import json, os, pathlib, sys
here = pathlib.Path(sys.argv[1])
with open(here / "calls", "a") as calls:
    calls.write(json.dumps({"input": sys.stdin.read(), "cwd": os.getcwd(), "left": os.listdir(),
                            "child": os.environ.get("FLOWD_CHILD")}) + "\\n")
pathlib.Path("left-behind").mkdir()
sys.stdout.write((here / "answer").read_text())
sys.exit(int((here / "code").read_text()))
"""


class Program:
    """A model's stand-in: it records what it gets and prints what the test says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "program.py").write_text(RECORDING)
        self.prints(json.dumps(ANSWER))

    def prints(self, text: str, code: int = 0) -> None:
        """Print *text* at the next call."""
        (self.folder / "answer").write_text(text)
        (self.folder / "code").write_text(str(code))

    @property
    def calls(self) -> list[dict[str, object]]:
        """What it got, call by call."""
        file = self.folder / "calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def settings(self, **more: object) -> None:
        """Name this program in config.yaml."""
        command = [sys.executable, str(self.folder / "program.py"), str(self.folder)]
        file = resolve_paths().config_file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"model": {"command": command, **more}}))


@pytest.fixture
def program(tmp_path: Path) -> Program:
    folder = tmp_path / "program"
    folder.mkdir()
    made = Program(folder)
    made.settings()
    return made


@pytest.fixture
def context(program: Program) -> Iterator[Context]:
    with Context() as opened:
        yield opened


def worked(context: Context, project: Path, requests: int = 1, result: str = "parser.py is done") -> str:
    """Have a session work on the project; return its id."""
    now = time.time()
    turns = tuple(
        TurnSummary("Write a parser for orders", result, now, is_done=True) for _ in range(requests)
    )
    evidence = Evidence(
        topic="Write a parser for orders", request="Write tests", requests=requests, turns=turns, todos=1
    )
    state = SessionState(
        session_id="s1",
        project=str(project),
        started_at=now - 60,
        last_activity_at=now,
        goal="Write a parser",
        now="by rules",
        files=("parser.py",),
        evidence=evidence,
    )
    batch = Batch()
    batch.facts.append(state_fact(state))
    WorkUpdater(context.database).update(batch)
    Journal(context.database).commit(batch)
    return "s1"


def asked(context: Context, project: Path, session: str = "s1") -> Outcome:
    return summarise(context, str(project), session, "session-end")


def test_without_consent_nothing_is_asked(context: Context, project: Path, program: Program) -> None:
    worked(context, project)
    assert asked(context, project) is Outcome.OFF
    assert program.calls == []


def test_consent_is_for_one_program(context: Context, project: Path, program: Program) -> None:
    worked(context, project)
    switch_on(context)
    program.settings(command=["other-model"])
    context.live_settings.reload()
    assert asked(context, project) is Outcome.OFF
    status = model_status(Summaries(context.database), context.settings.model)
    assert status.reason.startswith("off: you agreed to ")


def test_an_answer_is_shown_and_taken_back_with_the_consent(
    context: Context, project: Path, program: Program
) -> None:
    session = worked(context, project)
    switch_on(context)
    assert asked(context, project) is Outcome.ANSWERED
    (work,) = open_works(context.database, str(project)).works
    assert (work.goal, work.now) == (ANSWER["goal"], ANSWER["now"])
    fact = Journal(context.database).fact(f"work:{work.id}")
    assert fact is not None
    assert isinstance(fact.body, WorkChanged)
    assert fact.body.work.now == ANSWER["now"]
    switch_off(context)
    (work,) = open_works(context.database, str(project)).works
    assert work.now == "by rules"
    assert session in work.sessions


def test_the_program_gets_the_digest_of_the_preview_in_an_empty_private_directory(
    context: Context, project: Path, program: Program
) -> None:
    worked(context, project)
    switch_on(context)
    shown = preview(context, str(project))
    assert shown is not None
    asked(context, project)
    worked(context, project, requests=2)
    asked(context, project)
    assert len(program.calls) == 2
    assert str(program.calls[0]["input"]).endswith(f"\n{shown.digest}\n")
    assert [call["left"] for call in program.calls] == [[], []]
    assert {call["child"] for call in program.calls} == {"1"}
    assert stat.S_IMODE(Path(str(program.calls[0]["cwd"])).stat().st_mode) == 0o700


def test_the_same_digest_is_asked_for_once(context: Context, project: Path, program: Program) -> None:
    worked(context, project)
    switch_on(context)
    assert asked(context, project) is Outcome.ANSWERED
    assert asked(context, project) is Outcome.KNOWN
    worked(context, project)
    assert asked(context, project) is Outcome.KNOWN
    assert len(program.calls) == 1


def test_a_small_change_is_no_moment_and_a_large_one_is(
    context: Context, project: Path, program: Program
) -> None:
    worked(context, project)
    switch_on(context)
    asked(context, project)
    worked(context, project, requests=5)
    assert summarise(context, str(project), "s1", "change") is Outcome.NOTHING
    worked(context, project, requests=30)
    assert summarise(context, str(project), "s1", "change") is Outcome.ANSWERED


def test_at_the_cap_nothing_is_asked(context: Context, project: Path, program: Program) -> None:
    program.settings(tokens_per_day=1000)
    context.live_settings.reload()
    worked(context, project)
    switch_on(context)
    assert asked(context, project) is Outcome.CAPPED
    assert program.calls == []
    status = model_status(Summaries(context.database), context.settings.model)
    assert status.reason.startswith("stopped: model.tokens_per_day is 1000")


@pytest.mark.parametrize(
    ("text", "code"),
    [("no JSON", 0), ('{"goal": "only"}', 0), (json.dumps(ANSWER), 1), ("", 0), ("{", 0), ("[1]", 0)],
)
def test_whatever_goes_wrong_the_rules_remain_and_it_is_counted_as_reserved(
    context: Context, project: Path, program: Program, text: str, code: int
) -> None:
    worked(context, project)
    switch_on(context)
    program.prints(text, code)
    assert asked(context, project) is Outcome.FAILED
    (work,) = open_works(context.database, str(project)).works
    assert work.now == "by rules"
    status = model_status(Summaries(context.database), context.settings.model)
    assert status.last_error
    assert status.tokens_today > 1000
    assert asked(context, project) is Outcome.KNOWN


def test_a_program_that_is_not_there_costs_nothing(context: Context, project: Path, program: Program) -> None:
    program.settings(command=["no-such-model"])
    context.live_settings.reload()
    worked(context, project)
    switch_on(context)
    assert asked(context, project) is Outcome.FAILED
    status = model_status(Summaries(context.database), context.settings.model)
    assert (status.tokens_today, status.last_error) == (0, "no-such-model is not installed")


def test_what_the_program_reports_is_counted(context: Context, project: Path, program: Program) -> None:
    worked(context, project)
    switch_on(context)
    program.prints(f"Here it is:\n{json.dumps({**ANSWER, 'usage': {'tokens': 321, 'usd': 0.002}})}\n")
    assert asked(context, project) is Outcome.ANSWERED
    status = model_status(Summaries(context.database), context.settings.model)
    assert (status.calls_today, status.tokens_today, status.usd_today) == (1, 321, 0.002)


def test_an_answer_that_comes_too_late_changes_only_the_goal(
    context: Context, project: Path, program: Program
) -> None:
    worked(context, project)
    switch_on(context)
    asked(context, project)
    worked(context, project, requests=2)
    (work,) = open_works(context.database, str(project)).works
    assert (work.goal, work.now) == (ANSWER["goal"], "by rules")


def test_secrets_in_digest_and_answer_are_masked(context: Context, project: Path, program: Program) -> None:
    secret = "ghp_" + "a1B2" * 9
    worked(context, project, result=f"parser.py is done with {secret}")
    switch_on(context)
    program.prints(json.dumps({**ANSWER, "goal": f"Use {secret}"}))
    asked(context, project)
    assert secret not in str(program.calls)
    with context.database.reading() as connection:
        (kept,) = connection.execute("select error || body from flow_summaries").fetchone()
    assert "goal: " in kept  # named as refused: it is not in the digest
    assert secret not in kept
