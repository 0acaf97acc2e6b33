"""The idle timer: when a session last did something, and each pause told once."""

import os
import time
from pathlib import Path

import pytest

from flowd.config.settings import LiveSettings
from flowd.daemon.store_gate import StoreGate
from flowd.daemon.timing import IdleWatch, is_idle
from flowd.model.facts import state_fact
from flowd.model.session import SessionState
from flowd.sinks.idle_timer import IdleTimerSink
from flowd.store.database import Database
from flowd.store.sessions import IdleTable, Pause

NOW = float(int(time.time()))
MINUTE = 60.0


@pytest.fixture
def timer(database: Database) -> IdleTimerSink:
    return IdleTimerSink(database)


@pytest.fixture
def project(project: Path) -> Path:
    """A project with a conductor."""
    (project / "conductor").mkdir()
    return project


def take(timer: IdleTimerSink, project: Path | None, at: float, session: str = "s1") -> None:
    timer.accept(
        state_fact(SessionState(session_id=session, project=str(project or ""), last_activity_at=at))
    )
    timer.flush()


def marker(project: Path) -> Path:
    return project / "conductor" / ".last_activity"


def test_a_marker_moves_forward_with_the_activity_and_never_back(timer: IdleTimerSink, project: Path) -> None:
    marker(project).touch()
    os.utime(marker(project), (NOW - 100, NOW - 100))
    take(timer, project, NOW - 50)
    assert marker(project).stat().st_mtime == NOW - 50
    take(timer, project, NOW - 80, "older")
    assert marker(project).stat().st_mtime == NOW - 50


def test_a_missing_marker_is_made_and_looks_like_no_pause(timer: IdleTimerSink, project: Path) -> None:
    """Old work, caught up on, must not trigger what waits for a long pause."""
    take(timer, project, NOW - 3 * 86_400)
    assert marker(project).stat().st_mtime >= NOW
    assert marker(project).read_bytes() == b""


def test_without_a_conductor_nothing_is_made(timer: IdleTimerSink, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    take(timer, tmp_path / "plain", NOW)
    take(timer, None, NOW)
    assert list((tmp_path / "plain").iterdir()) == []


@pytest.mark.parametrize("what", ["folder", "marker"])
def test_no_link_is_followed(timer: IdleTimerSink, project: Path, tmp_path: Path, what: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    if what == "folder":
        (project / "conductor").rmdir()
        (project / "conductor").symlink_to(outside)
    else:
        marker(project).symlink_to(outside / "file")
    take(timer, project, NOW)
    assert list(outside.iterdir()) == []


def test_activity_never_moves_back(timer: IdleTimerSink, database: Database) -> None:
    for at in (NOW, NOW - 10, NOW - 5):
        take(timer, None, at)
    assert IdleTable(database).unreported(since=0) == [Pause("s1", "", NOW)]


@pytest.mark.parametrize(
    ("gap_s", "idle"), [(30 * MINUTE, False), (31 * MINUTE - 1, False), (31 * MINUTE, True), (-5.0, False)]
)
def test_a_session_is_idle_after_strictly_more_than_so_many_whole_minutes(gap_s: float, idle: bool) -> None:
    assert is_idle(NOW - gap_s, NOW, 30) is idle


class Clock:
    """An idle watch over a core.db that was made long ago, and what it told."""

    def __init__(self, database: Database, settings: LiveSettings, *, made_at: str = "2020-01-01") -> None:
        with database.transaction() as connection:
            connection.execute("update flow_migrations set applied_at = ?", (made_at,))
        self.told: list[Pause] = []
        self._table = IdleTable(database)
        gate = StoreGate(database)
        gate._opened.set()
        self._watch = IdleWatch(gate, settings, self._tell)

    def check(self) -> int:
        """Return how many pauses were told until now."""
        self._watch.check()
        return len(self.told)

    def _tell(self, pause: Pause) -> None:
        self.told.append(pause)
        self._table.mark_reported(pause)


def test_each_pause_is_told_once_also_after_a_restart(
    timer: IdleTimerSink, database: Database, settings: LiveSettings
) -> None:
    take(timer, None, NOW - 40 * MINUTE)
    clock = Clock(database, settings)
    assert [clock.check(), clock.check()] == [1, 1]
    assert Clock(database, settings).check() == 0
    take(timer, None, NOW - 35 * MINUTE)
    assert Clock(database, settings).check() == 1


def test_a_session_at_work_is_not_told(
    timer: IdleTimerSink, database: Database, settings: LiveSettings
) -> None:
    take(timer, None, NOW - 5 * MINUTE)
    assert Clock(database, settings).check() == 0


def test_pauses_older_than_core_db_are_history(
    timer: IdleTimerSink, database: Database, settings: LiveSettings
) -> None:
    take(timer, None, NOW - 40 * MINUTE)
    made_at = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(NOW - 10 * MINUTE))
    assert Clock(database, settings, made_at=made_at).check() == 0


def test_zero_turns_it_off(
    timer: IdleTimerSink, database: Database, settings: LiveSettings, config: Path
) -> None:
    take(timer, None, NOW - 40 * MINUTE)
    config.write_text("idle: {after_minutes: 0}\n")
    settings.reload()
    assert Clock(database, settings).check() == 0
