"""Whether the track sink is still to write the handoff of a checkpoint, which the Beads note names."""

import time

from flowd.config.settings import Settings
from flowd.handoff.track.beads import TrackBeads
from flowd.handoff.track.rules import read_rules
from flowd.handoff.track.tracks import has_conductor
from flowd.model.facts import Checkpointed, Fact
from flowd.system.times import iso_millis

# The triggers whose checkpoints become handoffs of a track without a command.
AUTOMATIC_TRIGGERS = frozenset({"design-end", "epic-start", "epic-end", "pre-finish", "idle"})
MAX_WAIT_S = 10.0


def track_handoff_pending(fact: Fact, track: TrackBeads | None, settings: Settings) -> bool:
    """Return True if the track sink is about to write the handoff of *fact*; False after MAX_WAIT_S."""
    checkpoint = fact.body
    if not isinstance(checkpoint, Checkpointed) or checkpoint.trigger not in AUTOMATIC_TRIGGERS:
        return False
    if track is None or time.time() > fact.at + MAX_WAIT_S or not settings.conductor.enabled:
        return False
    if track.last_handoff >= iso_millis(fact.at):
        return False
    return has_conductor(fact.project) and read_rules(fact.project).allows(checkpoint.trigger)
