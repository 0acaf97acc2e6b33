"""File locks with a deadline: held by the kernel, released with the descriptor."""

import fcntl
import time

_POLL_S = 0.002


def wait_for_lock(descriptor: int, timeout_s: float, *, poll_s: float = _POLL_S) -> bool:
    """Lock the open file exclusively; return False if another process holds it longer than *timeout_s*."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(poll_s)
        else:
            return True


def is_locked(descriptor: int) -> bool:
    """Return True if another process holds an exclusive lock on the open file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False
