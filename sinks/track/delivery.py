"""Deliver a track handoff to Beads and Agent Mail, and read its progress from Beads."""

from typing import NamedTuple, Protocol

from flowd.config.settings import Settings
from flowd.handoff.checkpoint_texts import BeadsNote, MailMessage
from flowd.handoff.track.beads import beads_disabled
from flowd.handoff.track.tracks import TrackProgress
from flowd.sinks.agent_mail.mailbox import is_configured, send_handoff
from flowd.sinks.beads.bd import BdOutcome, is_issue_id
from flowd.sinks.beads.directory import find_beads
from flowd.sinks.beads.notes import epic_progress, sync_note

# With these outcomes no note was due: the step is skipped, not failed.
_NOT_DUE = frozenset({BdOutcome.ABSENT, BdOutcome.NO_DATABASE, BdOutcome.NO_ISSUE})


class DeliveryResult(NamedTuple):
    """The result of one delivery."""

    outcome: str
    message: str = ""


class TrackDelivery(Protocol):
    """Delivers mail and notes, or defers them to the sinks."""

    def mail(self, project: str, message: MailMessage) -> DeliveryResult:
        """Send the handoff."""
        ...

    def note(self, project: str, issue: str, note: BeadsNote) -> DeliveryResult:
        """Write *note* into *issue*, or into the one being worked on if *issue* is empty."""
        ...


class DeferDelivery:
    """For the daemon: the Beads and Agent Mail sinks deliver the same checkpoint, with retries."""

    def mail(self, _project: str, _message: MailMessage) -> DeliveryResult:
        """Defer to the sink."""
        return DeliveryResult("skipped", "delivered by the agent_mail sink")

    def note(self, _project: str, _issue: str, _note: BeadsNote) -> DeliveryResult:
        """Defer to the sink."""
        return DeliveryResult("skipped", "delivered by the beads sink")


class DeliverNow:
    """For commands: deliver at once and report the result; the daemon's sinks retry what failed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def mail(self, project: str, message: MailMessage) -> DeliveryResult:
        """Send the mail if Agent Mail is configured; its id keeps the sink from sending it twice."""
        if not is_configured(self._settings.agent_mail):
            return DeliveryResult("skipped", "not configured")
        return DeliveryResult("done", f"sent to {send_handoff(project, message, self._settings.agent_mail)}")

    def note(self, project: str, issue: str, note: BeadsNote) -> DeliveryResult:
        """Write the note if the project uses Beads."""
        if not uses_beads(project, self._settings):
            return DeliveryResult("skipped", "the project has no Beads in use")
        if issue and not is_issue_id(issue):
            return DeliveryResult("failed", not_an_id(issue))
        result = sync_note(project, issue, note, self._settings.beads)
        if result.outcome is BdOutcome.DELIVERED and result.issues:
            return DeliveryResult("done", f"{result.outcome} to {result.issues[0].id}")
        message = f"{result.outcome}{f' ({result.message})' if result.message else ''}"
        return DeliveryResult(_delivery_outcome(result.outcome), message)


def _delivery_outcome(outcome: BdOutcome) -> str:
    if outcome is BdOutcome.DELIVERED:
        return "done"
    return "skipped" if outcome in _NOT_DUE else "failed"


def uses_beads(project: str, settings: Settings) -> bool:
    """Return True if *project* has a .beads directory in which Beads is not disabled; does not run bd."""
    return settings.beads.enabled and find_beads(project) is not None and not beads_disabled(project)


def not_an_id(epic: str) -> str:
    """Return the message about an epic in metadata.json that bd would not take."""
    return f"metadata.json names the epic {epic!r}, which is not an issue id"


def counted_progress(project: str, epic: str, settings: Settings) -> TrackProgress | None:
    """Return how many children of *epic* are closed, None if bd fails or there are none."""
    if not is_issue_id(epic) or not uses_beads(project, settings):
        return None
    progress = epic_progress(project, epic, settings.beads)
    return progress if progress and progress.total else None
