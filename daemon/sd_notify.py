"""Notify systemd: ready, alive, stopping. Does nothing without a service manager."""

import os
import socket


def notify(message: str) -> None:
    """Send *message* to the service manager, if there is one."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as connection:
        try:
            connection.sendto(message.encode(), address)
        except OSError:
            return  # the manager is gone: not a reason to stop


def watchdog_interval_s() -> float | None:
    """Return how often the manager expects a watchdog message, None if it expects none."""
    wanted_by = os.environ.get("WATCHDOG_PID")
    if wanted_by and wanted_by != str(os.getpid()):
        return None
    try:
        return int(os.environ["WATCHDOG_USEC"]) / 1e6 / 2
    except (KeyError, ValueError):
        return None
