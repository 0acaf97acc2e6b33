"""Compose the briefing that a starting session gets: from core.db, the project and a person's fields."""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from flowd.actions.context import Context
from flowd.actions.session import STATES_READ, find_session
from flowd.config.settings import Settings
from flowd.handoff.briefing import Briefing, Level, render, with_more
from flowd.handoff.errors import HandoffError
from flowd.handoff.yaml.storage import read_stored
from flowd.model.client import keeps_what_it_was_told
from flowd.model.facts import Fact, HandoffIndexed, Injected, StateChanged
from flowd.model.hook_input import HookInput
from flowd.model.session import SessionState, latest_activity, phase_of
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact as redact_built_in
from flowd.store.database import Database
from flowd.store.documents import latest_of_project, of_project, open_escalations
from flowd.store.handoff_yaml_state import HandoffYamlStates
from flowd.store.journal import Journal
from flowd.store.knowledge.context import session_context
from flowd.store.user_fields import UserFields, is_trusted, untrusted_fields, user_fields
from flowd.system.times import age
from flowd.workspace.clients import gone_sessions
from flowd.workspace.drift import RecordedState, drift
from flowd.workspace.git import read_branch
from flowd.workspace.project import Project, resolve_project

SAME_START_S = 10.0
OTHERS_SHOWN = 4
MIN_ROOM_BYTES = 200


class BriefingRequest(NamedTuple):
    """For which session a briefing is, and how long it may be."""

    cwd: str
    session_id: str = ""
    source: str = ""
    level: Level = "L1"
    budget_bytes: int = 2048
    tags: bool = True
    idle_after_s: float = 1800.0
    gone: frozenset[str] = frozenset()


def request_from_hook(hook: HookInput, settings: Settings) -> BriefingRequest:
    """Return the request that the SessionStart hook *hook* stands for."""
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
    return request_from_hook(hook, context.settings)


class Injection(NamedTuple):
    """The text for the session, empty without anything to say, and a warning for the person."""

    text: str
    warning: str = ""
    project: str = ""


def compose(database: Database, asked: BriefingRequest, redact: Redact = redact_built_in) -> Injection:
    """Return the briefing for the session of *asked*; its text is empty if there is nothing to say."""
    project = resolve_project(asked.cwd) if asked.cwd else None
    if project is None:
        return Injection("")
    journal = Journal(database)
    states = journal.states_of(project.root, project.repository, STATES_READ)
    said, said_at = user_fields(journal, project.root)
    present, warning = _trusted_file(database, project.root, said, redact)
    state = _choose_state(states, asked, said_at)
    latest = latest_of_project(journal, project.root)
    asks = tuple(found.reason for found in of_project(open_escalations(journal), project.root))
    nothing = state is None and not present and not said and latest is None
    if nothing or (_is_up_to_date(states, asked, said_at) and not asks):
        return Injection("", warning, project.root)
    at = said_at or (latest.modified_ns / 1e9 if latest and state is None else 0.0)
    briefing = _briefing(project, state, _person(present, said), at, _others(states, state, asked))
    briefing = briefing._replace(escalations=asks, handoff=_describe(latest))
    if state and phase_of(state, asked.idle_after_s, asked.gone) == "unfinished":
        briefing = briefing._replace(age=f"{briefing.age}, left unfinished when its client was killed")
    text = render(briefing, level=asked.level, budget_bytes=asked.budget_bytes, tags=asked.tags)
    return Injection(_with_knowledge(database, project.root, text, asked), warning, project.root)


def _describe(latest: HandoffIndexed | None) -> str:
    return f"{latest.path} ({age(latest.modified_ns / 1e9)}): {latest.purpose}" if latest else ""


def _with_knowledge(database: Database, root: str, text: str, asked: BriefingRequest) -> str:
    """Append what earlier tasks learned to *text*, as far as the budget allows."""
    room = asked.budget_bytes - len(text.encode()) - 1
    if room < MIN_ROOM_BYTES:
        return text
    return with_more(text, session_context(database, root, room).strip("\n"))


def record_injection(database: Database, asked: BriefingRequest, injection: Injection) -> bool:
    """Record *injection* in core.db; return False if the same start has just been answered."""
    journal = Journal(database)
    now = time.time()
    for fact in journal.facts_of_session(asked.session_id, "injected"):
        if (
            isinstance(fact.body, Injected)
            and fact.body.source == asked.source
            and now - fact.at < SAME_START_S
        ):
            return False
    key = f"{asked.session_id}:injected:{asked.source}:{now}"
    body = Injected(asked.source, injection.text)
    journal.append(Fact(key, asked.session_id, injection.project, now, body))
    return True


def hook_output(injection: Injection) -> str:
    """Return the JSON that a SessionStart hook prints, empty without anything to say."""
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


def _choose_state(states: list[SessionState], asked: BriefingRequest, said_at: float) -> SessionState | None:
    """Return the state that the session needs: its own after a compaction, else the latest other one."""
    worth = [state for state in states if state.goal or state.now or state.files]
    own = _own(worth, asked)
    other = next((state for state in worth if state.session_id != asked.session_id), None)
    if own is None or asked.source not in ("compact", "resume"):
        return other
    if asked.source == "compact" or (other is None or latest_activity(other) < said_at):
        return own
    return other


def _own(states: list[SessionState], asked: BriefingRequest) -> SessionState | None:
    # A request without an id is that of a new session, which has no state yet.
    return find_session(states, asked.session_id, asked.cwd) if asked.session_id else None


def _is_up_to_date(states: list[SessionState], asked: BriefingRequest, said_at: float) -> bool:
    """Return True for a resumed session that has its whole conversation and missed nothing since."""
    own = _own(states, asked)
    if own is None or asked.source != "resume":
        return False
    others = [state.last_activity_at for state in states if state is not own]
    # Compare records, not file times: the client touches the file when it resumes.
    return own.last_activity_at >= max([said_at, *others])


def _person(present: Mapping[str, str], said: UserFields) -> dict[str, str]:
    words = {field: value for field, value in said.items() if isinstance(value, str) and value}
    return words | dict(present)


def _briefing(
    project: Project,
    state: SessionState | None,
    person: dict[str, str],
    said_at: float,
    others: tuple[str, ...],
) -> Briefing:
    state = state or SessionState(session_id="", last_activity_at=said_at)
    at = max(latest_activity(state), said_at)
    if said_at < latest_activity(state):
        person = {field: value for field, value in person.items() if field != "now"}
    then = RecordedState(state.branch, state.files[:20], at)
    return Briefing(
        project=project.root,
        session=state.session_id,
        age=age(at),
        goal=person.get("goal") or state.goal or state.title,
        status=person.get("status") or state.status,
        now=person.get("now") or state.now,
        hypothesis=person.get("hypothesis") or state.hypothesis,
        outcome=person.get("outcome") or state.outcome,
        branch=read_branch(project.root) or state.branch,
        files=state.files,
        drift=tuple(drift(project.root, then)),
        unfinished=state.next,
        blockers=state.blockers,
        questions=state.questions,
        decisions=state.decisions,
        learnings=state.learnings,
        others=others,
    )


def _others(
    states: list[SessionState], chosen: SessionState | None, asked: BriefingRequest
) -> tuple[str, ...]:
    known = {asked.session_id, chosen.session_id if chosen else ""}
    lines = [
        f"{state.session_id[:8]} on {state.branch or 'no branch'}: {state.now or state.goal}"
        for state in states
        if state.session_id not in known
        and phase_of(state, asked.idle_after_s, asked.gone) in ("active", "compacted")
    ]
    return tuple(lines[:OTHERS_SHOWN])


def answer_session_start(context: Context, hook: HookInput) -> str:
    """Return what the SessionStart hook prints, and record it; empty for a start that was just answered."""
    if hook.headless and not context.settings.inject.headless:
        return ""
    asked = request_from_hook(hook, context.settings)
    needed = asked._replace(source=_source(context.database, hook))
    injection = compose(context.database, needed, context.redact)
    if injection.text and not record_injection(context.database, asked, injection):
        return ""
    return hook_output(injection)


def _source(database: Database, hook: HookInput) -> str:
    """Return why the session starts: a resumed client that forgot what it was told was just compacted."""
    if hook.source == "resume":
        for fact in Journal(database).facts_of_session(hook.session_id, "state"):
            if isinstance(fact.body, StateChanged) and _has_forgotten(fact.body.state):
                return "compact"
    return hook.source


def _has_forgotten(state: SessionState) -> bool:
    return bool(state.compactions) and not keeps_what_it_was_told(state.client)
