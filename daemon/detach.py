"""Detach from the terminal with python-daemon. Nothing else imports it."""

from pathlib import Path


def detach(crash_file: Path) -> None:
    """Become a background process; the output of a crash goes to *crash_file*.

    Call it before any thread, socket or database is opened, and never under systemd or launchd.
    """
    from daemon import DaemonContext

    crash_file.touch(mode=0o600, exist_ok=True)
    output = crash_file.open("a", encoding="utf-8")
    context = DaemonContext(
        working_directory="/",
        umask=0o077,
        detach_process=True,
        prevent_core=True,
        signal_map={},
        stdout=output,
        stderr=output,
    )
    context.open()
