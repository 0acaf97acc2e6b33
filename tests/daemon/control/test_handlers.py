"""The verbs of the control socket."""

import os

import pytest

from flowd.daemon.control.handlers import ControlHandlers
from flowd.daemon.delivery.dispatcher import Dispatcher
from flowd.daemon.timing import Timer
from flowd.system.errors import FlowdError


class Worker:
    """Notes whether it was asked to retry."""

    def __init__(self) -> None:
        self.retried = 0

    def retry(self) -> None:
        self.retried += 1


class Daemon:
    """What the handlers get of a daemon."""

    def __init__(self) -> None:
        self.workers = {"core_db": Worker(), "beads": Worker()}
        self.collected = self.files_retried = 0
        dispatcher = Dispatcher(Timer())
        dispatcher.workers.update(self.workers)  # type: ignore[arg-type]  # stand-ins
        self.handlers = ControlHandlers(
            self,  # type: ignore[arg-type]  # stand-in for the reporter
            dispatcher,
            lambda: "line 3: unknown setting",
            self.collect,
            self.retry_files,
        ).handlers()

    def retry_files(self) -> None:
        self.files_retried += 1

    def collect(self) -> None:
        self.collected += 1

    def report(self) -> str:
        return "the status"


@pytest.fixture
def daemon() -> Daemon:
    return Daemon()


def test_ping_names_the_process(daemon: Daemon) -> None:
    assert daemon.handlers["ping"]({})["pid"] == os.getpid()


def test_status_reload_and_poke_are_passed_on(daemon: Daemon) -> None:
    assert daemon.handlers["status"]({}) == "the status"
    assert daemon.handlers["reload"]({}) == "line 3: unknown setting"
    assert daemon.handlers["poke"]({}) is True
    assert daemon.collected == 1


def test_retry_asks_one_sink_or_all(daemon: Daemon) -> None:
    assert daemon.handlers["retry"]({"sink": "beads"}) == ["beads"]
    assert daemon.handlers["retry"]({}) == ["core_db", "beads"]
    assert [worker.retried for worker in daemon.workers.values()] == [1, 2]


def test_retry_of_an_unknown_sink_names_the_known_ones(daemon: Daemon) -> None:
    with pytest.raises(FlowdError, match="no sink 'nowhere'") as refused:
        daemon.handlers["retry"]({"sink": "nowhere"})
    assert refused.value.hint == "sinks: core_db, beads"
