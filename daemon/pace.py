"""How often to do again what keeps coming: the more there is of it, the more rarely."""

SMOOTHING = 0.2


class Pace:
    """Keeps work that repeats for many keys within a share of one core.

    A key that comes after a pause is never held up; one that comes again and again rests between two
    turns, the longer the more keys take turns and the more each turn costs.
    """

    def __init__(self, share: float, most_s: float) -> None:
        self._share = share
        self._most_s = most_s
        self._turn_s = 0.0

    def spent(self, seconds: float, turns: int) -> None:
        """Learn that *turns* turns took *seconds* of processor time."""
        self._turn_s += SMOOTHING * (seconds / turns - self._turn_s)

    def rest_s(self, least_s: float, keys: int) -> float:
        """Return how long a key rests after its turn while *keys* keys wait for theirs."""
        return max(least_s, min(self._most_s, self._turn_s * keys / self._share))
