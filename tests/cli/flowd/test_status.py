"""``flowd status``: a page of 80 columns, and exit codes that scripts can use."""

import time
from typing import TYPE_CHECKING, Any

import pytest

from flowd import __version__
from flowd.cli.flowd.status import page
from flowd.cli.output import WIDTH, ago, home_relative, size

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome


def session(**changes: Any) -> dict[str, Any]:
    return {
        "session_id": "0123456789abcdef",
        "phase": "active",
        "last_activity_at": time.time() - 5,
        "lag_bytes": 0,
        "project": "/srv/project",
    } | changes


def sink(**changes: Any) -> dict[str, Any]:
    numbers = {"cursor": 10, "queue": 0, "delivered": 10, "last_success_at": time.time()}
    return {"name": "core_db", "last_error": "", "detail": "", **numbers} | changes


def status(**changes: Any) -> dict[str, Any]:
    return {
        "version": "0.1.0",
        "cli_version": "0.1.0",
        "healthy": True,
        "reasons": [],
        "pid": 4_194_304,
        "started_at": time.time() - 86_400 * 100,
        "last_progress_at": time.time() - 86_400 * 100,
        "catching_up": False,
        "waiting_files": 0,
        "sessions": [session()],
        "sessions_tracked": 1,
        "sinks": [sink()],
        "counts": {"captured": 1, "stored": 2, "transcripts": 3, "bytes": 4, "troubles": {}},
        "watches": {"held": 1, "asked": 1, "polled": 0},
        "process": {"rss_bytes": 30_000_000, "open_files": 12, "children": 0},
        "store": {"size_bytes": 1_000_000, "condition": ""},
        "threads_active": 0,
        "threads_unread": {},
    } | changes


HUGE = status(
    healthy=False,
    reasons=["core_db: 3 deliveries retried: " + "the disk is full " * 12, "x" * 300],
    cli_version="0.2.0",
    catching_up=True,
    waiting_files=10_000,
    sessions=[session(project="/home/somebody/" + "deep/" * 40 + "end", lag_bytes=10**12)] * 50,
    sessions_tracked=12_345,
    sinks=[sink(name="handoff_markdown", cursor=10**9, delivered=10**9, last_error="no\nspace " * 30)],
    counts={
        "captured": 10**9,
        "stored": 10**9,
        "transcripts": 10**6,
        "bytes": 10**13,
        "troubles": {f"kind_of_trouble_{number}": 1000 for number in range(12)},
    },
    watches={"held": 123_456, "asked": 234_567, "polled": 111_111},
    store={"size_bytes": 10**12, "condition": "encrypted or not SQLite"},
)


@pytest.mark.parametrize("shown", [status(), HUGE], ids=["usual", "huge"])
def test_the_page_fits_in_80_columns(shown: dict[str, Any]) -> None:
    lines = page(shown)
    assert [line for line in lines if len(line) > WIDTH or "\n" in line] == []


def test_a_long_path_keeps_its_end_and_more_sessions_are_counted() -> None:
    text = "\n".join(page(HUGE))
    assert "/deep/end" in text
    assert "and 12335 more" in text


def test_what_is_wrong_and_what_is_old_is_said_on_top() -> None:
    head = page(status(healthy=False, reasons=["core.db is locked"], cli_version="9"))[:3]
    assert "degraded" in head[0]
    assert head[1:] == ["  ! core.db is locked", "  ! this command is 9: run `flowd restart`"]


def test_no_name_from_elsewhere_can_drive_the_terminal() -> None:
    hostile = status(
        reasons=["\x1b[2Jgone"],
        sessions=[session(project="/a/\x1b]0;x\x07")],
        sinks=[sink(last_error="\x9b1m")],
    )
    assert not set("".join(page(hostile))) & {"\x1b", "\x07", "\x9b"}


def test_a_fresh_daemon_says_that_it_has_seen_nothing() -> None:
    assert "no session seen yet" in page(status(sessions=[], sessions_tracked=0, last_progress_at=0))


@pytest.mark.parametrize(
    ("count", "word"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 KB"), (123_456, "123 KB"), (5e12, "5000 GB")]
)
def test_sizes_are_for_people(count: float, word: str) -> None:
    assert size(count) == word


@pytest.mark.parametrize(
    ("gap", "word"), [(0, "0s ago"), (59, "59s ago"), (60, "1m ago"), (7200, "2h ago"), (90_000, "1d ago")]
)
def test_moments_are_for_people(gap: float, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowd.cli.output.time.time", lambda: 1_000_000.0)
    assert ago(1_000_000.0 - gap) == word
    assert ago(0) == "never"


def test_the_home_is_written_as_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert home_relative("/home/me/work") == "~/work"
    assert home_relative("/home/mercury/work") == "/home/mercury/work"


def test_exit_codes_tell_healthy_from_degraded_from_not_running(daemon_home: "DaemonHome") -> None:
    absent = daemon_home.command("status")
    assert absent.returncode == 3
    assert absent.stdout == ""
    assert absent.stderr == "flowd: flowd is not running\n  start it with `flowd start`\n"
    daemon_home.start()
    present = daemon_home.command("status")
    assert present.returncode == 0
    assert present.stdout.startswith(f"flowd {__version__}  healthy  pid ")
    daemon_home.kill()
    assert daemon_home.command("status").returncode == 3
