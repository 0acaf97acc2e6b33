"""Leaving the terminal, through python-daemon. Nothing else imports it."""

from pathlib import Path


def detach(crash_file: Path) -> None:
    """Become a background process; what a crash prints ends up in *crash_file*.

    Must come before any thread, socket or database is opened. Under systemd and launchd never call it.
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
