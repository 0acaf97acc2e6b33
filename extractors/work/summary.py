"""The digest that a model is sent of a work, and the work with what the model made of it."""

import hashlib
from collections.abc import Iterator, Sequence

import msgspec

from flowd.extractors.work.digest import digest
from flowd.extractors.work.likeness import is_same_step
from flowd.extractors.work.merge import step_id
from flowd.model.session import Deeds, TurnSummary
from flowd.model.summary import Summary
from flowd.model.work import Contribution, Step, Work

MAX_DIGEST_CHARACTERS = 8000
# Room that the turns leave to the weightiest lines of all sessions.
LINES_BYTES = 2200
MAX_STEPS = 16
MAX_FILES = 24
MAX_COMMITS = 12
ORIGIN_FIELDS = ("goal", "status", "now", "hypothesis", "outcome")
# A structured block in a reply ranks before a model; its outcome is one of these.
BLOCK_OUTCOMES = frozenset({"completed", "partial", "failed", "blocked"})


def summary_digest(work: Work, contributions: Sequence[Contribution]) -> str:
    """Return what is known of *work* in at most 8,000 characters, the same for the same sessions.

    Times are left out: they would make every digest a new one.
    """
    latest_first = sorted(contributions, key=lambda given: (-given.last_activity_at, given.session_id))
    head = [*_place(work), *_steps(work), *_made(work, latest_first), *_lines(work, latest_first)]
    room = MAX_DIGEST_CHARACTERS - len("\n".join(head)) - 1
    return "\n".join([*head, *_conversation(latest_first, room)])[:MAX_DIGEST_CHARACTERS]


def basis_of(contributions: Sequence[Contribution]) -> str:
    """Return the identity of what the sessions of a work have been asked and have done."""
    done = sorted(
        (given.session_id, given.evidence.requests, given.status, given.evidence.deeds)
        for given in contributions
    )
    return hashlib.blake2b(msgspec.json.encode(done), digest_size=8).hexdigest()


def progress_of(contributions: Sequence[Contribution]) -> int:
    """Return how much was asked and changed: requests, and files that were touched."""
    return sum(given.evidence.requests + len(given.files) for given in contributions)


def with_summary(work: Work, summary: Summary, contributions: Sequence[Contribution]) -> Work:
    """Return *work* with the fields of *summary* that still hold; a structured block ranks before it."""
    fields: dict[str, object] = {}
    if summary.goal:
        fields["goal"] = summary.goal
    if summary.basis == basis_of(contributions):
        if summary.now:
            fields["now"] = summary.now
        if summary.status and work.outcome not in BLOCK_OUTCOMES:
            fields["status"] = summary.status
        if summary.next:
            fields["steps"] = _with_steps(work, summary)
    origins = {name: "model" for name in fields if name != "steps"}
    return msgspec.structs.replace(work, origins=work.origins | origins, **fields)


def origin_of(work: Work, field: str) -> str:
    """Return where a field comes from: ``person``, ``block``, ``model`` or ``rules``."""
    of_block = field in ("status", "outcome") and work.outcome in BLOCK_OUTCOMES
    return work.origins.get(field, "block" if of_block else "rules")


def _with_steps(work: Work, summary: Summary) -> tuple[Step, ...]:
    """Return the steps of blocks, then those of *summary*, then all others that it does not name."""
    given = [
        Step(step_id(text), text, "model", summary.at, summary.at, work.session_id) for text in summary.next
    ]
    of_blocks = [step for step in work.steps if step.source == "block"]
    named = [*of_blocks, *(one for one in given if not _is_among(one, of_blocks))]
    return (*named, *(step for step in work.steps if not _is_among(step, named)))


def _is_among(step: Step, others: list[Step]) -> bool:
    return any(step is other or is_same_step(step.text, other.text) for other in others)


def _place(work: Work) -> Iterator[str]:
    """Yield what the work is called and where it is."""
    whose = {name: work.origins.get(name, "rules") for name in ("goal", "status", "now")}
    named = {
        "title": work.title,
        f"goal (by {whose['goal']})": work.goal,
        "branch": work.branch,
        "other branches": ", ".join(name for name in work.branches if name != work.branch),
        "pull requests and issues": ", ".join(work.refs),
        f"status (by {whose['status']})": work.status,
        f"now (by {whose['now']})": work.now,
        "blocked by": "; ".join(work.blockers),
        "open questions": "; ".join(work.questions),
    }
    yield from (f"{name}: {value}" for name, value in named.items() if value)


def _steps(work: Work) -> Iterator[str]:
    """Yield the open steps, each with the source that named it."""
    if work.steps:
        yield "open steps, each with its source:"
    yield from (f"- {step.text} [{step.source}]" for step in work.steps[:MAX_STEPS])


def _made(work: Work, latest_first: list[Contribution]) -> Iterator[str]:
    """Yield plan, finished tasks, files, commits and the last check."""
    for given in latest_first:
        found = given.evidence
        if found.plan:
            yield f"plan: {found.plan}: {'; '.join(found.outline)}"
        if found.tasks_done:
            yield f"tasks done: {'; '.join(found.tasks_done)}"
    if work.files:
        yield f"files: {', '.join(work.files[:MAX_FILES])}"
    commits = [one for given in latest_first for one in reversed(given.evidence.commits)]
    yield from (f"commit {one.hash}: {one.subject}".replace(" :", ":") for one in commits[:MAX_COMMITS])
    if latest_first:
        yield from _deeds(latest_first[0].evidence.deeds)


def _deeds(deeds: Deeds) -> Iterator[str]:
    """Yield how the last check went, and whether the last commit is pushed."""
    if deeds.checked_at:
        since = ", code edited since" if deeds.edited_at > deeds.checked_at else ""
        yield f"last check: {deeds.check}: {'passed' if deeds.check_passed else 'failed'}{since}"
    if deeds.committed_at:
        yield f"the last commit is {'pushed' if deeds.pushed_at > deeds.committed_at else 'not pushed'}"


def _lines(work: Work, latest_first: list[Contribution]) -> Iterator[str]:
    """Yield the weightiest lines on what was decided and learned."""
    chosen = [line for line in digest(work, latest_first, LINES_BYTES) if line.heading != "done"]
    if chosen:
        yield "decided and learned:"
    yield from (f"- {line.heading}: {line.text}" for line in chosen)


def _conversation(latest_first: list[Contribution], room: int) -> list[str]:
    """Return requests and closing replies that fit into *room* characters, newest first."""
    lines = ["conversation, newest first:"]
    room -= len(lines[0]) + 1
    for given in latest_first:
        for turn in reversed(given.evidence.turns):
            for line in _turn(turn):
                if len(line) + 1 > room:
                    return lines
                lines.append(line)
                room -= len(line) + 1
    return lines


def _turn(turn: TurnSummary) -> Iterator[str]:
    if turn.result:
        yield f"- reply: {turn.result}"
    if turn.request:
        yield f"- {'person' if turn.is_done else 'person (not answered yet)'}: {turn.request}"
