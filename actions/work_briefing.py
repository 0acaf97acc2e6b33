"""Compose the briefing of a work: its fields, open steps, a digest of its sessions, and other works."""

import time
from typing import NamedTuple

from flowd.extractors.text import cut_at_sentence
from flowd.extractors.work.digest import digest
from flowd.extractors.work.project_works import ProjectWorks
from flowd.handoff.briefing import Briefing, Level, render
from flowd.model.session import SessionState, phase_of
from flowd.model.work import Step, Work
from flowd.system.times import age
from flowd.workspace.drift import RecordedState, drift
from flowd.workspace.git import read_branch
from flowd.workspace.project import Project

MAX_STEPS = 12
MAX_OTHERS = 3
MAX_ELSEWHERE = 2
OTHER_DIGEST_BYTES = 320
OTHER_GOAL_LENGTH = 130
REQUEST_LENGTH = 400
# The headings of the digest count towards its budget.
HEADINGS_BYTES = 60
FADES_AFTER_S = 7 * 86_400.0
DAY_S = 86_400.0


class Around(NamedTuple):
    """The context of a work in a briefing: other works, and which sessions are active."""

    works: ProjectWorks
    elsewhere: list[Work]
    states: list[SessionState]
    idle_after_s: float
    gone: frozenset[str]
    asking: str = ""

    def is_active(self, session_id: str) -> bool:
        """Return True if the session is active, and is not the one that asks."""
        return session_id != self.asking and self.phase(session_id) in ("active", "compacted")

    def phase(self, session_id: str) -> str:
        """Return the phase of a session, empty if it is unknown."""
        state = next((one for one in self.states if one.session_id == session_id), None)
        return phase_of(state, self.idle_after_s, self.gone) if state else ""


def briefing_of(project: Project, work: Work, around: Around) -> Briefing:
    """Return the briefing of *work*, without the digest of its sessions."""
    then = RecordedState(work.branch, work.files[:20], work.touched_at)
    return Briefing(
        project=project.root,
        session=work.session_id,
        age=_age(work, around),
        is_active=around.is_active(work.session_id),
        goal=work.goal or work.title,
        title=work.title,
        status=work.status,
        request=cut_at_sentence(work.request, REQUEST_LENGTH),
        now=work.now,
        hypothesis=work.hypothesis,
        outcome=work.outcome,
        branch=read_branch(project.root) or work.branch,
        files=work.files,
        refs=work.refs,
        drift=tuple(drift(project.root, then)),
        unfinished=tuple(step_text(step) for step in work.steps[:MAX_STEPS]),
        blockers=work.blockers,
        questions=tuple(one for one in work.questions if not any(one in text for text in work.blockers)),
        others=_others(work, around),
    )


def with_digest(briefing: Briefing, work: Work, around: Around, level: Level, budget_bytes: int) -> Briefing:
    """Return *briefing* with as many lines on what was done, decided and learned as the budget allows."""
    base = render(briefing, level=level, budget_bytes=budget_bytes)
    room = budget_bytes - len(base.encode()) - HEADINGS_BYTES
    lines = digest(work, around.works.contributions(work.id), room, base)
    return briefing._replace(
        done=tuple(line.text for line in lines if line.heading == "done"),
        decisions=tuple(line.text for line in lines if line.heading == "decided"),
        learnings=tuple(line.text for line in lines if line.heading == "learned"),
    )


def step_text(step: Step) -> str:
    """Return the text of a step, with its age if it was not mentioned for long."""
    unseen_s = time.time() - (step.confirmed_at or step.opened_at)
    return f"{step.text} ({int(unseen_s // DAY_S)} days old)" if unseen_s > FADES_AFTER_S else step.text


def _age(work: Work, around: Around) -> str:
    when = age(work.touched_at)
    if work.status == "in_progress" and around.phase(work.session_id) == "unfinished":
        return f"{when}, left unfinished when its client was killed"
    return when


def _others(work: Work, around: Around) -> tuple[str, ...]:
    """Return one line for each other work here, and for the latest in other worktrees."""
    here = [one for one in around.works.works if one.id != work.id][:MAX_OTHERS]
    lines = [_other(one, around, "") for one in here]
    elsewhere = [one for one in around.elsewhere if one.project != work.project][:MAX_ELSEWHERE]
    return tuple(lines + [_other(one, around, one.project) for one in elsewhere])


def _other(work: Work, around: Around, worktree: str) -> str:
    when = "at work right now" if around.is_active(work.session_id) else age(work.touched_at)
    place = f"in the worktree {worktree}, " if worktree else ""
    steps = sum(step.source != "state" for step in work.steps)
    known = [place + (f"branch {work.branch}" if work.branch else ""), work.status, when]
    known += [f"{steps} open step{'s' * (steps != 1)}"] if steps else []
    known += [", ".join(path.rpartition("/")[2] for path in work.files[:4])]
    head = f"{cut_at_sentence(work.goal, OTHER_GOAL_LENGTH)} ({'; '.join(part for part in known if part)})"
    lines = digest(work, around.works.contributions(work.id), OTHER_DIGEST_BYTES)
    return f"{head}: {' '.join(line.text for line in lines)}" if lines else head
