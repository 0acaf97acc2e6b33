"""Beads: the note of the issue being worked on follows the project's checkpoints."""

from pathlib import Path

from flowd.config.live import LiveSettings
from flowd.handoff.track.beads import beads_disabled, track_beads
from flowd.model.facts import Checkpointed, Fact
from flowd.redaction.redactor import redact
from flowd.sinks.beads.bd import BdOutcome, BdResult, is_issue_id
from flowd.sinks.beads.checkpoint_note import checkpoint_note, with_workers
from flowd.sinks.beads.notes import sync_note
from flowd.sinks.beads.place import beads_place
from flowd.sinks.protocol import PermanentFailureError, RetryLaterError
from flowd.sinks.track.pending import track_handoff_pending

# What passes by itself is waited for; what only a person can mend is put aside. Where there is no bd, no
# database or no issue, nothing was asked for: that is said, and no trouble.
_PASSING = frozenset({BdOutcome.LOCKED, BdOutcome.TIMED_OUT})
_LASTING = frozenset({BdOutcome.UNKNOWN_ID, BdOutcome.TOO_LARGE})
_TROUBLE = frozenset({BdOutcome.FAILED, BdOutcome.UNSUPPORTED})


class BeadsSink:
    """Writes the newest checkpoint of each project that has Beads; ``detail`` tells how it went."""

    name = "beads"
    debounce_s = 5.0
    low_latency = False

    def __init__(self, settings: LiveSettings) -> None:
        self._settings = settings
        self.detail = ""

    def key(self, fact: Fact) -> str | None:
        """Return the project of a checkpoint worth a note, None without Beads there: nothing is started."""
        wanted = self._settings.current.beads
        if not isinstance(fact.body, Checkpointed) or fact.body.trigger not in wanted.triggers:
            return None
        has_beads = wanted.enabled and fact.project and beads_place(fact.project) is not None
        return fact.project if has_beads and not beads_disabled(fact.project) else None

    def accept(self, fact: Fact) -> None:
        """Have the note written, or raise with what stands in its way."""
        if not isinstance(fact.body, Checkpointed):
            return
        if track_handoff_pending(fact, self._settings.current):
            raise RetryLaterError("waits for the handoff of the track, which the note names")
        track = track_beads(fact.project, fact.body.track)
        epic = track.epic if track is not None and is_issue_id(track.epic) else ""
        note = with_workers(checkpoint_note(fact.body, fact.at, track), fact.project, track)
        answer = sync_note(fact.project, epic, note, self._settings.current.beads)
        self.detail = f"{Path(fact.project).name}: {told(answer)}"
        if answer.outcome in _PASSING:
            raise RetryLaterError(self.detail)
        if answer.outcome in _LASTING:
            raise PermanentFailureError(self.detail, hint="see `beads.issue` in `flowd config`")
        if answer.outcome in _TROUBLE:
            raise OSError(self.detail)

    def flush(self) -> None:
        """Do nothing: what was accepted stands in the issue."""


def told(answer: BdResult) -> str:
    """Return *answer* in words for people."""
    if answer.outcome is BdOutcome.DELIVERED:
        return f"{answer.outcome} to {answer.issues[0].id}"
    return f"{answer.outcome} ({redact(answer.said)})" if answer.said else str(answer.outcome)
