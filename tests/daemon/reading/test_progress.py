"""While a backlog is read, status says so; afterwards the memory that only it needed is released."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from flowd.daemon.reading.progress import CATCHING_UP_SWITCH_S, USUAL_SWITCH_S
from tests.support.transcript_lines import line

if TYPE_CHECKING:
    from tests.support.following import Following


@pytest.fixture(autouse=True)
def switch_interval() -> Iterator[None]:
    """Leave the interpreter as it was."""
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def write_two(following: "Following") -> None:
    for name in ("s1", "s2"):
        (following.folder / f"{name}.jsonl").write_bytes(line(1, name))
    following.queue.put_backlog(str(following.folder / f"{name}.jsonl") for name in ("s1", "s2"))


def test_catching_up_lasts_from_the_first_path_of_a_backlog_to_the_last(following: "Following") -> None:
    write_two(following)
    following.reader.step()
    assert following.reader.status.progress.catching_up
    assert sys.getswitchinterval() == pytest.approx(CATCHING_UP_SWITCH_S)
    following.reader.step()
    assert not following.reader.status.progress.catching_up
    assert sys.getswitchinterval() == pytest.approx(USUAL_SWITCH_S)
    assert following.counters["records"] == 2


def test_a_live_line_is_no_catching_up(following: "Following") -> None:
    following.transcript.write_bytes(line(1))
    following.queue.put(str(following.transcript))
    following.reader.step()
    assert not following.reader.status.progress.catching_up


def test_an_urgent_line_in_between_does_not_end_it(following: "Following") -> None:
    write_two(following)
    following.reader.step()
    (following.folder / "s3.jsonl").write_bytes(line(1, "s3"))
    following.queue.put(str(following.folder / "s3.jsonl"))
    following.reader.step()
    assert following.records_of("s3") == 1
    assert following.reader.status.progress.catching_up
