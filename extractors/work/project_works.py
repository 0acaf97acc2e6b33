"""The works of one project, as its sessions make them. Nothing is stored here."""

import msgspec

from flowd.extractors.work.contribution import (
    DEFAULT_BRANCHES,
    THRESHOLD,
    Decision,
    contribution_of,
    decide,
    weight,
)
from flowd.extractors.work.merge import merged, moved_on, status_of, with_document, work_id_of
from flowd.extractors.work.summary import with_summary
from flowd.extractors.work.user_edits import with_edits, with_words
from flowd.model.session import SessionState
from flowd.model.summary import Summary
from flowd.model.work import Assignment, Contribution, DocumentSteps, Role, StepEdit, UserWords, Work

MAX_CANDIDATES = 12
STORED_EVERY_S = 60.0
# Fields that change with every record and are no evidence for a work.
PASSING = (
    "last_activity_at",
    "written_at",
    "status",
    "now",
    "hypothesis",
    "outcome",
    "questions",
    "blockers",
)


class Changes(msgspec.Struct):
    """What taking in a session has changed."""

    works: dict[str, Work] = {}
    assignments: dict[str, Assignment] = {}
    removed: list[str] = []


class ProjectWorks:
    """The works of one worktree, and which session belongs to which."""

    def __init__(self, works: list[Work], assignments: list[Assignment]) -> None:
        # Merged from the sessions alone; user fields are applied when a work is read.
        self._works = {work.id: work for work in works}
        self._assigned = {one.contribution.session_id: one for one in assignments}
        self._stored_at: dict[str, float] = {}
        self.words: dict[str, UserWords] = {}
        self.edits: list[StepEdit] = []
        self.document: DocumentSteps | None = None
        # The ids of upkeep steps that were done outside of all sessions, as the checkout shows.
        self.done_outside: frozenset[str] = frozenset()
        self.summaries: dict[str, Summary] = {}

    @property
    def sessions(self) -> int:
        """Number of sessions taken in."""
        return len(self._assigned)

    @property
    def is_known(self) -> bool:
        """Whether any session has been taken in yet."""
        return bool(self._assigned)

    @property
    def works(self) -> list[Work]:
        """The works with user fields and edits applied, latest first."""
        return [self.with_user_edits(work) for work in self._latest_first()]

    def with_user_edits(self, work: Work) -> Work:
        """Return *work* as it is shown: a model's summary over the rules, user fields and edits over both."""
        summary = self.summaries.get(work.id)
        if summary is not None:
            work = with_summary(work, summary, self.contributions(work.id))
        return self._as_edited(work)

    def by_rules(self, work_id: str) -> Work:
        """Return a work without its summary: what a model is told must not be what a model said."""
        return self._as_edited(self._works[work_id])

    def _as_edited(self, work: Work) -> Work:
        """Return *work* with user fields and edits applied."""
        edited = work
        if self.document and self._is_about(self.document, work):
            edited = with_document(work, self.document, self.contributions(work.id))
        edited = with_edits(edited, self.edits)
        if self.done_outside:
            left = tuple(step for step in edited.steps if step.id not in self.done_outside)
            edited = msgspec.structs.replace(edited, steps=left)
        if edited is not work and work.session_id in self._assigned and "status" not in work.origins:
            last = self._assigned[work.session_id].contribution
            edited = msgspec.structs.replace(edited, status=status_of(last, edited.steps))
        return with_words(edited, self._words_for(work.id))

    def _words_for(self, work_id: str) -> UserWords:
        """Return the user's fields for a work; fields saved without one belong to the work of that time."""
        unowned = self.words.get("")
        if unowned and unowned.at and self._work_at(max(unowned.at.values())) == work_id:
            return unowned
        return self.words.get(work_id, UserWords())

    def _work_at(self, at: float) -> str:
        """Return the work that fields of that time belong to: the last begun before, else the next one."""
        in_order = sorted(self._works.values(), key=lambda work: (work.is_tentative, work.began_at))
        before = [work for work in in_order if work.began_at <= at]
        if before:
            return max(before, key=lambda work: (not work.is_tentative, work.touched_at)).id
        return in_order[0].id if in_order else ""

    def _is_about(self, document: DocumentSteps, work: Work) -> bool:
        """Return True if *document* was written in *work*, or while it was the latest."""
        written_in = self._assigned.get(document.session_id)
        if written_in and written_in.work:
            return written_in.work == work.id
        return self._work_at(document.at) == work.id

    def has(self, work_id: str) -> bool:
        """Return True if there is a work with that id."""
        return work_id in self._works

    def contributions(self, work_id: str) -> list[Contribution]:
        """Return the contributions to a work."""
        return [one.contribution for one in self._assigned.values() if one.work == work_id]

    def work_of(self, session_id: str) -> Work | None:
        """Return the work that a session belongs to, with user edits applied; None for a visitor."""
        assigned = self._assigned.get(session_id)
        work = self._works.get(assigned.work) if assigned else None
        return self.with_user_edits(work) if work else None

    def is_visitor(self, session_id: str) -> bool:
        """Return True if a session is known and belongs to no work."""
        assigned = self._assigned.get(session_id)
        return assigned is not None and not assigned.work

    def role_of(self, session_id: str) -> Role:
        """Return the role of a session; one that is not known is a visitor."""
        assigned = self._assigned.get(session_id)
        return assigned.role if assigned else "visitor"

    def take(self, state: SessionState) -> Changes:
        """Apply the state of a session; return what that changes."""
        given = contribution_of(state)
        before = self._assigned.get(given.session_id)
        changes = Changes()
        if before and before.work in self._works and _same_evidence(before.contribution, given):
            self._move(before, given, changes)
            last = max(self.contributions(before.work), key=lambda one: one.last_activity_at)
            self._put(moved_on(self._works[before.work], last), changes)
            return changes
        decision = self._decision(given, before)
        if decision.role == "visitor":
            self._visit(given, state, changes)
        else:
            self._contribute(given, decision, changes)
        if before and before.work not in ("", self._assigned[given.session_id].work):
            self._leave(before.work, changes)
        return changes

    def _decision(self, given: Contribution, before: Assignment | None) -> Decision:
        """Return the session's role, asked again whenever its evidence changes.

        It stays where it is as long as its evidence suffices, and once another session has joined it.
        """
        beside = self._beside(given)
        if before is None or before.role == "visitor" or before.work not in self._works:
            return decide(given, self._candidates(given, ""), beside)
        others = [one for one in self.contributions(before.work) if one.session_id != given.session_id]
        candidates = self._candidates(given, before.work)
        if not others:
            return decide(given, candidates, beside)
        without = merged(self._works[before.work], others)
        if before.role == "begins" or weight(given, without, beside) >= THRESHOLD:
            return Decision(before.role, before.work)
        return decide(given, [without, *candidates], beside)

    def _beside(self, given: Contribution) -> set[str]:
        """Return the works that other sessions were at when this one started."""
        return {
            one.work
            for one in self._assigned.values()
            if one.contribution.session_id != given.session_id
            and one.contribution.started_at <= given.started_at < one.contribution.last_activity_at
        }

    def _candidates(self, given: Contribution, but: str) -> list[Work]:
        """Return the works that a session may go on with: those nearest to it in time, latest first."""
        known = [work for work in self._works.values() if work.id != but and not work.is_tentative]
        nearest = sorted(known, key=lambda work: abs(given.started_at - work.touched_at))[:MAX_CANDIDATES]
        return sorted(nearest, key=lambda work: -work.touched_at)

    def _contribute(self, given: Contribution, decision: Decision, changes: Changes) -> None:
        work_id = decision.work or work_id_of(given.session_id)
        self._assign(work_id, decision.role, given, changes)
        base = self._works.get(work_id) or Work(id=work_id, project=given.project)
        base = msgspec.structs.replace(base, is_tentative=False)
        self._put(merged(base, self.contributions(work_id)), changes)
        for work in [one for one in self._works.values() if one.is_tentative]:
            self._remove(work.id, changes)

    def _leave(self, work_id: str, changes: Changes) -> None:
        """Merge a work again from the sessions that are left in it; remove it if there are none."""
        left = self.contributions(work_id)
        if left and work_id in self._works:
            self._put(merged(self._works[work_id], left), changes)
        else:
            self._remove(work_id, changes)

    def _visit(self, given: Contribution, state: SessionState, changes: Changes) -> None:
        """Take in a visitor: it changes nothing, unless the project has nothing else to show."""
        others = [work for work in self._works.values() if not work.is_tentative]
        says_something = bool(state.goal or state.now or given.evidence.request)
        if others or given.is_headless or not says_something:
            self._assign("", "visitor", given, changes)
            return
        work_id = work_id_of(given.session_id)
        self._assign(work_id, "visitor", given, changes)
        base = Work(id=work_id, project=given.project, is_tentative=True)
        drawn = merged(base, [given])
        self._put(msgspec.structs.replace(drawn, goal=drawn.goal or state.goal), changes)

    def _move(self, before: Assignment, given: Contribution, changes: Changes) -> None:
        """Take in what passes; it is stored now and then: the work itself has the latest of it."""
        is_due = given.last_activity_at - self._stored_at.get(given.session_id, 0.0) > STORED_EVERY_S
        if is_due or given.status != before.contribution.status:
            self._assign(before.work, before.role, given, changes)
        else:
            self._assigned[given.session_id] = Assignment(given, before.role, before.work)

    def _assign(self, work_id: str, role: Role, given: Contribution, changes: Changes) -> None:
        assignment = Assignment(given, role, work_id)
        self._stored_at[given.session_id] = given.last_activity_at
        self._assigned[given.session_id] = changes.assignments[given.session_id] = assignment

    def _put(self, work: Work, changes: Changes) -> None:
        self._works[work.id] = changes.works[work.id] = work

    def _remove(self, work_id: str, changes: Changes) -> None:
        self._works.pop(work_id, None)
        changes.works.pop(work_id, None)
        changes.removed.append(work_id)

    def _latest_first(self) -> list[Work]:
        return sorted(self._works.values(), key=lambda work: -work.touched_at)


def current_work(works: list[Work], branch: str) -> Work | None:
    """Return the work that a session starting on *branch* most likely goes on with.

    That is the latest one on this branch, else the latest of all. A work that only passed through a
    default branch does not come before a later one.
    """
    here = [work for work in works if branch and branch in work.branches]
    if not here:
        return works[0] if works else None
    if branch in DEFAULT_BRANCHES:
        here = [work for work in here if work.branch == branch] or here
    return max(here, key=lambda work: work.touched_at)


def _same_evidence(one: Contribution, other: Contribution) -> bool:
    return all(
        getattr(one, name) == getattr(other, name) for name in one.__struct_fields__ if name not in PASSING
    )
