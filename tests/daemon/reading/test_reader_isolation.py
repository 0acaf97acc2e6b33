"""Content that flowd cannot read stays where it is: the other projects go on, now and after a restart."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.daemon.hooks.handler import HookEvent
from flowd.daemon.reading.pipeline import Pipeline
from flowd.model.client import HookInput
from tests.support.transcript_lines import line, lines

if TYPE_CHECKING:
    from tests.support.following import Following

BLOCK = "## Handoff\n\n```yaml\nphase: build\noutcome: done\nkey_decisions:\n  - use a queue\n```\n"
Poison = Callable[["Following", Path], None]


def deeply_nested(following: "Following", project: Path) -> None:
    deep = (
        b'{"type":"user","sessionId":"bad","message":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}\n"
    )
    write(following, "bad", line(1, "bad", cwd=str(project)) + deep + line(2, "bad", cwd=str(project)))


def nested_list_in_tool(following: "Following", project: Path) -> None:
    deep = b"[" * 3000 + b"]" * 3000
    record = b'{"type":"user","sessionId":"bad","toolUseResult":' + deep + b"}\n"
    write(following, "bad", line(1, "bad", cwd=str(project)) + record)


def null_in_cwd(following: "Following", project: Path) -> None:
    write(following, "bad", line(1, "bad", cwd=f"{project}\0x"))


def null_everywhere(following: "Following", project: Path) -> None:
    texts = dict.fromkeys(("cwd", "gitBranch", "version", "uuid", "entrypoint", "aiTitle"), "\0")
    write(following, "bad", line(1, "\0", **texts))


def lone_surrogate(following: "Following", project: Path) -> None:
    write(following, "bad", line(1, "bad", cwd="MARK").replace(b"MARK", b"/tmp/\\ud800x"))


def huge_numbers(following: "Following", project: Path) -> None:
    write(following, "bad", line(1, "bad", cwd=str(project), prNumber=2**200, totalCostUSD=1e308))
    write(following, "bad", b'{"type":"system","compactMetadata":{"preTokens":1e400},"prNumber":1e999}\n')


def odd_times(following: "Following", project: Path) -> None:
    for stamp in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "x" * 10_000, "2026-13-45"):
        write(following, "bad", line(1, "bad", cwd=str(project), timestamp=stamp))


def time_after_2262(following: "Following", project: Path) -> None:
    file = write(following, "bad", line(1, "bad", cwd=str(project)))
    os.utime(file, (2**33 + 2**32, 2**33 + 2**32))


def surrogate_in_track(following: "Following", project: Path) -> None:
    track = project / "conductor" / "tracks" / "one"
    track.mkdir(parents=True)
    (track / "plan.md").write_text("## E1\n- [ ] a\n")
    (track / "metadata.json").write_text('{"status":"in_progress","handoff":{"\\ud800":1}}')
    write(following, "bad", line(1, "bad", cwd=str(project), timestamp=now()))


def bad_name_of_task_file(following: "Following", project: Path) -> None:
    tasks = project / "tasks"
    tasks.mkdir()
    Path(os.fsdecode(os.fsencode(tasks) + b"/a\xff.md")).write_text(BLOCK)
    write(following, "bad", line(1, "bad", cwd=str(project), timestamp=now()))


def hook_with_null(following: "Following", project: Path) -> None:
    hook = HookInput(session_id="bad", transcript_path="/a\0b", hook_event_name="Stop", cwd=str(project))
    following.reader.submit_hook(HookEvent(hook, lambda _: None))
    following.run_to_end()


POISONS = (
    deeply_nested,
    nested_list_in_tool,
    null_in_cwd,
    null_everywhere,
    lone_surrogate,
    huge_numbers,
    odd_times,
    time_after_2262,
    surrogate_in_track,
    bad_name_of_task_file,
    hook_with_null,
)


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def write(following: "Following", session: str, data: bytes) -> Path:
    folder = following.projects / "-work-bad"
    folder.mkdir(exist_ok=True)
    file = folder / f"{session}.jsonl"
    with file.open("ab") as stream:
        stream.write(data)
    return file


@pytest.fixture
def bad_project(tmp_path: Path) -> Path:
    project = tmp_path / "bad"
    (project / ".git").mkdir(parents=True)
    return project


@pytest.mark.parametrize("poison", POISONS, ids=lambda poison: poison.__name__)
def test_an_innocent_project_is_followed_beside_it_and_after_a_restart(
    poison: Poison, following: "Following", bad_project: Path
) -> None:
    following.append(line(1))
    poison(following, bad_project)
    following.catch_up()
    following.append(line(2))
    assert following.records_of() == 2
    following.restart()
    following.append(line(3))
    assert following.records_of() == 3


@pytest.mark.parametrize("poison", [deeply_nested, null_in_cwd, lone_surrogate], ids=lambda it: it.__name__)
def test_the_good_lines_of_the_same_transcript_are_read(
    poison: Poison, following: "Following", bad_project: Path
) -> None:
    poison(following, bad_project)
    write(following, "bad", line(8, "bad", cwd=str(bad_project)))
    following.catch_up()
    assert following.records_of("bad") >= 2
    (state,) = [fact.body.state for fact in following.facts("state") if fact.session_id == "bad"]  # type: ignore[union-attr]  # the facts of kind state hold one
    assert "\0" not in json.dumps(state.cwd)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Sessions whose lines raise what nobody expects."""
    sessions: set[str] = set()
    process = Pipeline.process

    def failing(self: Pipeline, source, chunk, batch) -> None:  # type: ignore[no-untyped-def]  # a stand-in
        process(self, source, chunk, batch)
        if source.session_id in sessions:
            raise KeyError("unforeseen")

    monkeypatch.setattr(Pipeline, "process", failing)
    return sessions


def test_an_unexpected_error_puts_the_file_on_a_list_and_the_others_go_on(
    following: "Following", broken: set[str]
) -> None:
    broken.add("bad")
    following.append(line(1))
    file = write(following, "bad", line(1, "bad"))
    following.catch_up()
    following.append(line(2))
    assert following.records_of() == following.source()["records"] == 2
    (failure,) = following.reader.failures.listed
    assert failure.path == str(file)
    assert "unforeseen" in failure.error
    assert abs(failure.since - time.time()) < 600


def test_a_file_on_the_list_is_left_alone_until_it_changes(following: "Following", broken: set[str]) -> None:
    broken.add("bad")
    write(following, "bad", line(1, "bad"))
    following.catch_up()
    broken.clear()
    following.catch_up()
    assert following.reader.failures.listed
    write(following, "bad", line(2, "bad"))
    following.catch_up()
    assert not following.reader.failures.listed
    assert following.records_of("bad") == 2


def test_a_file_on_the_list_is_read_again_on_request(following: "Following", broken: set[str]) -> None:
    broken.add("bad")
    write(following, "bad", lines(1, 3, "bad"))
    following.catch_up()
    broken.clear()
    following.reader.retry()
    following.run_to_end()
    assert not following.reader.failures.listed
    assert following.records_of("bad") == 3
    assert following.counters["records"] == 3


def test_what_cannot_be_stored_is_found_and_put_on_the_list(
    following: "Following", monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction fails as a whole: its files are then read one by one."""
    from flowd.store import journal

    append = journal._append

    def refusing(connection, fact, statement):  # type: ignore[no-untyped-def]  # a stand-in
        if fact.session_id == "bad":
            raise OverflowError("too large")
        return append(connection, fact, statement)

    monkeypatch.setattr(journal, "_append", refusing)
    for number in range(5):
        (following.folder / f"good{number}.jsonl").write_bytes(lines(1, 4, f"good{number}"))
    file = write(following, "bad", line(1, "bad"))
    following.catch_up()
    assert [following.records_of(f"good{number}") for number in range(5)] == [4] * 5
    assert [failure.path for failure in following.reader.failures.listed] == [str(file)]
    assert following.counters["records"] == 20
