"""``flowd restore-backup``: the copies, and one of them put back."""

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome


def _back_up(home: "DaemonHome") -> None:
    subprocess.run([sys.executable, "-P", "-m", "flowd.store.backups", str(home.paths.database)], check=True)


def test_a_copy_is_listed_refused_while_flowd_runs_and_put_back(daemon_home: "DaemonHome") -> None:
    assert "no backups of" in daemon_home.command("restore-backup").stdout
    daemon_home.start()
    daemon_home.wait_for(lambda status: status["last_progress_at"] > 0 or status["store"]["size_bytes"] > 0)
    _back_up(daemon_home)
    name = daemon_home.command("restore-backup").stdout.split()[3]
    refused = daemon_home.command("restore-backup", "latest")
    assert refused.returncode == 1
    assert "flowd stop &&" in refused.stderr
    daemon_home.stop()
    daemon_home.paths.database.write_bytes(b"damaged" * 4000)
    restored = daemon_home.command("restore-backup", name)
    assert restored.returncode == 0, restored.stderr
    assert "before-restore" in restored.stdout
    daemon_home.start()
    assert daemon_home.status()["healthy"]


def test_an_unknown_copy_is_named(daemon_home: "DaemonHome") -> None:
    told = daemon_home.command("restore-backup", "nope")
    assert told.returncode == 1
    assert "no backup is named nope" in told.stderr
