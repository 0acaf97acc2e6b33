"""What a session contributes, and the decision which work it belongs to."""

from collections.abc import Collection
from typing import NamedTuple

import msgspec

from flowd.extractors.conversation.ledger import closes
from flowd.extractors.work.likeness import NAME_WEIGHT, SAME, covered, is_same_step, terms
from flowd.extractors.work.lines import decisions_of, learnings_of
from flowd.model.session import Evidence, OpenStep, SessionState, TurnSummary, latest_activity
from flowd.model.work import Contribution, Role, Work

# Present in every project: no evidence for a work.
COMMON_FILES = frozenset(
    "readme.md changelog.md license package.json package-lock.json yarn.lock pnpm-lock.yaml go.mod "
    "go.sum cargo.toml "
    "cargo.lock pyproject.toml makefile .gitignore claude.md agents.md dockerfile requirements.txt "
    "__init__.py".split()
)
# A single request that touched no more than this and left nothing open is a one-off.
MAX_ONE_OFF_FILES = 1
# docs/work.md has the reason for each weight. A session joins a work at the threshold.
THRESHOLD = 2.0
CONTINUES = 3.0
SAME_STEP = 3.0
SAME_REFERENCE = 2.0
SAME_PLAN = 3.0
SAME_FILES = 2.0
SOME_FILES = 1.0
SAME_BRANCH = 2.0
SAME_SUBJECT = 1.0
SOON_AFTER = 1.0
OTHER_BRANCH = -1.0
SOON_S = 1800.0
MIN_SHARED_NAMES = 2
MIN_FILE_SHARE = 0.34
DEFAULT_BRANCHES = frozenset({"", "HEAD", "main", "master", "trunk", "develop", "development", "dev", "next"})
MAX_ITEMS = 12
MAX_FILES = 40


def contribution_of(state: SessionState) -> Contribution:
    """Return what the session of *state* contributes."""
    return Contribution(
        session_id=state.session_id,
        project=state.project,
        repository=state.repository,
        worktree=state.worktree,
        branch=state.branch,
        branches=state.branches,
        title=state.title,
        started_at=state.started_at,
        last_activity_at=state.last_activity_at or state.touched_at,
        written_at=latest_activity(state),
        status=state.status,
        now=state.now,
        hypothesis=state.hypothesis,
        outcome=state.outcome,
        decisions=state.decisions,
        learnings=state.learnings,
        questions=state.questions,
        blockers=state.blockers,
        files=state.files,
        is_headless=state.headless,
        evidence=_with_block(state, state.evidence) if state.evidence != Evidence() else _known_before(state),
    )


def _with_block(state: SessionState, found: Evidence) -> Evidence:
    """Return *found* with the open steps of the session's structured block, before those of rules."""
    named = [
        OpenStep(text, "block")
        for text in state.block_steps
        if not any(closes(one, text) for one in found.closings)
    ]
    others = [step for step in found.steps if not any(is_same_step(step.text, one.text) for one in named)]
    return msgspec.structs.replace(found, steps=(*named, *others)) if named else found


def branches_of(given: Contribution) -> tuple[str, ...]:
    """Return the branches that a session was on; one stored before they were kept has its last one."""
    return given.branches or ((given.branch,) if given.branch else ())


def _known_before(state: SessionState) -> Evidence:
    """Return the evidence of a state that was stored before flowd kept evidence."""
    topic, _, latest = state.goal.partition(" — now: ")
    request = latest or topic
    turns = (
        TurnSummary(request, state.outcome or state.now, state.last_activity_at, state.status == "completed"),
    )
    return Evidence(
        topic=topic,
        request=request,
        requests=1 + bool(latest),
        turns=turns if request else (),
        steps=tuple(OpenStep(text, "reply", state.last_activity_at) for text in state.next if is_named(text)),
    )


def is_named(step: str) -> bool:
    """Return True if a step stored before sources were kept is no upkeep of the files."""
    return not step.startswith(("Run the tests", "Commit the changes", "Push ", "Fix what fails", "Answer: "))


def has_substance(given: Contribution) -> bool:
    """Return True if the session did something that lasts, so that it can begin a work or add to one.

    That is: it edited or committed, followed a plan, kept a to-do list, got a decision from the person,
    or left steps that somebody named. Words alone, however many, are a visit.
    """
    found = given.evidence
    deeds = found.deeds
    named = any(
        step.source in ("todo", "plan", "reply", "summary", "block", "handoff") for step in found.steps
    )
    return bool(
        deeds.edited_at
        or deeds.committed_at
        or found.plan
        or found.todos
        or found.answers
        or given.files
        or named
    )


def is_one_off(given: Contribution) -> bool:
    """Return True if all the session did was one small request, now answered, with nothing left open."""
    found = given.evidence
    return (
        found.requests <= 1
        and len(given.files) <= MAX_ONE_OFF_FILES
        and given.status == "completed"
        and not (found.deeds.committed_at or found.plan or found.todos or found.answers or found.steps)
    )


def own_files(files: tuple[str, ...]) -> frozenset[str]:
    """Return the *files* that identify a work: those that are not the same in every project."""
    return frozenset(path for path in files if path.rpartition("/")[2].lower() not in COMMON_FILES)


class Decision(NamedTuple):
    """The role of a session, and the id of the work it joins."""

    role: Role
    work: str = ""


def decide(given: Contribution, works: list[Work], beside: Collection[str] = ()) -> Decision:
    """Return the role of a session that belongs to no work yet; *works* are its project's, latest first.

    *beside* has the ids of works that another session was at when this one started.
    """
    if given.is_headless or not has_substance(given):
        return Decision("visitor")
    ranked = sorted(((weight(given, work, beside), -place) for place, work in enumerate(works)), reverse=True)
    if ranked and ranked[0][0] >= THRESHOLD:
        return Decision("joins", works[-ranked[0][1]].id)
    if is_one_off(given) and works:
        return Decision("visitor")
    return Decision("begins")


def weight(given: Contribution, work: Work, beside: Collection[str]) -> float:
    """Return the weight of the evidence that *given* belongs to *work*; *beside*: works it goes on beside.

    Two sessions beside each other are on one branch because they are in one checkout: it counts only if they
    share files.
    """
    points = score(given, work)
    if work.id in beside and not own_files(given.files) & own_files(work.files):
        points -= max(0.0, _branches(given, work))
    return points


def score(given: Contribution, work: Work) -> float:
    """Return the weight of the evidence that *given* continues *work*."""
    found = given.evidence
    points = 0.0
    if found.continues:
        points += CONTINUES
    if found.plan and found.plan == work.goal:
        points += SAME_PLAN
    if set(found.refs) & set(work.refs):
        points += SAME_REFERENCE
    if _takes_a_step(given, work):
        points += SAME_STEP
    points += _branches(given, work)
    if 0 <= given.started_at - work.touched_at < SOON_S and given.branch == work.branch:
        points += SOON_AFTER
    return points + _files(given, work) + _subject(given, work)


def _branches(given: Contribution, work: Work) -> float:
    """Return the points for a common feature branch, or against different ones."""
    mine = set(branches_of(given)) - DEFAULT_BRANCHES
    theirs = set(work.branches) - DEFAULT_BRANCHES
    if mine & theirs:
        return SAME_BRANCH
    return OTHER_BRANCH if mine and theirs else 0.0


def _takes_a_step(given: Contribution, work: Work) -> bool:
    """Return True if the session was asked for one of the open steps, or reports one as done."""
    said = [turn.request for turn in given.evidence.turns] + list(given.evidence.closings)
    return any(closes(one, step.text) for step in work.steps if step.source != "state" for one in said)


def _files(given: Contribution, work: Work) -> float:
    mine, theirs = own_files(given.files), own_files(work.files)
    shared = mine & theirs
    if not shared:
        return 0.0
    return SAME_FILES if len(shared) >= MIN_FILE_SHARE * len(mine) else SOME_FILES


def _subject(given: Contribution, work: Work) -> float:
    """Return the points for speaking of the same things by the same names of the code."""
    asked = " ".join([given.evidence.topic, *(turn.request for turn in given.evidence.turns[:3])])
    about = " ".join([work.goal, work.request, *(step.text for step in work.steps)])
    named = {term for term, weight in terms(asked).items() if weight == NAME_WEIGHT}
    shared = named & {term for term, weight in terms(about).items() if weight == NAME_WEIGHT}
    if len(shared) >= MIN_SHARED_NAMES or covered(given.evidence.topic, about) >= SAME:
        return SAME_SUBJECT
    return 0.0


def with_work(state: SessionState, work: Work, contributions: list[Contribution]) -> SessionState:
    """Return *state* with goal, steps, files, decisions and learnings of all sessions of its *work*."""
    latest = sorted(contributions, key=lambda given: -given.last_activity_at)
    others = [given for given in latest if given.session_id != state.session_id]
    return msgspec.structs.replace(
        state,
        goal=work.goal or state.goal,
        status=work.status,
        now=work.now if work.session_id == state.session_id else state.now,
        hypothesis=work.hypothesis if work.session_id == state.session_id else state.hypothesis,
        outcome=work.outcome if work.session_id == state.session_id else state.outcome,
        next=tuple(step.text for step in work.steps),
        files=_joined(state.files, *(given.files for given in others))[:MAX_FILES],
        decisions=_joined(*(decisions_of(given) for given in latest))[:MAX_ITEMS],
        learnings=_joined(*(learnings_of(given) for given in latest))[:MAX_ITEMS],
    )


def _joined(*lists: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))
