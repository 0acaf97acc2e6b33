"""Which work a session belongs to: it joins one, begins one, or is a visitor. Decided from evidence, late."""

from typing import NamedTuple

from flowd.extractors.conversation.ledger import closes
from flowd.extractors.work.contribution import has_substance, is_one_off, own_files
from flowd.extractors.work.likeness import NAME_WEIGHT, SAME, covered, terms
from flowd.model.work import Contribution, Role, Work

# docs/work.md says why each counts. What reaches the threshold joins; one strong piece of evidence does.
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
SOON_S = 1800.0
MIN_SHARED_NAMES = 2
MIN_FILE_SHARE = 0.34
DEFAULT_BRANCHES = frozenset({"", "HEAD", "main", "master", "trunk", "develop", "development", "dev", "next"})


class Decision(NamedTuple):
    """The role of a session, and the id of the work it joins."""

    role: Role
    work: str = ""


def decide(given: Contribution, works: list[Work]) -> Decision:
    """Return the role of a session that belongs to no work yet; *works* are its project's, latest first."""
    if given.is_headless or not has_substance(given):
        return Decision("visitor")
    ranked = sorted(((score(given, work), -place) for place, work in enumerate(works)), reverse=True)
    if ranked and ranked[0][0] >= THRESHOLD:
        return Decision("joins", works[-ranked[0][1]].id)
    if is_one_off(given) and works:
        return Decision("visitor")
    return Decision("begins")


def score(given: Contribution, work: Work) -> float:
    """Return how much speaks for *given* going on with *work*."""
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
    if given.branch in work.branches and given.branch not in DEFAULT_BRANCHES:
        points += SAME_BRANCH
    if 0 <= given.started_at - work.touched_at < SOON_S and given.branch == work.branch:
        points += SOON_AFTER
    return points + _files(given, work) + _subject(given, work)


def _takes_a_step(given: Contribution, work: Work) -> bool:
    """Return True if the session was asked for one of the open steps, or says that one is done."""
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
