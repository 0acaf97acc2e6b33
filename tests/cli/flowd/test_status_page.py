"""``flowd status``: a page of 80 columns, and exit codes that scripts can use."""

from typing import TYPE_CHECKING

import msgspec
import pytest

from flowd import __version__
from flowd.cli.flowd.status_page import Running, page, verbose_page
from flowd.cli.output import WIDTH, ago, home_relative, size, text_width
from tests.support.status import running_status, session_line, sink_line

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome


HUGE = running_status(
    healthy=False,
    reasons=["core_db: 3 deliveries retried: " + "the disk is full " * 12, "x" * 300],
    cli_version="0.2.0",
    catching_up=True,
    waiting_files=10_000,
    sessions=[session_line(project="/home/somebody/" + "deep/" * 40 + "end", lag_bytes=10**12)] * 50,
    sessions_tracked=12_345,
    sinks=[sink_line(name="handoff_markdown", cursor=10**9, delivered=10**9, last_error="no\nspace " * 30)],
    counts={
        "captured": 10**9,
        "stored": 10**9,
        "delivered": 10**9,
        "lines": 10**9,
        "transcripts": 10**6,
        "bytes": 10**13,
        "troubles": {f"kind_of_trouble_{number}": 1000 for number in range(12)},
        "unknown_types": {},
    },
    watches={"held": 123_456, "asked": 234_567, "polled": 111_111},
    store={"path": "/core.db", "size_bytes": 10**12, "condition": "encrypted or not SQLite"},
)


@pytest.mark.parametrize("shown", [running_status(), HUGE], ids=["usual", "huge"])
def test_the_page_fits_in_80_columns(shown: Running) -> None:
    for lines in (page(shown), verbose_page(shown)):
        assert [line for line in lines if len(line) > WIDTH or "\n" in line] == []


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_page_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    wide = [session_line(project="/work/größe übung 日本", title="Fix the 日本 parser " * 9)] * 3
    lines = page(running_status(sessions=wide))
    assert max(map(text_width, lines)) <= columns


def test_sinks_that_are_fine_are_one_line_and_the_others_are_named() -> None:
    sinks = [sink_line(name="core_db"), sink_line(name="beads", retrying=2, last_error="bd is away")]
    lines = page(running_status(sinks=sinks))
    assert lines[-2:] == ["! beads: bd is away", "1 sink is fine; `flowd status --verbose` has the figures"]
    assert not any(line.startswith("SINK") for line in lines)
    assert any(line.startswith("SINK") for line in verbose_page(running_status(sinks=sinks)))


def test_sessions_have_their_titles() -> None:
    lines = page(running_status(sessions=[session_line(title="Fix login")]))
    (row,) = [line for line in lines if "Fix" in line]
    assert row.endswith("Fix login")


def test_a_long_path_keeps_its_end_and_more_sessions_are_counted() -> None:
    text = "\n".join(verbose_page(HUGE))
    assert "/deep/end" in text
    assert "and 12335 more" in text


def test_what_is_wrong_and_what_is_old_is_said_on_top() -> None:
    head = page(running_status(healthy=False, reasons=["core.db is locked"], cli_version="9"))[:3]
    assert "degraded" in head[0]
    assert head[1:] == ["  ! core.db is locked", "  ! this command is version 9: run `flowd restart`"]


def test_what_was_recovered_is_counted_in_words() -> None:
    counts = msgspec.to_builtins(running_status().counts)
    some = {"glued_lines": 1, "bad_lines": 2, "extractor_errors": 3}
    assert "recovered: nothing" in verbose_page(running_status())
    line = "recovered: 1 concatenated line, 2 unparseable lines, 3 extractor errors"
    assert line in verbose_page(running_status(counts=counts | {"troubles": some}))


def test_no_name_from_elsewhere_can_drive_the_terminal() -> None:
    hostile = running_status(
        reasons=["\x1b[2Jgone"],
        sessions=[session_line(project="/a/\x1b]0;x\x07")],
        sinks=[sink_line(last_error="\x9b1m")],
    )
    assert not set("".join(page(hostile) + verbose_page(hostile))) & {"\x1b", "\x07", "\x9b"}


def test_a_fresh_daemon_says_that_it_has_seen_nothing() -> None:
    fresh = running_status(sessions=[], sessions_tracked=0, last_progress_at=0)
    assert "no sessions seen yet: start Claude Code in a project" in "\n".join(page(fresh))


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
