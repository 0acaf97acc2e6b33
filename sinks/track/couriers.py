"""Who carries a track's handoff to the programs beside the files: Beads, and Agent Mail."""

from typing import NamedTuple, Protocol

from flowd.config.settings import Settings
from flowd.handoff.beads_note import BeadsNote
from flowd.handoff.mail_message import MailMessage
from flowd.handoff.track.beads import beads_disabled
from flowd.sinks.agent_mail.mailbox import ReceivedMail, is_configured, latest_handoff, send_handoff
from flowd.sinks.beads.bd import BdOutcome, BeadsIssue
from flowd.sinks.beads.notes import epic_progress, read_issue, sync_note
from flowd.sinks.beads.place import beads_place

# Where these are the reason, nobody asked for a note: that is no failure.
_NOT_ASKED_FOR = frozenset({BdOutcome.ABSENT, BdOutcome.NO_DATABASE, BdOutcome.NO_ISSUE})


class DeliveryResult(NamedTuple):
    """How an errand went."""

    outcome: str
    said: str = ""


class TrackDelivery(Protocol):
    """Carries mail and notes, or leaves them to those whose work it is."""

    def mail(self, project: str, message: MailMessage) -> DeliveryResult:
        """Have the handoff sent."""
        ...

    def note(self, project: str, issue: str, note: BeadsNote) -> DeliveryResult:
        """Have *note* stand in *issue*, or in the one being worked on where *issue* is empty."""
        ...


class DeferDelivery:
    """In the daemon the sinks of Beads and Agent Mail take the same checkpoint, with retries of their own."""

    def mail(self, _project: str, _message: MailMessage) -> DeliveryResult:
        """Leave it to the sink."""
        return DeliveryResult("skipped", "left to the sink agent_mail")

    def note(self, _project: str, _issue: str, _note: BeadsNote) -> DeliveryResult:
        """Leave it to the sink."""
        return DeliveryResult("skipped", "left to the sink beads")


class DeliverNow:
    """A command does it at once and says how it went; what fails here, the daemon's sinks try again."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def mail(self, project: str, message: MailMessage) -> DeliveryResult:
        """Send it, if that is configured; the sink knows by its id that it was sent."""
        if not is_configured(self._settings.agent_mail):
            return DeliveryResult("skipped", "not configured")
        return DeliveryResult("done", f"sent to {send_handoff(project, message, self._settings.agent_mail)}")

    def note(self, project: str, issue: str, note: BeadsNote) -> DeliveryResult:
        """Write the note, and believe only what bd shows."""
        if not uses_beads(project, self._settings):
            return DeliveryResult("skipped", "the project has no Beads in use")
        answer = sync_note(project, issue, note, self._settings.beads)
        said = f"{answer.outcome}{f' ({answer.said})' if answer.said else ''}"
        if answer.outcome is BdOutcome.DELIVERED:
            return DeliveryResult(
                "done", f"{answer.outcome} to {answer.issues[0].id}" if answer.issues else said
            )
        return DeliveryResult("skipped" if answer.outcome in _NOT_ASKED_FOR else "failed", said)


def uses_beads(project: str, settings: Settings) -> bool:
    """Say whether *project* has Beads that nobody has turned off; starts nothing."""
    return settings.beads.enabled and beads_place(project) is not None and not beads_disabled(project)


def closed_of_epic(project: str, epic: str, settings: Settings) -> tuple[int, int] | None:
    """Return closed and all children of *epic*, None where Beads cannot say or has none."""
    if not epic or not uses_beads(project, settings):
        return None
    progress = epic_progress(project, epic, settings.beads)
    return (progress.closed, progress.total) if progress and progress.total else None


def issue_of_epic(project: str, epic: str, settings: Settings) -> BeadsIssue | None:
    """Return the issue as bd shows it, None where there is none to be seen."""
    if not epic or not uses_beads(project, settings):
        return None
    return next(iter(read_issue(project, epic, settings.beads).issues), None)


def mailed_handoff(project: str, track: str, epic: str, settings: Settings) -> ReceivedMail | None:
    """Return the newest handoff mailed about *track* or its *epic*; raises where the server cannot say."""
    threads = dict.fromkeys(("", epic))
    found = [latest_handoff(project, track, settings.agent_mail, epic=name) for name in threads]
    return max((mail for mail in found if mail), key=lambda mail: mail.created_at, default=None)
