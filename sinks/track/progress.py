"""How far a track or an epic is."""

from typing import NamedTuple

from flowd.handoff.track.tracks import Phase, percent


class TrackProgress(NamedTuple):
    """Tasks done of all tasks, counted by Beads or by the plan, and the phase of the plan."""

    done: int = 0
    total: int = 0
    phase: Phase | None = None

    @property
    def percent(self) -> int:
        """Whole percent, 0 without any task."""
        return percent(self.done, self.total)
