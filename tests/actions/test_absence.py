"""Since when flowd has been stopped or hung."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.actions.absence import absence
from flowd.actions.context import Context
from flowd.store.journal import Batch
from flowd.store.sources import Source, store_source
from flowd.system.locks import wait_for_lock

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

DAY_S = 86_400


@pytest.fixture
def context() -> Context:
    """A context in which no daemon has ever run."""
    return Context()


def lock_file(context: Context, text: str = "") -> Path:
    context.paths.lock.parent.mkdir(parents=True, exist_ok=True)
    context.paths.lock.write_text(text)
    return context.paths.lock


def read_at(context: Context, at: float) -> None:
    source = Source(path="/a", inode=1, device=1, fingerprint="", last_read_at=at)
    batch = Batch()
    batch.also.append(lambda connection: store_source(connection, source))
    context.journal.commit(batch)


def test_a_daemon_that_answers_is_not_away(daemon_home: "DaemonHome") -> None:
    daemon_home.start()
    with Context() as context:
        assert absence(context) == ""


def test_one_that_was_never_started_has_no_time(context: Context) -> None:
    with context:
        assert absence(context).startswith("flowd is not running: ")


def test_one_that_was_stopped_left_the_time_at_its_lock(context: Context) -> None:
    """It empties the file as the last thing it does."""
    then = time.time() - 2 * DAY_S - 60
    with context:
        os.utime(lock_file(context), (then, then))
        line = absence(context)
    assert line.startswith("flowd has not been running since ")
    assert "(2 days ago)" in line
    assert line.endswith("Run `flowd start`.")


def test_one_that_was_killed_has_been_away_since_it_read_anything(context: Context) -> None:
    with context:
        lock_file(context, '{"pid":1,"version":"1","socket":"/nowhere","started_at":1}')
        read_at(context, time.time() - 3 * DAY_S - 60)
        assert "(3 days ago)" in absence(context)


def test_one_that_holds_its_lock_and_does_not_answer_is_hung(context: Context) -> None:
    with context:
        file = lock_file(context, '{"pid":1,"version":"1","socket":"/nowhere","started_at":1}')
        read_at(context, time.time() - 3700)
        descriptor = os.open(file, os.O_RDWR)
        try:
            assert wait_for_lock(descriptor, 1.0)
            line = absence(context)
            assert absence(context, answers=lambda _: True) == ""
        finally:
            os.close(descriptor)
    assert line.startswith("flowd has not answered since ")
    assert "(1 hour ago)" in line
    assert line.endswith("Run `flowd restart`.")
