"""What a starting session is told, put together from core.db, the project and a person's words."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flowd.actions.context import open_store
from flowd.config.paths import resolve_paths
from flowd.config.settings import Settings, load_settings
from flowd.handoff.briefing import Briefing, Level, render, with_more
from flowd.handoff.errors import HandoffError
from flowd.handoff.yaml.storage import Folder, read_file
from flowd.model.facts import Fact, HandoffIndexed, Injected
from flowd.model.hook_input import HookInput, hook_input
from flowd.model.session import SessionState, latest_activity, phase_of
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
from flowd.workspace.project import FOLDER, Project, resolve_project

STATES_LOOKED_AT = 20
SAME_START_S = 10.0
OTHERS_SHOWN = 4
MIN_ROOM_BYTES = 200


class BriefingRequest(NamedTuple):
    """Who asks to be told, and how much may be said."""

    cwd: str
    session_id: str = ""
    source: str = ""
    level: Level = "L1"
    budget_bytes: int = 2048
    tags: bool = True
    idle_after_s: float = 1800.0
    gone: frozenset[str] = frozenset()


def request_from_hook(hook: HookInput, settings: Settings) -> BriefingRequest:
    """Return what the hook of a starting session asks for."""
    return BriefingRequest(
        cwd=hook.cwd,
        session_id=hook.session_id,
        source=hook.source,
        budget_bytes=settings.inject.budget_bytes,
        idle_after_s=settings.idle.after_minutes * 60,
        gone=gone_sessions(settings.claude.config_dir),
    )


class Injection(NamedTuple):
    """The text for the session, and a warning for the person."""

    text: str
    warning: str = ""
    project: str = ""


def compose(database: Database, asked: BriefingRequest) -> Injection:
    """Return what the asking session should know; an empty text when there is nothing to tell."""
    project = resolve_project(asked.cwd) if asked.cwd else None
    if project is None:
        return Injection("")
    journal = Journal(database)
    states = journal.states_of(project.root, project.repository, STATES_LOOKED_AT)
    said, said_at = user_fields(journal, project.root)
    present, warning = _trusted_file(journal, database, project.root, said)
    state = _chosen(states, asked, said_at)
    latest = latest_of_project(journal, project.root)
    asks = tuple(found.reason for found in of_project(open_escalations(journal), project.root))
    nothing = state is None and not present and not said and latest is None
    if nothing or (_knows_it_all(states, asked, said_at) and not asks):
        return Injection("", warning, project.root)
    at = said_at or (latest.modified_ns / 1e9 if latest and state is None else 0.0)
    told = _told(project, state, _person(present, said), at, _others(states, state, asked))
    told = told._replace(escalations=asks, handoff=_named(latest))
    if state and phase_of(state, asked.idle_after_s, asked.gone) == "unfinished":
        told = told._replace(age=f"{told.age}, left unfinished when its client was killed")
    text = render(told, level=asked.level, budget_bytes=asked.budget_bytes, tags=asked.tags)
    return Injection(_with_knowledge(database, project.root, text, asked), warning, project.root)


def _named(latest: HandoffIndexed | None) -> str:
    return f"{latest.path} ({age(latest.modified_ns / 1e9)}): {latest.purpose}" if latest else ""


def _with_knowledge(database: Database, root: str, text: str, asked: BriefingRequest) -> str:
    """Return *text* with what earlier tasks handed on, as far as the budget reaches."""
    room = asked.budget_bytes - len(text.encode()) - 1
    if room < MIN_ROOM_BYTES:
        return text
    return with_more(text, session_context(database, root, room).strip("\n"))


def record_injection(database: Database, asked: BriefingRequest, injection: Injection) -> bool:
    """Record that *injection* is being told; False when the same start was told a moment ago."""
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
    """Return the JSON that a SessionStart hook prints, or nothing."""
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
    journal: Journal, database: Database, root: str, said: UserFields
) -> tuple[Mapping[str, Any], str]:
    """Return handoff.yaml as far as it may be told, and a warning when some of it may not."""
    if not os.path.lexists(os.path.join(root, FOLDER)):
        return {}, ""
    try:
        with Folder(Path(root)) as folder:
            present = read_file(folder).mapping or {}
    except HandoffError as error:
        return {}, f"flowd: this project's .flow-guardian/handoff.yaml is not told to Claude: {error}"
    shown = HandoffYamlStates(database).get(root)
    foreign = untrusted_fields(present, shown, said)
    if is_trusted(journal, root, shown, foreign):
        return {field: present[field] for field in foreign}, ""
    return {}, (
        "flowd: this project's .flow-guardian/handoff.yaml was not written on this machine; "
        "it is not told to Claude until you accept it with `flow trust`"
    )


def _chosen(states: list[SessionState], asked: BriefingRequest, said_at: float) -> SessionState | None:
    """Return whose state the session needs: its own after a compaction, else the latest other one's."""
    worth = [state for state in states if state.goal or state.now or state.files]
    own = next((state for state in worth if state.session_id == asked.session_id), None)
    other = next((state for state in worth if state.session_id != asked.session_id), None)
    if own is None or asked.source not in ("compact", "resume"):
        return other
    if asked.source == "compact" or (other is None or latest_activity(other) < said_at):
        return own
    return other


def _knows_it_all(states: list[SessionState], asked: BriefingRequest, said_at: float) -> bool:
    """Say whether a resumed session, whose conversation is all there, has missed nothing since."""
    own = next((state for state in states if state.session_id == asked.session_id), None)
    if own is None or asked.source != "resume":
        return False
    others = [state.last_activity_at for state in states if state is not own]
    # By its records, not by its file: the client touches that when it resumes.
    return own.last_activity_at >= max([said_at, *others])


def _person(present: Mapping[str, Any], said: UserFields) -> dict[str, str]:
    words = {field: value for field, value in said.items() if isinstance(value, str) and value}
    return words | {field: str(value) for field, value in present.items()}


def _told(
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
    told = {asked.session_id, chosen.session_id if chosen else ""}
    lines = [
        f"{state.session_id[:8]} on {state.branch or 'no branch'}: {state.now or state.goal}"
        for state in states
        if state.session_id not in told
        and phase_of(state, asked.idle_after_s, asked.gone) in ("active", "compacted")
    ]
    return tuple(lines[:OTHERS_SHOWN])


def answer_session_start(database: Database, hook: HookInput, settings: Settings) -> str:
    """Return what a SessionStart hook prints and record it; nothing if the same start was just answered."""
    if hook.headless and not settings.inject.headless:
        return ""
    request = request_from_hook(hook, settings)
    injection = compose(database, request)
    if injection.text and not record_injection(database, request, injection):
        return ""
    return hook_output(injection)


def session_start_output(raw: Mapping[str, Any]) -> str:
    """Return what a SessionStart hook prints when no daemon is there to say it."""
    settings = load_settings(resolve_paths().config_file).settings
    return answer_session_start(open_store(), hook_input(raw), settings)
