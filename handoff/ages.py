"""How long ago something was, in words."""

import time


def age(moment: float) -> str:
    """Return how long ago *moment* was: ``just now``, ``5 minutes ago``, ``3 days ago``."""
    if not moment:
        return "at an unknown time"
    gap = max(0.0, time.time() - moment)
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if gap >= size:
            count = int(gap // size)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
