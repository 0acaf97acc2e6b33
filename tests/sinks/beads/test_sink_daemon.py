"""Beads in a real daemon: whatever bd does, everything else goes on, and the note arrives in the end."""

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowd.handoff.checkpoint_texts import own_block
from tests.support.live_session import send_hook, write_record
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.support.beads_project import BeadsProject
    from tests.support.daemon_home import DaemonHome

# Long enough to start a program on a busy machine; a hanging one is given up after it.
PATIENCE_S = 2
ROUNDS = 6


@pytest.fixture
def shop(daemon_home: "DaemonHome", beads: "BeadsProject") -> "BeadsProject":
    """A project with one issue in progress, and settings that make a daemon impatient."""
    (beads.root / ".git").mkdir()
    beads.put("t-1", status="in_progress", notes="theirs")
    daemon_home.paths.config_file.write_text(
        json.dumps(
            {
                "beads": {"program": str(beads.program), "timeout_s": PATIENCE_S},
                "sinks": {"retry_first_s": 0.02, "retry_most_s": 0.02, "quarantine_after": 2},
            }
        )
    )
    return beads


def set_mood(shop: "BeadsProject", ways: str) -> None:
    mood = shop.root / ".beads" / "mood"
    mood.with_name("mood.new").write_text(ways)
    mood.with_name("mood.new").rename(mood)


def compact(home: "DaemonHome", shop: "BeadsProject", number: int = 1) -> None:
    path = write_record(home, shop.root, "s1", number)
    send_hook(home, hook_event_name="PreCompact", session_id="s1", transcript_path=str(path), cwd=shop.path)


def sink_of(status: dict[str, Any], name: str = "beads") -> dict[str, Any]:
    return next(sink for sink in status["sinks"] if sink["name"] == name)


def group_is_gone(pid: int) -> bool:
    """Return True if no process of the group runs; zombies do not count."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(words[2]) == pid and words[0] != "Z":
            return False
    return True


def running(shop: "BeadsProject") -> int:
    return sum(not group_is_gone(call["pid"]) for call in shop.calls)


def records_stored(home: "DaemonHome") -> int:
    with sqlite3.connect(home.paths.database) as database:
        (body,) = database.execute("select body from flow_facts where kind = 'state'").fetchone()
    database.close()
    return int(json.loads(body)["state"]["records"])


def test_a_checkpoint_becomes_a_note_and_status_says_where(
    daemon_home: "DaemonHome", shop: "BeadsProject"
) -> None:
    daemon_home.start()
    compact(daemon_home, shop)
    status = daemon_home.wait_for(lambda status: sink_of(status)["delivered"] == 1)
    assert sink_of(status)["detail"] == "shop: delivered to t-1"
    assert beads_note_of(shop).startswith("<!-- flowd ")
    assert shop.notes("t-1").startswith("theirs\n")
    assert "beads: shop: delivered to t-1" in daemon_home.command("status").stdout


def beads_note_of(shop: "BeadsProject") -> str:
    present = own_block(shop.notes("t-1"))
    return present.text if present else ""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts processes in /proc")
def test_while_bd_hangs_all_else_stays_current_and_nothing_piles_up(
    daemon_home: "DaemonHome", shop: "BeadsProject"
) -> None:
    set_mood(shop, "hang")
    daemon_home.start()
    compact(daemon_home, shop)
    first = daemon_home.wait_for(lambda status: sink_of(status)["retrying"] == 1)
    handoff = shop.root / ".flow-guardian" / "handoff.yaml"
    for number in range(2, ROUNDS):
        compact(daemon_home, shop, number)
        wait_until(lambda number=number: f"step {number}" in handoff.read_text())  # type: ignore[misc]  # a default binds it
        wait_until(lambda number=number: records_stored(daemon_home) == number)  # type: ignore[misc]  # same
        wait_until(lambda number=number: len(shop.calls) > number)  # type: ignore[misc]  # same
        assert running(shop) <= 1
    last = daemon_home.wait_for(lambda status: len(shop.calls) > ROUNDS)
    assert sink_of(last)["quarantined"] == 0
    assert "shop: timed out" in sink_of(last)["last_error"]
    assert any("beads: 1 deliveries retried" in reason for reason in last["reasons"])
    assert last["process"]["children"] <= 1
    # The run at hand, and whatever the reader has open, are there for a moment; a leak would be one for each.
    assert last["process"]["threads"] < first["process"]["threads"] + ROUNDS
    assert last["process"]["open_files"] < first["process"]["open_files"] + ROUNDS
    assert last["process"]["rss_bytes"] < first["process"]["rss_bytes"] + 8_000_000
    set_mood(shop, "")
    daemon_home.wait_for(lambda status: sink_of(status)["detail"] == "shop: delivered to t-1")
    assert f"step {ROUNDS - 1}" in beads_note_of(shop)


def test_a_daemon_killed_while_bd_hangs_delivers_after_its_restart(
    daemon_home: "DaemonHome", shop: "BeadsProject"
) -> None:
    set_mood(shop, "busy")
    daemon_home.start()
    compact(daemon_home, shop)
    daemon_home.wait_for(lambda status: sink_of(status)["retrying"] == 1)
    daemon_home.kill()
    assert beads_note_of(shop) == ""
    set_mood(shop, "")
    daemon_home.start()
    daemon_home.wait_for(lambda status: sink_of(status)["detail"] == "shop: delivered to t-1")
    assert "step 1" in beads_note_of(shop)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts processes in /proc")
def test_a_daemon_that_stops_takes_a_hanging_bd_with_it(
    daemon_home: "DaemonHome", shop: "BeadsProject"
) -> None:
    config = json.loads(daemon_home.paths.config_file.read_text())
    config["beads"]["timeout_s"] = 600
    config["sinks"]["drain_s"] = 0.1
    daemon_home.paths.config_file.write_text(json.dumps(config))
    set_mood(shop, "hang")
    daemon_home.start()
    compact(daemon_home, shop)
    wait_until(lambda: len(shop.calls) == 1)
    assert daemon_home.stop() == 0
    wait_until(lambda: running(shop) == 0)
    assert len(shop.calls) == 1


def test_a_repository_without_beads_starts_no_process_and_gets_no_file(
    daemon_home: "DaemonHome", shop: "BeadsProject"
) -> None:
    traces = shop.root.parent / "traces"
    shop.program.write_text(f"#!/bin/sh\necho started >> {traces}\n")
    shutil.rmtree(shop.root / ".beads")
    daemon_home.start()
    compact(daemon_home, shop)
    status = daemon_home.wait_for(lambda status: sink_of(status)["cursor"] and not sink_of(status)["queue"])
    wait_until(lambda: (shop.root / ".flow-guardian" / "handoff.yaml").exists())
    assert (sink_of(status)["delivered"], sink_of(status)["detail"]) == (0, "")
    assert sorted(os.listdir(shop.root)) == [".flow-guardian", ".git"]
    assert not traces.exists()
