"""Resume from a handoff document: check it against git, list what is open, record the resume."""

import os
import re
import time
from typing import NamedTuple

import msgspec

from flowd.actions.handoff.project import ProjectHandoffs
from flowd.actions.handoff.track import ResumedTrack, TrackMail, find_track, summarise_track
from flowd.actions.trust import withhold_document
from flowd.handoff.markdown.directory import handoff_files, stat_handoff
from flowd.handoff.markdown.document import DECIDED, Document, Kind
from flowd.handoff.markdown.index import ParsedHandoff, parse_file, trigger_of
from flowd.handoff.markdown.parse import read_document
from flowd.handoff.track.document import handoffs_in
from flowd.handoff.track.tracks import named_track
from flowd.model.facts import StateChanged
from flowd.sinks.track.resume import STALE_S
from flowd.store.documents import resumed_fact
from flowd.system.errors import FlowdError
from flowd.system.times import age, to_seconds
from flowd.workspace.drift import RecordedState, drift
from flowd.workspace.git import read_branch, uncommitted_files

INDEX = "index.md"

MAX_FILES_COMPARED = 20
# A mail is sent a moment after its file is written, or before.
SAME_HANDOFF_S = 120.0
_MAIL_FIELD = re.compile(r"^- \*\*(\w[\w ]*):\*\* (.+)$", re.MULTILINE)


class FoundHandoff(NamedTuple):
    """What a session resumes from: a document, or a mail, which has no path; and when it was written."""

    path: str
    document: Document
    at: float


def find_handoff(handoffs: ProjectHandoffs, name: str | None, track: ResumedTrack | None) -> FoundHandoff:
    """Return the handoff called *name*, without a name the newest; raise FlowdError if there is none."""
    of_track = _of_track(track) if track else None
    if not name:
        found = [each for each in (_of_file(handoffs.newest), of_track) if each]
        if found:
            return max(found, key=lambda each: each.at)
        raise FlowdError(f"no handoff for {handoffs.root} yet", hint="write one with `flow handoff create`")
    named = _of_file(_by_path(name) or _by_name(handoffs.documents, name))
    found_one = (
        named
        or (of_track if track and track.name == name else None)
        or _of_file(_by_track(handoffs.root, name))
    )
    if found_one is None:
        raise FlowdError(f"no handoff matches {name!r}", hint="list them with `flow handoff log`")
    return found_one


def _of_file(parsed: ParsedHandoff | None) -> FoundHandoff | None:
    if parsed is None:
        return None
    # A clone dates all files by itself: the time in the front matter of a track's handoff is the right one.
    at = to_seconds(parsed.document.timestamp) if parsed.document.timestamp else 0.0
    return FoundHandoff(parsed.file.path, parsed.document, at or parsed.file.modified_at)


def _of_track(track: ResumedTrack) -> FoundHandoff | None:
    """Return the last handoff of a track: by mail, unless a file tells the same or something newer."""
    file = stat_handoff(track.handoff.path) if track.handoff else None
    written = _of_file(parse_file(file)) if file else None
    mailed = _of_mail(track.mail) if track.mail else None
    if written is None or mailed is None:
        return mailed or written
    return mailed if mailed.at > written.at + SAME_HANDOFF_S else written


def _of_mail(mail: TrackMail) -> FoundHandoff:
    document = read_document(mail.body.replace("\n- none", ""))
    fields = {match[1]: match[2] for match in _MAIL_FIELD.finditer(mail.body)}
    purpose = fields.get("Goal") or fields.get("Done") or fields.get("Now") or mail.subject
    branch = fields.get("Git", "").rpartition("@")[0].replace("unknown", "")
    document = document._replace(purpose=purpose, branch=branch, trigger=fields.get("Trigger", ""))
    return FoundHandoff("", document, to_seconds(mail.at))


def _by_path(name: str) -> ParsedHandoff | None:
    file = stat_handoff(os.path.abspath(os.path.expanduser(name)))  # noqa: PTH100, PTH111 strings are wanted
    parsed = parse_file(file) if file else None
    if parsed and not (parsed.document.sections or parsed.document.session_id or parsed.document.timestamp):
        raise FlowdError(f"{name} is no handoff document", hint="list them with `flow handoff log`")
    return parsed


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
    progress_percent: int | None
    context: list[str]
    done: list[str]
    gotchas: list[str]
    risks: list[str]
    learnings: list[str]
    decisions: list[str]
    todos: list[str]
    not_accepted: bool = False
    track: ResumedTrack | msgspec.UnsetType = msgspec.UNSET


def resume_named(handoffs: ProjectHandoffs, name: str | None) -> ResumedHandoff:
    """Resume from the handoff that *name* refers to, without a name from the newest."""
    track = (named_track(handoffs.root, name) if name else None) or find_track(handoffs)
    summary = summarise_track(handoffs.context, track) if track is not None else None
    return _resume(handoffs, find_handoff(handoffs, name, summary), summary)


def resume_at_start(handoffs: ProjectHandoffs) -> ResumedHandoff | None:
    """Resume from the newest handoff at the start of a session, if it is recent and of another session."""
    session = handoffs.context.session_id
    if session and not _is_at_start(handoffs, session):
        return None
    track = find_track(handoffs)
    dates = [handoffs.newest.file.modified_at] if handoffs.newest else []
    dates += [written.at for written in handoffs_in(track.project, track.handoffs)[-1:]] if track else []
    if not dates or time.time() - max(dates) > STALE_S:
        return None
    if session and handoffs.newest and handoffs.newest.document.session_id == session:
        return None
    return resume_named(handoffs, None)


def _resume(handoffs: ProjectHandoffs, found: FoundHandoff, track: ResumedTrack | None) -> ResumedHandoff:
    """Compare *found* with the checkout, add the *track*, and record that the work was resumed."""
    is_foreign = bool(found.path) and withhold_document(handoffs.context, handoffs.root, found.path)
    resumed = msgspec.structs.replace(_compare(handoffs, found), not_accepted=is_foreign)
    if track is not None:
        percent = track.progress_percent if track.tasks_total else resumed.progress_percent
        resumed = msgspec.structs.replace(resumed, track=track, progress_percent=percent)
    session_id = handoffs.context.session_id
    handoffs.journal.append(resumed_fact(found.path, session_id, handoffs.root))
    return resumed


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


def _compare(handoffs: ProjectHandoffs, found: FoundHandoff) -> ResumedHandoff:
    document, root = found.document, handoffs.root
    branch = read_branch(root)
    files = _files_then(handoffs, document.session_id)
    reflection = _texts(document, "reflection")
    return ResumedHandoff(
        path=found.path,
        purpose=document.purpose,
        session_id=document.session_id,
        trigger=trigger_of(document),
        age=age(found.at),
        warnings=_warnings(handoffs, found, branch),
        branch_then=document.branch,
        branch_now=branch,
        drift=drift(root, RecordedState("", files, found.at)),
        dirty_files=uncommitted_files(root),
        progress_percent=None,
        context=_texts(document, "context"),
        done=_texts(document, "done"),
        gotchas=_texts(document, "gotchas"),
        risks=_texts(document, "risks", "blockers", "questions"),
        learnings=[text for text in reflection if not text.startswith(DECIDED)],
        decisions=[
            *_texts(document, "decisions"),
            *(text.removeprefix(DECIDED) for text in reflection if text.startswith(DECIDED)),
        ],
        todos=document.open_items,
    )


def _warnings(handoffs: ProjectHandoffs, found: FoundHandoff, branch: str) -> list[str]:
    document = found.document
    warnings = [f"Needs a person: {reason}" for reason in _escalations(handoffs, found)]
    if time.time() - found.at > STALE_S:
        warnings.append(f"Stale: written {age(found.at)}")
    if branch and document.branch and branch != document.branch:
        warnings.append(f"Branch mismatch: was {document.branch}, now {branch}")
    rivals = handoffs.ownership.rivals(handoffs.root, found.path, document) if found.path else []
    if rivals and os.path.dirname(os.path.dirname(found.path)) == handoffs.handoffs_dir:
        warnings.append(f"Project unknown: {', '.join(rivals)} uses the same handoff directory")
    return warnings


def _escalations(handoffs: ProjectHandoffs, found: FoundHandoff) -> list[str]:
    """Return the open escalations of the project, and all of a file of another directory."""
    known = [
        one.reason if one.path == found.path else f"{one.reason} ({one.path})" for one in handoffs.escalations
    ]
    if any(other.file.path == found.path for other in handoffs.documents):
        return known
    return [*found.document.escalations, *known]


def _files_then(handoffs: ProjectHandoffs, session_id: str) -> tuple[str, ...]:
    fact = handoffs.journal.fact(f"state:{session_id}")
    state = fact.body.state if fact and isinstance(fact.body, StateChanged) else None
    return state.files[:MAX_FILES_COMPARED] if state else ()


def _texts(document: Document, *kinds: Kind) -> list[str]:
    return [item.text for item in document.items(*kinds)]
