"""Whether the track's handoff of a checkpoint is still to come: others tell where it was written."""

import time

from flowd.config.settings import Settings
from flowd.handoff.errors import HandoffError
from flowd.handoff.track.document import timestamp_text
from flowd.handoff.track.rules import read_rules
from flowd.handoff.track.tracks import choose_track, has_conductor
from flowd.model.facts import Checkpointed, Fact

# The triggers whose checkpoints become handoffs of a track without a command.
TAKEN = frozenset({"design-end", "epic-start", "epic-end", "pre-finish", "idle"})
MAX_AWAITED_S = 10.0


def track_handoff_pending(fact: Fact, settings: Settings) -> bool:
    """Say whether the handoff of *fact* is about to be written; after a while nobody waits for it."""
    checkpoint = fact.body
    if not isinstance(checkpoint, Checkpointed) or checkpoint.trigger not in TAKEN:
        return False
    if time.time() > fact.at + MAX_AWAITED_S or not settings.conductor.enabled:
        return False
    if not has_conductor(fact.project) or not read_rules(fact.project).allows(checkpoint.trigger):
        return False
    track = choose_track(fact.project, checkpoint.track)
    try:
        last = "" if track.is_general else track.metadata().handoff.last_handoff
    except HandoffError:
        return False
    return not track.is_general and (last or "") < timestamp_text(fact.at)
