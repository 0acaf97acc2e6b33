"""Create a handoff document of this session for the next one, and begin an epic with one."""

import os
import time

import msgspec

from flowd.actions.daemon_client import poke_daemon
from flowd.actions.handoff.project import ProjectHandoffs
from flowd.actions.handoff.track import (
    AskAboutWorkers,
    ResumedTrack,
    TrackCreated,
    create_in_track,
    find_track,
    summarise_track,
)
from flowd.handoff.markdown.directory import (
    add_file,
    encode_path,
    handoff_files,
    replace_file,
    stat_handoff,
    text_digest,
)
from flowd.handoff.markdown.document import NO_PURPOSE
from flowd.handoff.markdown.index import MAX_READ, ParsedHandoff, parse_file, write_index
from flowd.handoff.markdown.parse import MAX_READ_BYTES, decoded, read_bytes, read_document
from flowd.handoff.markdown.render import SECTIONS, HandoffDraft, added_to, render_draft
from flowd.handoff.track.tracks import Track
from flowd.model.checkpoints import checkpoint_event, checkpoint_fact
from flowd.model.facts import Fact, Trigger
from flowd.model.session import PERSON, SessionState
from flowd.redaction.data import Redact
from flowd.sinks.handoff_markdown import PreviousHandoff, session_draft, words_for
from flowd.store.documents import indexed_fact
from flowd.store.handoff_fields import binding_fact
from flowd.system.errors import FlowdError
from flowd.workspace.git import read_branch, uncommitted_files

# Kept by tools: a change there is none of the work.
TOOL_FOLDERS = (".beads/", ".flow-guardian/", "conductor/")
NOTHING_HINT = 'say what was done and what comes next: flow handoff create --done "…" --next "…"'


class HandoffRequest(msgspec.Struct, frozen=True):
    """Why a handoff is created, for which track and epic, and what the person adds to it."""

    trigger: Trigger = "manual"
    track: str = ""
    epic: str = ""
    purpose: str = ""
    done: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    gotchas: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    reflection: tuple[str, ...] = ()

    def redacted(self, redact: Redact) -> "HandoffRequest":
        """Return this request without secrets."""
        sections = {
            name: tuple(map(redact, getattr(self, name)))
            for name in ("done", "next", "gotchas", "risks", "reflection")
        }
        return msgspec.structs.replace(self, purpose=redact(self.purpose), **sections)


class CreateResult(msgspec.Struct, frozen=True):
    """The new document; ``path`` is empty if the track's handoff was cancelled."""

    path: str
    purpose: str
    open_items: list[str]
    track: TrackCreated | msgspec.UnsetType = msgspec.UNSET


def create_handoff(
    handoffs: ProjectHandoffs, request: HandoffRequest, ask: AskAboutWorkers | None = None
) -> CreateResult:
    """Create the handoff in the conductor's track, if there is one, then record and write the document."""
    request = request.redacted(handoffs.context.redact)
    state = _present_state(handoffs)
    track = find_track(handoffs, request.track)
    checkpoint = _checkpoint(state, request, track.name if track else "")
    created = create_in_track(handoffs.context, track, checkpoint, ask)
    if created is not None and created.cancelled:
        return CreateResult("", request.purpose, [], created)
    handoffs.journal.append(checkpoint)
    draft = _with_words(_draft(handoffs, state, request.trigger), request)
    if created is not None:
        draft = draft._replace(done=(*draft.done, *_progress(created)))
    is_added = handoffs.newest is not None and _is_of_session(handoffs.newest, draft.session_id)
    if draft.is_empty and not is_added:
        raise FlowdError("there is nothing to hand over yet", hint=NOTHING_HINT)
    written = write_document(handoffs, draft)
    document = written.document
    return CreateResult(written.file.path, document.purpose, document.open_items, created or msgspec.UNSET)


def _progress(created: TrackCreated) -> list[str]:
    if created.progress_percent == 0 and not created.path:
        return []
    return [f"Track {created.name}: {created.progress_percent} %, {created.path}"]


def draft_document(handoffs: ProjectHandoffs, trigger: Trigger) -> HandoffDraft:
    """Return the draft of a document of the present state."""
    return _draft(handoffs, _present_state(handoffs), trigger)


def write_document(handoffs: ProjectHandoffs, draft: HandoffDraft) -> ParsedHandoff:
    """Write the document, index it in core.db and in the index file, and wake the daemon."""
    newest = handoffs.newest
    if newest is not None and _is_of_session(newest, draft.session_id):
        path = newest.file.path
        text = added_to(decoded(read_bytes(path)), draft, handoffs.context.redact)
        replace_file(path, text)
    else:
        text = render_draft(_with_earlier(handoffs, draft), handoffs.context.redact)
        path = add_file(handoffs.directory, _stem(draft.session_id), text)
    written = index_document(handoffs, path, text)
    _write_index(handoffs, written)
    poke_daemon(handoffs.context.paths)
    return written


def _is_of_session(parsed: ParsedHandoff, session_id: str) -> bool:
    """Return True if *parsed* is a handoff that the session wrote itself, to which another is added."""
    document = parsed.document
    return document.session_id == session_id and not document.is_auto and parsed.file.size < MAX_READ_BYTES


def _with_earlier(handoffs: ProjectHandoffs, draft: HandoffDraft) -> HandoffDraft:
    """Return *draft* with what the session's own earlier handoff says, which another one has followed."""
    earlier = next((each for each in handoffs.documents if _is_of_session(each, draft.session_id)), None)
    if earlier is None:
        return draft
    before = {name: [item.text for item in earlier.document.items(name)] for name in SECTIONS}  # type: ignore[arg-type]  # kinds
    merged = {name: tuple(dict.fromkeys([*before[name], *getattr(draft, name)])) for name in SECTIONS}
    purpose = draft.purpose or ("" if earlier.document.purpose == NO_PURPOSE else earlier.document.purpose)
    stated = draft.stated | {text for texts in before.values() for text in texts}
    return draft._replace(purpose=purpose, stated=frozenset(stated))._replace(**merged)  # type: ignore[arg-type]  # texts


def index_document(handoffs: ProjectHandoffs, path: str, text: str) -> ParsedHandoff:
    """Index the document at *path*, which has just been written as *text*, in core.db."""
    file = stat_handoff(path)
    if file is None:
        raise FileNotFoundError(path)
    parsed = ParsedHandoff(file, read_document(text), text_digest(text.encode("utf-8", "replace")))
    handoffs.journal.append(indexed_fact(parsed, handoffs.root, handoffs.context.redact))
    return parsed


def _write_index(handoffs: ProjectHandoffs, written: ParsedHandoff) -> None:
    """Write the index file of the directory; only documents that were not read yet are parsed."""
    known = {parsed.file: parsed for parsed in (written, *handoffs.documents)}
    files = handoff_files(handoffs.directory)[:MAX_READ]
    parsed = [known.get(file) or parse_file(file) for file in files]
    write_index(handoffs.directory, [each for each in parsed if each is not None], handoffs.context.redact)


def _present_state(handoffs: ProjectHandoffs) -> SessionState:
    """Return the session's state for this project; without edited files, with the uncommitted ones."""
    state = handoffs.state()
    changed = [name for name in uncommitted_files(handoffs.root) if not name.startswith(TOOL_FOLDERS)]
    files = state.files or tuple(map(handoffs.context.redact, changed))
    return msgspec.structs.replace(state, project=handoffs.root, files=files)


def _checkpoint(state: SessionState, request: HandoffRequest, track: str) -> Fact:
    """Return the checkpoint of *state*, the person's words first."""
    with_words = msgspec.structs.replace(
        state,
        goal=request.purpose or state.goal,
        outcome="; ".join(request.done) or state.outcome,
        next=(*request.next, *state.next),
        learnings=(*request.gotchas, *request.reflection, *state.learnings),
        blockers=(*request.risks, *state.blockers),
    )
    event = checkpoint_event(request.trigger, state)
    if request.epic:
        event = f"{request.trigger}:{track}:{request.epic}:{time.time()}"
    return checkpoint_fact(with_words, request.trigger, event, "", track=track, epic=request.epic)


def _draft(handoffs: ProjectHandoffs, state: SessionState, trigger: Trigger) -> HandoffDraft:
    newest, session_id = handoffs.newest, _document_session(state.session_id)
    if newest is not None and _is_of_session(newest, session_id):
        newest = None  # it is added to, and what it leaves open stays in it
    previous = PreviousHandoff(os.path.basename(newest.file.path), newest.document) if newest else None
    draft = session_draft(state, trigger, words_for(handoffs.journal, state), previous)
    return draft._replace(branch=read_branch(handoffs.root) or draft.branch, session_id=session_id)


def _with_words(draft: HandoffDraft, request: HandoffRequest) -> HandoffDraft:
    return draft._replace(
        purpose=request.purpose or draft.purpose,
        done=(*request.done, *draft.done),
        next=(*request.next, *draft.next),
        gotchas=(*request.gotchas, *draft.gotchas),
        risks=(*request.risks, *draft.risks),
        reflection=(*request.reflection, *draft.reflection),
        stated=frozenset(
            (*request.done, *request.next, *request.gotchas, *request.risks, *request.reflection)
        ),
    )


def _document_session(session_id: str) -> str:
    """Return the session id for the document; each document of a person has one of its own."""
    if session_id != PERSON:
        return session_id
    return time.strftime(f"{PERSON}-%Y-%m-%d-%H%M%S-") + os.urandom(2).hex()


def _stem(session_id: str) -> str:
    return encode_path(session_id if session_id.startswith(f"{PERSON}-") else session_id[:8])


class BegunEpic(msgspec.Struct, frozen=True):
    """The track as it was found, and the handoff that marks the start of the epic."""

    track: ResumedTrack
    created: TrackCreated


def begin_epic(
    handoffs: ProjectHandoffs, track_name: str, epic: str = "", ask: AskAboutWorkers | None = None
) -> BegunEpic:
    """Begin *epic*, by default the first open one of the track."""
    track = find_track(handoffs, track_name)
    if track is None:
        raise FlowdError(
            "the conductor is switched off", hint="set `conductor.enabled: true`, see `flowd config`"
        )
    summary = summarise_track(handoffs.context, track)
    checkpoint = _epic_checkpoint(handoffs, track, epic or _first_open(track))
    created = create_in_track(handoffs.context, track, checkpoint, ask)
    assert created is not None, "epic-start is a trigger of the conductor"
    if not created.cancelled:
        handoffs.journal.append(*_epic_facts(handoffs, track, checkpoint))
        poke_daemon(handoffs.context.paths)
    return BegunEpic(summary, created)


def _epic_checkpoint(handoffs: ProjectHandoffs, track: Track, epic: str) -> Fact:
    state = msgspec.structs.replace(handoffs.state(), project=handoffs.root)
    moment = f"epic-start:{track.name}:{epic}:{time.time()}"
    return checkpoint_fact(state, "epic-start", moment, "", track=track.name, epic=epic)


def _epic_facts(handoffs: ProjectHandoffs, track: Track, checkpoint: Fact) -> list[Fact]:
    session = handoffs.context.session_id
    return [checkpoint, *([binding_fact(session, handoffs.root, track.name)] if session else [])]


def _first_open(track: Track) -> str:
    labels = track.plan().labels
    return next((label for label, phase in labels.items() if not phase.is_closed), "")
