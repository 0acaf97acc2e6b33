"""A pipe that ends with the daemon: a child that holds its other end never outlives a killed parent."""

import os
import signal
import threading

VARIABLE = "FLOWD_LIFELINE"


def follow_parent() -> None:
    """End this process (SIGTERM) when the daemon that started it is gone; do nothing without one."""
    descriptor = os.environ.pop(VARIABLE, "")
    if descriptor.isdigit():
        threading.Thread(target=_wait, args=(int(descriptor),), name="lifeline", daemon=True).start()


def _wait(descriptor: int) -> None:
    try:
        os.read(descriptor, 1)
    except OSError:
        return
    os.kill(os.getpid(), signal.SIGTERM)
