"""A long transcript is read in slices: what is urgent goes between them, and each record is read once."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.daemon.hooks.handler import HookEvent
from flowd.daemon.reading.tailer import CHUNK_BYTES
from flowd.model.client import HookInput
from flowd.model.facts import Checkpointed
from tests.support.transcript_lines import line, lines

if TYPE_CHECKING:
    from tests.support.following import Following

RECORDS = 60
# Each chunk of the file holds some of the records, and the file has many chunks.
LONG = b"".join(line(number, content="x" * (CHUNK_BYTES // 8)) for number in range(1, RECORDS + 1))


@pytest.fixture
def long(following: "Following") -> Path:
    """A transcript of many chunks that nothing has been read of."""
    following.transcript.write_bytes(LONG)
    return following.transcript


@pytest.fixture
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have urgent files, too, read one chunk at a time."""
    monkeypatch.setattr("flowd.daemon.reading.reader.URGENT_SLICE_BYTES", 1)


def stored(following: "Following") -> int:
    return following.counters.get("records", 0)


def test_an_urgent_path_is_stored_before_a_long_file_of_the_backlog_is_read(
    following: "Following", long: Path
) -> None:
    following.queue.put_backlog([str(long)])
    following.reader.step()
    other = following.folder / "s2.jsonl"
    other.write_bytes(line(1, "s2"))
    following.queue.put(str(other))
    following.reader.step()
    assert following.records_of("s2") == 1
    assert 0 < following.source(long)["records"] < RECORDS
    following.look()
    assert following.records_of("s1") == following.source(long)["records"] == RECORDS
    assert stored(following) == RECORDS + 1


def test_a_task_runs_between_two_slices(following: "Following", long: Path) -> None:
    following.queue.put_backlog([str(long)])
    following.reader.step()
    ran: list[bool] = []
    following.queue.submit(lambda: ran.append(following.queue.has_backlog))
    following.reader.step()
    assert ran == [True]


def test_the_state_in_the_middle_of_a_long_file_is_not_stored(following: "Following", long: Path) -> None:
    """Every sink would deliver it, and it would be outdated at once."""
    following.queue.put_backlog([str(long)])
    for _ in range(2):
        following.reader.step()
    assert (stored(following), following.facts("state")) == (0, [])
    following.look()
    assert (stored(following), len(following.facts("state"))) == (RECORDS, 1)


@pytest.mark.usefixtures("short_slices")
def test_the_rest_of_a_long_urgent_file_is_read_as_backlog(following: "Following", long: Path) -> None:
    following.queue.put(str(long))
    following.reader.step()
    assert 0 < stored(following) < RECORDS
    assert following.queue.has_backlog
    following.look()
    assert stored(following) == following.records_of() == RECORDS


def test_lines_that_are_appended_between_two_slices_are_read_once(following: "Following", long: Path) -> None:
    following.queue.put_backlog([str(long)])
    following.reader.step()
    with long.open("ab") as file:
        file.write(lines(RECORDS + 1, RECORDS + 3))
    following.look(long)
    assert stored(following) == following.records_of() == RECORDS + 3


def test_a_file_that_is_replaced_between_two_slices_is_read_from_its_start(
    following: "Following", long: Path
) -> None:
    following.queue.put_backlog([str(long)])
    following.reader.step()
    copy = following.folder / "copy"
    copy.write_bytes(lines(500, 502))
    copy.rename(long)
    following.look()
    assert following.records_of() == 3
    assert following.counters["replaced"] == 1


@pytest.mark.usefixtures("short_slices")
def test_a_hook_is_recorded_when_its_long_transcript_is_read_and_others_need_not_wait(
    following: "Following", long: Path
) -> None:
    done: list[bool] = []
    hook = HookInput(hook_event_name="PreCompact", session_id="s1", transcript_path=str(long))
    following.reader.submit_hook(HookEvent(hook, done.append))
    following.reader.step()
    other = following.folder / "s2.jsonl"
    other.write_bytes(line(1, "s2"))
    following.queue.put(str(other))
    following.reader.step()
    assert (done, following.records_of("s2")) == ([], 1)
    following.look()
    (fact,) = following.facts("checkpoint")
    assert isinstance(fact.body, Checkpointed)
    assert fact.body.state.records == stored(following) - 1 == RECORDS
    assert done == [True]


def test_a_hook_that_cannot_be_recorded_says_so_to_whoever_waits(
    following: "Following", monkeypatch: pytest.MonkeyPatch
) -> None:
    following.append(line(1))
    done: list[bool] = []

    def refuse(*_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("flowd.daemon.hooks.checkpoints.CheckpointRecorder.record_hook", refuse)
    hook = HookInput(hook_event_name="Stop", session_id="s1", transcript_path=str(following.transcript))
    with pytest.raises(RuntimeError, match="planted"):
        following.reader.record_hook(HookEvent(hook, done.append))
    assert done == [False]


def test_an_error_in_the_middle_of_a_file_has_it_read_on_from_what_core_db_holds(
    following: "Following", long: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it had in memory and not in core.db must not count."""
    following.queue.put_backlog([str(long)])
    following.reader.step()
    with monkeypatch.context() as crashing:
        crashing.setattr("flowd.daemon.reading.pipeline.decode_lines", lambda *_: 1 / 0)
        following.reader.step()
    following.reader.retry()
    following.look()
    assert stored(following) == following.records_of() == RECORDS
