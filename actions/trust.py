"""What came with a project and waits for the person: words for sessions, files to change, bd to run."""

import os
from typing import NamedTuple

import msgspec

from flowd.actions.context import Context
from flowd.actions.handoff_yaml import read_handoff
from flowd.handoff.track.document import ReadHandoff, handoffs_in
from flowd.handoff.track.own import is_own, remember
from flowd.handoff.track.tracks import tracks_of
from flowd.sinks.beads.consent import accept as accept_beads
from flowd.sinks.beads.consent import find_unaccepted
from flowd.sinks.beads.directory import BeadsDirectory
from flowd.store.handoff_fields import HandoffYamlStates, untrusted_fields, user_fields
from flowd.store.knowledge.intake import ForeignBlock, accept_blocks, foreign_blocks
from flowd.store.trust import TrackedGuard, fields_digest, granted_trust, is_trusted, trust_fact
from flowd.system.errors import FlowdError
from flowd.workspace.git import tracked_files

# Fields that flowd renews as it goes: they are the repository's only until the first session has worked.
RENEWED = ("now", "branch", "files", "timestamp")
MAX_WORDS = 10_000


class Untrusted(NamedTuple):
    """Everything of a project that needs the person's yes."""

    project: str
    fields: dict[str, str]
    blocks: tuple[ForeignBlock, ...] = ()
    documents: tuple[ReadHandoff, ...] = ()
    tracked: str = ""
    beads: tuple[BeadsDirectory, str] | None = None

    @property
    def has_words(self) -> bool:
        """Whether there are words that sessions would be given."""
        return bool(self.fields or self.blocks or self.documents)

    def __bool__(self) -> bool:
        return bool(self.has_words or self.tracked or self.beads)


def find_untrusted(context: Context, root: str) -> Untrusted:
    """Return what of the project at *root* is not accepted yet."""
    journal = context.journal
    may_write = granted_trust(journal, root).may_write_tracked
    is_tracked = not may_write and TrackedGuard().is_tracked(root)
    return Untrusted(
        project=root,
        fields=foreign_fields(context, root),
        blocks=tuple(foreign_blocks(context.database, root)),
        documents=tuple(_foreign_documents(root)),
        tracked=".flow-guardian/handoff.yaml" if is_tracked else "",
        beads=find_unaccepted(root) if context.settings.beads.enabled else None,
    )


def foreign_fields(context: Context, root: str) -> dict[str, str]:
    """Return the fields of handoff.yaml that no session is given until the person accepts them."""
    journal, state = context.journal, HandoffYamlStates(context.database).get(root)
    fields = untrusted_fields(read_handoff(root), state, user_fields(journal, root)[0])
    return {} if is_trusted(journal, root, state, fields) else fields


def trust(context: Context, accepted: Untrusted) -> None:
    """Record that the person accepts exactly this; whatever changes later needs another yes."""
    granted = granted_trust(context.journal, accepted.project)
    words = granted.words | {block.digest for block in accepted.blocks}
    granted = msgspec.structs.replace(
        granted,
        digest=fields_digest(accepted.fields) if accepted.fields else granted.digest,
        words=words if len(words) <= MAX_WORDS else frozenset(block.digest for block in accepted.blocks),
        may_write_tracked=granted.may_write_tracked or bool(accepted.tracked),
    )
    context.journal.append(trust_fact(accepted.project, granted))
    accept_blocks(context.database, accepted.blocks)
    for document in accepted.documents:
        remember(accepted.project, document.text)
    if accepted.beads:
        accept_beads(accepted.beads[0])


def is_foreign_document(root: str, path: str) -> bool:
    """Return True if the document at *path* came with the project: git tracks it, flowd did not write it."""
    name = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    if name not in tracked_files(root, name):
        return False
    documents = handoffs_in(root, os.path.dirname(path))
    own = next((one for one in documents if os.path.realpath(one.path) == os.path.realpath(path)), None)
    return own is None or not is_own(root, own.text)


def withhold_document(context: Context, root: str, path: str) -> bool:
    """Return True if *path* is foreign, to be shown with a mark; raise FlowdError inside of a session."""
    if not is_foreign_document(root, path):
        return False
    if context.session_id:
        raise FlowdError(
            f"{path} came with the repository and is not accepted",
            hint="have the person read and accept it with `flow trust`",
        )
    return True


def _foreign_documents(root: str) -> list[ReadHandoff]:
    """Return the newest document of each track that was not written on this machine."""
    newest = [documents[-1] for track in tracks_of(root) if (documents := handoffs_in(root, track.handoffs))]
    return [document for document in newest if is_foreign_document(root, document.path)]
