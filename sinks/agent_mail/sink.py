"""Agent Mail: mail checkpoints to the recipient in the settings; off without one."""

import time

from flowd.config.settings import LiveSettings
from flowd.handoff.checkpoint_texts import MAILED, MailMessage, mail_message
from flowd.handoff.track.beads import TrackBeads, track_beads
from flowd.model.facts import Checkpointed, Fact
from flowd.model.session import SessionState
from flowd.redaction.data import Redact
from flowd.redaction.live import LiveRedactor
from flowd.sinks.agent_mail.client import NoServerError
from flowd.sinks.agent_mail.mailbox import is_configured, send_handoff
from flowd.sinks.protocol import RetryLaterError
from flowd.workspace.git import head_commit, read_branch

# Older checkpoints are not mailed when Agent Mail is switched on.
MAX_AGE_S = 86_400.0
MAX_FILES = 20


class AgentMailSink:
    """Sends each checkpoint once; ``detail`` is the last result."""

    name = "agent_mail"
    debounce_s = 0.0
    low_latency = False

    def __init__(self, settings: LiveSettings, redact: Redact | None = None) -> None:
        self._settings = settings
        self._redact = redact or LiveRedactor(settings)
        self.detail = ""

    def key(self, fact: Fact) -> str | None:
        """Return the checkpoint's key, since each is sent; None while no server is configured."""
        if not isinstance(fact.body, Checkpointed) or fact.body.trigger not in MAILED or not fact.project:
            return None
        is_recent = time.time() - fact.at < MAX_AGE_S
        return fact.key if is_recent and is_configured(self._settings.current.agent_mail) else None

    def accept(self, fact: Fact) -> None:
        """Send the mail; raise with the server's error."""
        settings = self._settings.current.agent_mail
        if not isinstance(fact.body, Checkpointed) or not is_configured(settings):
            return
        track = track_beads(fact.project, fact.body.track)
        message = checkpoint_mail(fact.body, track, self._redact)
        try:
            recipient = send_handoff(fact.project, message, settings)
        except NoServerError as error:
            self.detail = str(error)
            raise RetryLaterError(self.detail) from error
        self.detail = f"{message.thread_id} sent to {recipient}"

    def flush(self) -> None:
        """Do nothing: ``accept`` has sent the mail."""


def checkpoint_mail(checkpoint: Checkpointed, track: TrackBeads | None, redact: Redact) -> MailMessage:
    """Return the mail of *checkpoint*."""
    state = checkpoint.state
    return mail_message(
        checkpoint.id,
        trigger=checkpoint.trigger,
        track=track.track if track else "",
        epic=checkpoint.epic,
        context=state.now or state.goal or state.title or state.outcome or "work in progress",
        body=_body(checkpoint, track),
        redact=redact,
    )


def _body(checkpoint: Checkpointed, track: TrackBeads | None) -> str:
    state = checkpoint.state
    more = len(state.files) - MAX_FILES
    changes = [f"- `{file}`" for file in state.files[:MAX_FILES]] + (
        [f"- and {more} more"] if more > 0 else []
    )
    learnings = [f"- {text}" for text in (*state.decisions, *state.learnings)]
    steps = [f"{number}. [ ] {text}" for number, text in enumerate(state.next, start=1)]
    sections = {
        "Context": _context(checkpoint, track),
        "Changes": changes,
        "Learnings": learnings,
        "Next Steps": steps,
    }
    return "\n\n".join(f"## {title}\n" + "\n".join(lines or ["- none"]) for title, lines in sections.items())


def _context(checkpoint: Checkpointed, track: TrackBeads | None) -> list[str]:
    state = checkpoint.state
    phase = [f"- **Phase:** {track.phase}"] if track and track.phase else []
    return [
        f"- **Track:** {track.track if track else 'general'}",
        f"- **Trigger:** {checkpoint.trigger}",
        *phase,
        f"- **Git:** {state.branch or read_branch(state.project) or 'unknown'}@{_commit(state)}",
        *(f"- **{label}:** {text}" for label, text in _summary(state) if text),
    ]


def _summary(state: SessionState) -> list[tuple[str, str]]:
    blockers = "; ".join(state.blockers)
    return [
        ("Goal", state.goal or state.title),
        ("Now", state.now),
        ("Done", state.outcome),
        ("Blocked by", blockers),
    ]


def _commit(state: SessionState) -> str:
    return head_commit(state.project) or "unknown"
