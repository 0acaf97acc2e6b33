"""SIGHUP: new settings are taken as a whole, or not at all."""

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome


def test_a_wrong_file_on_reload_keeps_the_old_settings_and_status_says_so(daemon_home: "DaemonHome") -> None:
    file = daemon_home.paths.config_file
    process = daemon_home.start()
    file.write_text("idle:\n  after_minuts: 1\n")
    process.send_signal(signal.SIGHUP)
    status = daemon_home.wait_for(lambda status: bool(status["settings_error"]))
    assert f"{file}: unknown key idle.after_minuts (value 1)" in status["settings_error"]
    assert not status["healthy"]
    assert any("settings not reloaded" in reason for reason in status["reasons"])
    shown = daemon_home.command("status")
    assert shown.returncode == 1
    assert "! settings not reloaded" in shown.stdout


def test_a_mended_file_on_reload_is_taken_and_the_complaint_goes(daemon_home: "DaemonHome") -> None:
    file = daemon_home.paths.config_file
    process = daemon_home.start()
    file.write_text("nonsense: 1\n")
    process.send_signal(signal.SIGHUP)
    daemon_home.wait_for(lambda status: bool(status["settings_error"]))
    file.write_text("idle:\n  after_minutes: 1\n")
    process.send_signal(signal.SIGHUP)
    assert daemon_home.wait_for(lambda status: not status["settings_error"])["healthy"]


def test_a_daemon_with_wrong_settings_does_not_start_and_names_the_key(daemon_home: "DaemonHome") -> None:
    daemon_home.paths.config_file.write_text("watch:\n  poll_s: soon\n")
    for verb in ("run", "start"):
        refused = daemon_home.command(verb)
        assert refused.returncode == 1
        assert "watch.poll_s: 'soon' is not valid" in refused.stderr
