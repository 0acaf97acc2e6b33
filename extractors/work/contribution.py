"""What a session contributes, as read from its state."""

from flowd.model.evidence import Evidence, OpenStep, TurnSummary
from flowd.model.session import SessionState, latest_activity
from flowd.model.work import Contribution

# The same words in every project: they tell nothing about which work it is.
COMMON_FILES = frozenset(
    "readme.md changelog.md license package.json package-lock.json yarn.lock pnpm-lock.yaml go.mod "
    "go.sum cargo.toml "
    "cargo.lock pyproject.toml makefile .gitignore claude.md agents.md dockerfile requirements.txt "
    "__init__.py".split()
)
# A single request that touched no more than this and left nothing open is a one-off.
MAX_ONE_OFF_FILES = 1


def contribution_of(state: SessionState) -> Contribution:
    """Return what the session of *state* contributes."""
    return Contribution(
        session_id=state.session_id,
        project=state.project,
        repository=state.repository,
        worktree=state.worktree,
        branch=state.branch,
        title=state.title,
        started_at=state.started_at,
        last_activity_at=latest_activity(state),
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
        evidence=state.evidence if state.evidence != Evidence() else _known_before(state),
    )


def _known_before(state: SessionState) -> Evidence:
    """Return what a state tells that was stored before flowd kept evidence."""
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
    """Return the *files* that tell which work it is: those that are not the same in every project."""
    return frozenset(path for path in files if path.rpartition("/")[2].lower() not in COMMON_FILES)
