"""Limit recurring work for many keys to a share of one core."""

SMOOTHING = 0.2


class Pace:
    """Computes the pause between two turns of one key.

    A key that comes after a pause never waits. A key that comes again and again pauses between its turns,
    longer the more keys are waiting and the more each turn costs.
    """

    def __init__(self, share: float, max_rest_s: float) -> None:
        self._share = share
        self._max_rest_s = max_rest_s
        self._turn_s = 0.0

    def spent(self, seconds: float, turns: int) -> None:
        """Record that *turns* turns took *seconds* of processor time."""
        self._turn_s += SMOOTHING * (seconds / turns - self._turn_s)

    def rest_s(self, min_rest_s: float, keys: int) -> float:
        """Return the pause after a turn while *keys* keys are waiting."""
        return max(min_rest_s, min(self._max_rest_s, self._turn_s * keys / self._share))
