"""Resume from a handoff document: check it against git, list what is open, record the resume."""

import os
import time

import msgspec

from flowd.actions.handoff.project import ProjectHandoffs
from flowd.actions.handoff.track import ResumedTrack, find_track, summarise_track
from flowd.actions.trust import withhold_document
from flowd.handoff.markdown.directory import handoff_files, stat_handoff
from flowd.handoff.markdown.document import Document, Kind
from flowd.handoff.markdown.index import ParsedHandoff, parse_file, trigger_of
from flowd.handoff.track.tracks import Track, named_track
from flowd.model.facts import StateChanged
from flowd.sinks.track.resume import STALE_S
from flowd.store.documents import resumed_fact
from flowd.system.errors import FlowdError
from flowd.system.times import age
from flowd.workspace.drift import RecordedState, drift
from flowd.workspace.git import read_branch, uncommitted_files

INDEX = "index.md"

MAX_FILES_COMPARED = 20


def find_handoff(handoffs: ProjectHandoffs, name: str | None) -> ParsedHandoff:
    """Return the handoff called *name*, without a name the newest; raise FlowdError if there is none."""
    if not name:
        if handoffs.newest:
            return handoffs.newest
        raise FlowdError(f"no handoff for {handoffs.root} yet", hint="write one with `flow handoff create`")
    found = _by_path(name) or _by_name(handoffs.documents, name) or _by_track(handoffs.root, name)
    if found is None:
        raise FlowdError(f"no handoff matches {name!r}", hint="list them with `flow handoff log`")
    return found


def _by_path(name: str) -> ParsedHandoff | None:
    file = stat_handoff(os.path.abspath(os.path.expanduser(name)))  # noqa: PTH100, PTH111 strings are wanted
    return parse_file(file) if file else None


def _by_name(documents: list[ParsedHandoff], name: str) -> ParsedHandoff | None:
    for parsed in documents:
        if os.path.basename(parsed.file.path).startswith(name) or parsed.document.session_id.startswith(name):
            return parsed
    return None


def _by_track(root: str, name: str) -> ParsedHandoff | None:
    folder = os.path.join(root, "conductor", "handoffs")
    directory = os.path.join(folder, name)
    if os.path.dirname(os.path.realpath(directory)) != os.path.realpath(folder):
        return None
    files = [file for file in handoff_files(directory) if os.path.basename(file.path) != INDEX]
    return parse_file(files[0]) if files else None


class ResumedHandoff(msgspec.Struct, frozen=True):
    """The content of a handoff document, and how far it is still valid."""

    path: str
    purpose: str
    session_id: str
    trigger: str
    age: str
    warnings: list[str]
    branch_then: str
    branch_now: str
    drift: list[str]
    dirty_files: list[str]
    progress_percent: int
    done: list[str]
    gotchas: list[str]
    risks: list[str]
    todos: list[str]
    not_accepted: bool = False
    track: ResumedTrack | msgspec.UnsetType = msgspec.UNSET


def resume_named(handoffs: ProjectHandoffs, name: str | None) -> ResumedHandoff:
    """Resume from the handoff that *name* refers to, without a name from the newest."""
    track = (named_track(handoffs.root, name) if name else None) or find_track(handoffs)
    if not name and not handoffs.documents and track is not None:
        name = track.name
    return resume_handoff(handoffs, find_handoff(handoffs, name), track)


def resume_handoff(handoffs: ProjectHandoffs, parsed: ParsedHandoff, track: Track | None) -> ResumedHandoff:
    """Compare *parsed* with the checkout, summarise *track*, and record that the work was resumed."""
    is_foreign = withhold_document(handoffs.context, handoffs.root, parsed.file.path)
    resumed = msgspec.structs.replace(_compare(handoffs, parsed), not_accepted=is_foreign)
    if track is not None:
        summary = summarise_track(handoffs.context, track)
        percent = summary.progress_percent or resumed.progress_percent
        resumed = msgspec.structs.replace(resumed, track=summary, progress_percent=percent)
    session_id = handoffs.context.session_id
    handoffs.journal.append(resumed_fact(parsed.file.path, session_id, handoffs.root))
    return resumed


def should_resume(handoffs: ProjectHandoffs) -> bool:
    """Return True at the start of a session if the newest handoff is recent and of another session."""
    session, newest = handoffs.context.session_id, handoffs.newest
    if newest is None or (session and not _is_at_start(handoffs, session)):
        return False
    is_recent = time.time() - newest.file.modified_at < STALE_S
    return is_recent and (not session or newest.document.session_id != session)


def _is_at_start(handoffs: ProjectHandoffs, session: str) -> bool:
    """Return True if the session has had no request yet and has neither written nor resumed a handoff."""
    journal = handoffs.journal
    fact = journal.fact(f"state:{session}")
    state = fact.body.state if fact and isinstance(fact.body, StateChanged) else None
    # Until the first request, the goal is only the title that the client gives.
    has_asked = state is not None and state.goal not in ("", state.title)
    return not (
        has_asked
        or journal.facts_of_session(session, "handoff")
        or journal.facts_of_session(session, "handoff-resumed")
    )


def _compare(handoffs: ProjectHandoffs, parsed: ParsedHandoff) -> ResumedHandoff:
    document, root = parsed.document, handoffs.root
    branch, modified_at = read_branch(root), parsed.file.modified_at
    files = _files_then(handoffs, document.session_id)
    return ResumedHandoff(
        path=parsed.file.path,
        purpose=document.purpose,
        session_id=document.session_id,
        trigger=trigger_of(document),
        age=age(modified_at),
        warnings=_warnings(handoffs, parsed, branch),
        branch_then=document.branch,
        branch_now=branch,
        drift=drift(root, RecordedState("", files, modified_at)),
        dirty_files=uncommitted_files(root),
        progress_percent=document.progress_percent,
        done=_texts(document, "done"),
        gotchas=_texts(document, "gotchas"),
        risks=_texts(document, "risks", "blockers", "questions"),
        todos=document.open_items,
    )


def _warnings(handoffs: ProjectHandoffs, parsed: ParsedHandoff, branch: str) -> list[str]:
    document = parsed.document
    found = [f"Needs a person: {reason}" for reason in _escalations(handoffs, parsed)]
    if time.time() - parsed.file.modified_at > STALE_S:
        found.append(f"Stale: written {age(parsed.file.modified_at)}")
    if branch and document.branch and branch != document.branch:
        found.append(f"Branch mismatch: was {document.branch}, now {branch}")
    rivals = handoffs.ownership.rivals(handoffs.root, parsed.file.path, document)
    if rivals and os.path.dirname(os.path.dirname(parsed.file.path)) == handoffs.handoffs_dir:
        found.append(f"Project unknown: {', '.join(rivals)} uses the same handoff directory")
    return found


def _escalations(handoffs: ProjectHandoffs, parsed: ParsedHandoff) -> list[str]:
    """Return the escalations that no person has acknowledged; all of them for a file of another directory."""
    if not any(other.file.path == parsed.file.path for other in handoffs.documents):
        return list(parsed.document.escalations)
    return [found.reason for found in handoffs.escalations if found.path == parsed.file.path]


def _files_then(handoffs: ProjectHandoffs, session_id: str) -> tuple[str, ...]:
    fact = handoffs.journal.fact(f"state:{session_id}")
    state = fact.body.state if fact and isinstance(fact.body, StateChanged) else None
    return state.files[:MAX_FILES_COMPARED] if state else ()


def _texts(document: Document, *kinds: Kind) -> list[str]:
    return [item.text for item in document.items(*kinds)]
