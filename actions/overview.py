"""The state of a project at a glance: its handoff.yaml, sessions, briefings, escalations and threads."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from flowd.actions.absence import absence
from flowd.actions.brief import BriefingRequest, brief
from flowd.actions.context import Context
from flowd.actions.daemon_client import running_holder
from flowd.actions.handoff_yaml import read_handoff
from flowd.actions.trust import foreign_fields
from flowd.actions.works import open_works
from flowd.extractors.work.summary import ORIGIN_FIELDS, origin_of
from flowd.handoff.briefing import fields, sections
from flowd.handoff.yaml.api import handoff_problem
from flowd.handoff.yaml.document import Handoff
from flowd.model.facts import Checkpointed, Injected
from flowd.model.session import SessionState, latest_activity, phase_of
from flowd.model.work import Step, UserWords, Work
from flowd.store.documents import of_project, open_escalations
from flowd.store.handoff_fields import HandoffYamlStates, folder_identity, user_fields
from flowd.store.journal import Journal
from flowd.store.threads.threads import counts
from flowd.system.errors import StoreError
from flowd.system.times import age, to_seconds
from flowd.workspace.clients import gone_sessions
from flowd.workspace.drift import RecordedState, drift
from flowd.workspace.project import Project

MAX_SESSIONS = 10
MAX_INJECTED = 5
MAX_OTHERS = 5


class CheckpointSummary(msgspec.Struct, frozen=True):
    """One checkpoint of a session."""

    id: str
    trigger: str
    at: float


class SessionSummary(msgspec.Struct, frozen=True):
    """One session, with how much of it was captured, stored and injected."""

    session_id: str
    phase: str
    last_activity: str
    branch: str
    goal: str
    now: str
    status: str
    captured_records: int
    stored_facts: int
    checkpoints: list[CheckpointSummary]
    injected: int


class InjectedBriefing(msgspec.Struct, frozen=True):
    """A briefing that a session got."""

    session_id: str
    at: float
    source: str
    text: str


class UnreadThreads(msgspec.Struct, frozen=True):
    """How many threads are active, and how many have unread entries for each client."""

    active: int = 0
    unread_chat: int = 0
    unread_code: int = 0


class WorkSummary(msgspec.Struct, frozen=True):
    """The current work: what it is for, what is open in it, and what is worth knowing of it."""

    id: str
    goal: str
    title: str
    status: str
    request: str
    branch: str
    touched_at: float
    sessions: list[str]
    steps: list[Step]
    user: UserWords
    # Where each field comes from: person, block, model or rules. Steps carry their own source.
    origins: dict[str, str]


class OtherWork(msgspec.Struct, frozen=True):
    """Another work of the same project."""

    id: str
    goal: str
    status: str
    branch: str
    touched_at: float
    open_steps: int


class StoredOverview(msgspec.Struct, frozen=True):
    """What core.db knows about a project."""

    escalations: list[str] = []
    sessions: list[SessionSummary] = []
    injected: list[InjectedBriefing] = []
    threads: UnreadThreads = UnreadThreads()
    work: WorkSummary | None = None
    fields: dict[str, str] = {}
    sections: dict[str, tuple[str, ...]] = {}
    other_works: list[OtherWork] = []
    document: str = ""


class ProjectOverview(msgspec.Struct, frozen=True):
    """What is known about a project; ``store_error`` is set if core.db could not be read."""

    project: str
    worktree: str
    handoff: Handoff
    age: str
    drift: list[str]
    daemon_running: bool
    absence: str
    escalations: list[str]
    sessions: list[SessionSummary]
    injected: list[InjectedBriefing]
    threads: UnreadThreads
    work: WorkSummary | None
    fields: dict[str, str]
    sections: dict[str, tuple[str, ...]]
    other_works: list[OtherWork]
    foreign: list[str] = []
    document: str = ""
    handoff_problem: str = ""
    store_error: str | msgspec.UnsetType = msgspec.UNSET


def project_overview(context: Context, project: Project) -> ProjectOverview:
    """Return the overview of *project*; without core.db, only from its files."""
    handoff = read_handoff(project.root)
    store_error: str | msgspec.UnsetType = msgspec.UNSET
    try:
        stored = _from_store(context, project)
    except StoreError as error:
        stored, store_error = StoredOverview(), str(error)
    foreign = list(_foreign(context, project.root, handoff))
    if context.session_id:
        handoff = {name: value for name, value in handoff.items() if name not in foreign}
    return ProjectOverview(
        project=project.root,
        worktree=project.worktree,
        handoff=handoff,
        age=age(to_seconds(handoff.get("timestamp"))) if handoff else "",
        drift=_drift(project.root, handoff) if handoff else [],
        daemon_running=running_holder(context.paths.lock) is not None,
        absence=absence(context),
        escalations=stored.escalations,
        sessions=stored.sessions,
        injected=stored.injected,
        threads=stored.threads,
        work=stored.work,
        fields=stored.fields,
        sections=stored.sections,
        handoff_problem="" if handoff else handoff_problem(Path(project.root)),
        other_works=stored.other_works,
        foreign=foreign,
        document=stored.document,
        store_error=store_error,
    )


def _foreign(context: Context, root: str, handoff: Handoff) -> Iterable[str]:
    """Return the fields of handoff.yaml that came with the repository and are not accepted."""
    try:
        state = HandoffYamlStates(context.database).get(root)
        if state.folder and state.folder == folder_identity(root):
            return ()
        strange = foreign_fields(context, root)
        if state.session_id or not strange:
            return strange
        said = user_fields(context.journal, root)[0]
        return [name for name, value in handoff.items() if name in strange or said.get(name) != value]
    except StoreError:
        return handoff


def _drift(root: str, handoff: Handoff) -> list[str]:
    files = handoff.get("files")
    names = tuple(str(name) for name in files) if isinstance(files, list) else ()
    recorded = RecordedState(str(handoff.get("branch") or ""), names, to_seconds(handoff.get("timestamp")))
    return drift(root, recorded)


def _from_store(context: Context, project: Project) -> StoredOverview:
    journal, settings = context.journal, context.settings
    gone, idle_after_s = gone_sessions(settings.claude.config_dir), settings.idle.after_minutes * 60
    threads = counts(context.database)
    works = open_works(context.database, project.root)
    # As a session that goes on with its own work is told it.
    asked = BriefingRequest(
        project.root, context.session_id, "compact", "L2", idle_after_s=idle_after_s, gone=gone
    )
    found = brief(context.database, project, asked, context.redact)
    work = found.work if found.work and found.work.id else None
    others = [one for one in works.works if work is None or one.id != work.id]
    return StoredOverview(
        work=_work(work) if work else None,
        fields=fields(found.briefing) if found.briefing else {},
        sections=sections(found.briefing) if found.briefing else {},
        other_works=[_other(one) for one in others[:MAX_OTHERS]],
        escalations=[
            f"{found.reason} ({found.path}): run `flow handoff ack` after reviewing it"
            for found in of_project(open_escalations(journal), project.root)
        ],
        sessions=[
            _session(journal, state, phase_of(state, idle_after_s, gone))
            for state in journal.states_of(project.root, project.repository, MAX_SESSIONS)
        ],
        injected=[
            InjectedBriefing(fact.session_id, fact.at, fact.body.source, fact.body.text)
            for fact in journal.facts_of_project(project.root, "injected", MAX_INJECTED)
            if isinstance(fact.body, Injected)
        ],
        threads=UnreadThreads(threads.active, threads.unread_chat, threads.unread_code),
        document=found.briefing.handoff if found.briefing else "",
    )


def _work(work: Work) -> WorkSummary:
    return WorkSummary(
        id=work.id,
        goal=work.goal,
        title=work.title,
        status=work.status,
        request=work.request,
        branch=work.branch,
        touched_at=work.touched_at,
        sessions=list(work.sessions),
        steps=list(work.steps),
        user=work.user,
        origins={name: origin_of(work, name) for name in ORIGIN_FIELDS},
    )


def _other(work: Work) -> OtherWork:
    return OtherWork(work.id, work.goal, work.status, work.branch, work.touched_at, len(work.steps))


def _session(journal: Journal, state: SessionState, phase: str) -> SessionSummary:
    return SessionSummary(
        session_id=state.session_id,
        phase=phase,
        last_activity=age(latest_activity(state)),
        branch=state.branch,
        goal=state.goal,
        now=state.now,
        status=state.status,
        captured_records=state.records,
        stored_facts=journal.count_of_session(state.session_id),
        checkpoints=[
            CheckpointSummary(fact.body.id, fact.body.trigger, fact.at)
            for fact in journal.facts_of_session(state.session_id, "checkpoint")
            if isinstance(fact.body, Checkpointed)
        ],
        injected=len(journal.facts_of_session(state.session_id, "injected")),
    )
