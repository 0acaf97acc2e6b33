"""Compose the briefing that a starting session gets: from core.db, the project and a person's fields."""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from flowd.actions.absence import absence
from flowd.actions.context import STATES_READ, Context, find_session
from flowd.actions.work_briefing import Around, briefing_of, with_digest
from flowd.actions.works import open_works
from flowd.config.settings import Settings
from flowd.extractors.work.project_works import current_work
from flowd.handoff.briefing import Briefing, Level, render, render_line, with_more
from flowd.handoff.errors import HandoffError
from flowd.handoff.yaml.storage import read_stored
from flowd.model.client import HookInput, keeps_what_it_was_told
from flowd.model.facts import Fact, HandoffIndexed, Injected, StateChanged
from flowd.model.session import SessionState
from flowd.model.work import Work
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact as redact_built_in
from flowd.store.database import Database
from flowd.store.documents import latest_of_project, of_project, open_escalations
from flowd.store.handoff_fields import (
    HandoffYamlStates,
    UserFields,
    untrusted_fields,
    user_fields,
)
from flowd.store.journal import Journal
from flowd.store.knowledge.context import session_context
from flowd.store.trust import is_trusted
from flowd.store.works import Works
from flowd.system.times import age
from flowd.workspace.clients import gone_sessions
from flowd.workspace.git import read_branch
from flowd.workspace.project import Project, resolve_project

# A session that starts for one of these goes on with its own work.
OWN_SOURCES = ("compact", "resume")
SAME_START_S = 10.0
SAID = ("goal", "status", "now", "hypothesis", "outcome")
MIN_ROOM_BYTES = 200
MAX_OF_HANDOFF = 5


class BriefingRequest(NamedTuple):
    """For which session a briefing is, and how long it may be."""

    cwd: str
    session_id: str = ""
    source: str = ""
    level: Level = "L1"
    budget_bytes: int = 4096
    tags: bool = True
    idle_after_s: float = 1800.0
    gone: frozenset[str] = frozenset()
    # Since when flowd has been stopped or hung, if it is.
    absence: str = ""


def request_from_hook(hook: HookInput, settings: Settings) -> BriefingRequest:
    """Return the briefing request of the SessionStart hook *hook*."""
    return BriefingRequest(
        cwd=hook.cwd,
        session_id=hook.session_id,
        source=hook.source,
        budget_bytes=settings.inject.budget_bytes,
        idle_after_s=settings.idle.after_minutes * 60,
        gone=gone_sessions(settings.claude.config_dir),
    )


def request_for_start(context: Context, root: str) -> BriefingRequest:
    """Return the request of the hook if this session, or outside of one the next, started in *root* now."""
    hook = HookInput(session_id=context.session_id, cwd=root, source="startup")
    return request_from_hook(hook, context.settings)._replace(absence=absence(context))


class Injection(NamedTuple):
    """The text for the session, which may be empty, and a warning for the person."""

    text: str
    warning: str = ""
    project: str = ""


class Brief(NamedTuple):
    """What is known for a session: the briefing and its work, None without any; a warning for the person."""

    briefing: Briefing | None
    work: Work | None
    warning: str = ""
    # The session has its whole conversation and missed nothing since.
    is_up_to_date: bool = False


def brief(
    database: Database, project: Project, asked: BriefingRequest, redact: Redact = redact_built_in
) -> Brief:
    """Return the briefing for the session of *asked* in *project*."""
    journal = Journal(database)
    # First: it brings the user's fields along if the project was moved.
    around = _around(database, project, asked)
    said, said_at = user_fields(journal, project.root)
    present, warning = _trusted_file(database, project.root, said, redact)
    asks = tuple(found.reason for found in of_project(open_escalations(journal), project.root))
    latest = latest_of_project(journal, project.root)
    found = _choose_work(project, around, asked) or _without_sessions(project, said, said_at, latest, present)
    is_known_elsewhere = any(work.project != project.root for work in around.elsewhere)
    if found is None and not asks and not is_known_elsewhere:
        return Brief(None, None, warning)
    work = msgspec.structs.replace(found or Work(id="", project=project.root), **present)
    briefing = briefing_of(project, work, around)._replace(escalations=asks, handoff=_describe(latest))
    if found is None and not present:
        briefing = briefing._replace(status="")
    if latest is not None and briefing.handoff:
        known = {*briefing.unfinished, *briefing.learnings}
        briefing = briefing._replace(
            handoff_next=tuple(text for text in latest.open_items if text not in known)[:MAX_OF_HANDOFF],
            handoff_gotchas=tuple(text for text in latest.gotchas if text not in known)[:MAX_OF_HANDOFF],
        )
    briefing = with_digest(briefing, work, around, asked.level, asked.budget_bytes)
    is_up_to_date = not asks and _is_up_to_date(around, asked, said_at)
    return Brief(briefing, work, warning, is_up_to_date)


def compose(database: Database, asked: BriefingRequest, redact: Redact = redact_built_in) -> Injection:
    """Return the briefing for the session of *asked*; its text is empty if nothing is known."""
    project = resolve_project(asked.cwd) if asked.cwd else None
    if project is None:
        return Injection("")
    found = brief(database, project, asked, redact)
    warning = "\n".join(line for line in (asked.absence, found.warning) if line)
    if found.briefing is None or found.is_up_to_date:
        line = render_line(asked.absence, tags=asked.tags) if asked.absence else ""
        return Injection(line, warning, project.root)
    briefing = found.briefing._replace(absence=asked.absence)
    text = render(briefing, level=asked.level, budget_bytes=asked.budget_bytes, tags=asked.tags)
    return Injection(_with_knowledge(database, project.root, text, asked), warning, project.root)


def _around(database: Database, project: Project, asked: BriefingRequest) -> Around:
    return Around(
        works=open_works(database, project.root),
        elsewhere=_elsewhere(database, project),
        states=Journal(database).states_of(project.root, project.repository, STATES_READ),
        idle_after_s=asked.idle_after_s,
        gone=asked.gone,
        asking=asked.session_id,
        is_own=asked.source in OWN_SOURCES,
    )


def _elsewhere(database: Database, project: Project) -> list[Work]:
    """Return the works of other worktrees and of other clones of *project*'s repository, latest first."""
    store = Works(database)
    found = {work.id: work for work in store.of_clones(project.root)}
    found |= {work.id: work for work in store.of_repository(project.repository)}
    return sorted(found.values(), key=lambda work: -work.touched_at)


def _choose_work(project: Project, around: Around, asked: BriefingRequest) -> Work | None:
    """Return the work for the session: the one it continues, else the latest on this branch."""
    works = around.works.works
    if asked.source in OWN_SOURCES:
        own = next((work for work in works if asked.session_id in work.sessions), None)
        if own is not None:
            return own
    others = [work for work in works if work.sessions != (asked.session_id,)]
    return current_work(others, read_branch(project.root))


def _is_up_to_date(around: Around, asked: BriefingRequest, said_at: float) -> bool:
    """Return True for a resumed session that has its whole conversation and missed nothing since."""
    own = find_session(around.states, asked.session_id, asked.cwd) if asked.session_id else None
    if own is None or asked.source != "resume":
        return False
    others = [work.touched_at for work in around.works.works if work.session_id != asked.session_id]
    # Compare records, not file times: the client touches the file when it resumes.
    return own.last_activity_at >= max([said_at, *others])


def _without_sessions(
    project: Project,
    said: UserFields,
    said_at: float,
    latest: HandoffIndexed | None,
    present: Mapping[str, str],
) -> Work | None:
    """Return a work made of a person's fields and documents alone, None where there are none either."""
    if not said and not present and latest is None:
        return None
    fields = {name: value for name, value in said.items() if isinstance(value, str) and name in SAID}
    at = said_at or (latest.modified_ns / 1e9 if latest else 0.0)
    return msgspec.structs.replace(Work(id="", project=project.root, touched_at=at), **fields)


def _describe(latest: HandoffIndexed | None) -> str:
    """Return one line about the latest handoff document; an automatic one only repeats the work."""
    if latest is None or latest.is_auto:
        return ""
    return f"{latest.path} ({age(latest.modified_ns / 1e9)}): {latest.purpose}"


def _with_knowledge(database: Database, root: str, text: str, asked: BriefingRequest) -> str:
    """Append what earlier tasks learned to *text*, as far as the budget allows."""
    room = asked.budget_bytes - len(text.encode()) - 1
    if room < MIN_ROOM_BYTES:
        return text
    return with_more(text, session_context(database, root, room).strip("\n"))


def was_told(database: Database, asked: BriefingRequest) -> bool:
    """Return True if the same start has just been answered: another hook of the same session was faster."""
    facts = Journal(database).facts_of_session(asked.session_id, "injected")
    return any(
        isinstance(fact.body, Injected)
        and fact.body.source == asked.source
        and time.time() - fact.at < SAME_START_S
        for fact in facts
    )


def record_injection(database: Database, hook: HookInput, injection: Injection) -> None:
    """Record in core.db that the session of *hook* was given *injection*."""
    now = time.time()
    key = f"{hook.session_id}:injected:{hook.source}:{now}"
    body = Injected(hook.source, injection.text)
    Journal(database).append(Fact(key, hook.session_id, injection.project, now, body))


def hook_output(injection: Injection) -> str:
    """Return the JSON that a SessionStart hook prints, empty for an empty injection."""
    answer: dict[str, Any] = {}
    if injection.text:
        answer["hookSpecificOutput"] = {
            "hookEventName": "SessionStart",
            "additionalContext": injection.text,
        }
    if injection.warning:
        answer["systemMessage"] = injection.warning
    return msgspec.json.encode(answer).decode() if answer else ""


def _trusted_file(
    database: Database, root: str, said: UserFields, redact: Redact
) -> tuple[Mapping[str, str], str]:
    """Return the person's fields of handoff.yaml, or a warning why they are ignored."""
    try:
        present = read_stored(root).mapping or {}
    except HandoffError as error:
        return {}, f"flowd ignores this project's .flow-guardian/handoff.yaml: {error}"
    shown = HandoffYamlStates(database).get(root)
    foreign = untrusted_fields(present, shown, said)
    if is_trusted(Journal(database), root, shown, foreign):
        return {field: redact(value) for field, value in foreign.items()}, ""
    return {}, (
        "flowd ignores this project's .flow-guardian/handoff.yaml because it came with the repository. "
        "Review it, then run `flow trust`."
    )


def injection_for_start(context: Context, hook: HookInput, absence: str = "") -> Injection:
    """Return what a starting session is to be given; nothing for a start that was just answered.

    Whoever delivers it records it afterwards: what did not arrive was not told.
    """
    if hook.headless and not context.settings.inject.headless:
        return Injection("")
    asked = request_from_hook(hook, context.settings)._replace(absence=absence)
    if was_told(context.database, asked):
        return Injection("")
    needed = asked._replace(source=_source(context.database, hook))
    return compose(context.database, needed, context.redact)


def _source(database: Database, hook: HookInput) -> str:
    """Return why the session starts: ``compact`` for a resumed client that lost its injected text."""
    if hook.source == "resume":
        for fact in Journal(database).facts_of_session(hook.session_id, "state"):
            if isinstance(fact.body, StateChanged) and _has_forgotten(fact.body.state):
                return "compact"
    return hook.source


def _has_forgotten(state: SessionState) -> bool:
    return bool(state.compactions) and not keeps_what_it_was_told(state.client)
