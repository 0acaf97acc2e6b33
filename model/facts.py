"""The vocabulary of the journal: what can be known about a session, as frozen values."""

import msgspec

from flowd.model.block import FoundBlock
from flowd.model.session import SessionState
from flowd.model.session import Trigger as Trigger
from flowd.model.work import StepEdit, Work


class StateChanged(msgspec.Struct, frozen=True, tag="state"):
    """The state of a session after new records; the newest replaces the earlier ones."""

    state: SessionState


class Compacted(msgspec.Struct, frozen=True, tag="compacted"):
    """The client compacted the conversation."""

    trigger: str
    tokens_before: int


class Titled(msgspec.Struct, frozen=True, tag="titled"):
    """The client or the person gave the session a title."""

    title: str


class PullRequestLinked(msgspec.Struct, frozen=True, tag="pull-request"):
    """The session made or joined a pull request."""

    number: int
    url: str
    repository: str


class AwaySummarised(msgspec.Struct, frozen=True, tag="away-summary"):
    """The client's recap, written while the person was away."""

    text: str


class TranscriptVanished(msgspec.Struct, frozen=True, tag="vanished"):
    """A transcript is gone from disk; this is what was kept of it."""

    path: str
    bytes_read: int
    records_kept: int


class SessionEnded(msgspec.Struct, frozen=True, tag="ended"):
    """The client ended the session."""

    reason: str


class Checkpointed(msgspec.Struct, frozen=True, tag="checkpoint"):
    """The whole state at an event worth keeping, under one id for every sink.

    ``track`` and ``epic`` are set for the events of a conductor track.
    """

    id: str
    trigger: Trigger
    state: SessionState
    message: str = ""
    track: str = ""
    epic: str = ""
    # The session did nothing for any work: documents about it would hide those of the work.
    is_visitor: bool = False


class UserFieldsSaved(msgspec.Struct, frozen=True, tag="words"):
    """Fields that a person set for a project; they outrank everything extracted.

    ``at`` is when each field was set, ``work`` the work it was set for; empty means the work of that time.
    """

    said: dict[str, str | list[str]]
    at: dict[str, float] = {}
    work: str = ""


class WorkChanged(msgspec.Struct, frozen=True, tag="work"):
    """A work changed. The newest fact replaces all before it."""

    work: Work


class StepEdited(msgspec.Struct, frozen=True, tag="step"):
    """A person added, finished or dropped a step."""

    edit: StepEdit


class TrustGranted(msgspec.Struct, frozen=True, tag="trusted"):
    """What a person accepted that came with a project: exactly these words, and nothing that changes later.

    ``digest`` is of the fields of its handoff.yaml, ``words`` holds the digests of blocks and documents;
    ``may_write_tracked`` lets flowd change a handoff.yaml that git tracks.
    """

    digest: str = ""
    words: frozenset[str] = frozenset()
    may_write_tracked: bool = False


class Injected(msgspec.Struct, frozen=True, tag="injected"):
    """The briefing of a session at its start or after a compaction."""

    source: str
    text: str


class BlockFound(msgspec.Struct, frozen=True, tag="block"):
    """A structured handoff block, in a document or in conversation; an invalid one has its violations."""

    found: FoundBlock
    file: str = ""
    record: str = ""


class WentIdle(msgspec.Struct, frozen=True, tag="idle"):
    """Nothing happened in the session for longer than the idle setting."""

    minutes: int


class HandoffIndexed(msgspec.Struct, frozen=True, tag="handoff", omit_defaults=True):
    """A handoff document of a project, as parsed."""

    path: str
    modified_ns: int
    size: int
    purpose: str = ""
    trigger: str = ""
    is_auto: bool = False
    open_items: tuple[str, ...] = ()
    escalations: tuple[str, ...] = ()
    gotchas: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()


class HandoffWritten(msgspec.Struct, frozen=True, tag="handoff-written"):
    """flowd writes an automatic handoff; one with another digest has been edited by someone.

    ``digests`` keeps the one before as well: a crash between noting and writing must not make flowd's
    own file look like another's.
    """

    path: str
    digests: tuple[str, ...]


class HandoffMoved(msgspec.Struct, frozen=True, tag="handoff-moved"):
    """A handoff was moved from a directory whose name identified its project better than the present one."""

    path: str
    from_directory: str


class HandoffResumed(msgspec.Struct, frozen=True, tag="handoff-resumed"):
    """A session took up the work that a handoff describes."""

    path: str


class TrackBound(msgspec.Struct, frozen=True, tag="track-bound"):
    """A session works on this track of the conductor, whatever else has changed."""

    track: str


class Acknowledged(msgspec.Struct, frozen=True, tag="acknowledged"):
    """A person has seen these escalations of a handoff."""

    path: str
    reasons: tuple[str, ...]


Body = (
    StateChanged
    | WorkChanged
    | StepEdited
    | HandoffIndexed
    | HandoffWritten
    | HandoffMoved
    | HandoffResumed
    | Acknowledged
    | TrackBound
    | BlockFound
    | Checkpointed
    | UserFieldsSaved
    | TrustGranted
    | Injected
    | SessionEnded
    | WentIdle
    | Compacted
    | Titled
    | PullRequestLinked
    | AwaySummarised
    | TranscriptVanished
)

# The newest fact of these kinds replaces the earlier ones with the same key.
REPLACING = (
    StateChanged,
    WorkChanged,
    StepEdited,
    Checkpointed,
    UserFieldsSaved,
    TrustGranted,
    HandoffIndexed,
    HandoffWritten,
    HandoffMoved,
    Acknowledged,
    TrackBound,
)


class Fact(msgspec.Struct, frozen=True):
    """One thing known. ``key`` makes it idempotent: the same key is the same fact."""

    key: str
    session_id: str
    project: str
    at: float
    body: Body
    seq: int = 0

    @property
    def kind(self) -> str:
        """The tag of the body, as stored."""
        return str(type(self.body).__struct_config__.tag)


def state_fact(state: SessionState) -> Fact:
    """Return the fact of *state*; its key is the session, so that a newer one replaces it."""
    return Fact(
        key=f"state:{state.session_id}",
        session_id=state.session_id,
        project=state.project,
        at=state.last_activity_at,
        body=StateChanged(state),
    )
