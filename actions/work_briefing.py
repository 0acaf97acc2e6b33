"""Compose the briefing of a work: its fields, open steps, a digest of its sessions, and other works."""

import time
from typing import NamedTuple

import msgspec

from flowd.extractors.conversation.replies import reports_done
from flowd.extractors.fields.progress import asked
from flowd.extractors.text import cut_at_sentence, sentences
from flowd.extractors.work.digest import LINE_OVERHEAD, digest
from flowd.extractors.work.likeness import covered
from flowd.extractors.work.lines import as_report
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
REQUEST_LENGTH = 500
SAME_TEXT = 0.75
# A completed work is named to later sessions for so long.
FORGOTTEN_AFTER_S = 21 * 86_400.0
# The headings of the digest count towards its budget.
HEADINGS_BYTES = 90
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
    # The session that asks goes on with its own work: it was compacted, or resumed.
    is_own: bool = False

    def is_active(self, session_id: str) -> bool:
        """Return True if the session is active by its records, and is not the one that asks."""
        state = self._state(session_id)
        if state is None or session_id == self.asking:
            return False
        # A file that was only written to, or copied, is no sign of work.
        quiet_s = time.time() - (state.last_activity_at or state.touched_at)
        is_recent = not self.idle_after_s or quiet_s <= self.idle_after_s
        return is_recent and self.phase(session_id) in ("active", "compacted")

    def phase(self, session_id: str) -> str:
        """Return the phase of a session, empty if it is unknown."""
        state = self._state(session_id)
        return phase_of(state, self.idle_after_s, self.gone) if state else ""

    def _state(self, session_id: str) -> SessionState | None:
        return next((one for one in self.states if one.session_id == session_id), None)


def briefing_of(project: Project, work: Work, around: Around) -> Briefing:
    """Return the briefing of *work*, without the digest of its sessions."""
    then = RecordedState(work.branch, work.files[:20], work.touched_at)
    now = _now(work, around)
    return Briefing(
        project=project.root,
        session=work.session_id,
        age=_age(work, around),
        is_active=around.is_active(work.session_id),
        goal=work.goal or work.title,
        title=work.title,
        status=work.status,
        request=_request(work, around),
        now=now,
        hypothesis="" if reports_done(work.hypothesis) else work.hypothesis,
        outcome=work.outcome if "outcome" in work.user.said or not now else "",
        branch=read_branch(project.root) or work.branch,
        files=work.files,
        refs=work.refs,
        drift=tuple(drift(project.root, then)),
        unfinished=tuple(_step_of(work, step) for step in work.steps[:MAX_STEPS]),
        blockers=work.blockers,
        worded=_worded(work),
        questions=tuple(one for one in work.questions if not any(one in text for text in work.blockers)),
        others=tuple(_other(one, around, work.project) for one in _others(work, around)),
    )


def with_digest(briefing: Briefing, work: Work, around: Around, level: Level, budget_bytes: int) -> Briefing:
    """Return *briefing* with as many lines on what was done, decided and learned as the budget allows.

    The work itself comes first; the room that it leaves is for the other works.
    """
    others = _others(work, around)
    base = render(briefing, level=level, budget_bytes=budget_bytes)
    room = budget_bytes - len(base.encode()) - HEADINGS_BYTES
    kept_for_others = min(OTHER_DIGEST_BYTES * len(others), room // 3)
    lines = digest(work, around.works.contributions(work.id), room - kept_for_others, base)
    left = room - sum(len(line.text.encode()) + LINE_OVERHEAD for line in lines)
    return briefing._replace(
        others=tuple(
            head + _about(one, around, min(OTHER_DIGEST_BYTES, left // len(others)))
            for head, one in zip(briefing.others, others, strict=True)
        ),
        asked=tuple(line.text for line in lines if line.heading == "asked"),
        done=tuple(line.text for line in lines if line.heading == "done"),
        decisions=tuple(line.text for line in lines if line.heading == "decided"),
        learnings=tuple(line.text for line in lines if line.heading == "learned"),
    )


def _request(work: Work, around: Around) -> str:
    """Return the last request in the person's words, empty if the goal says the same.

    A session that goes on with its own work gets it in any case.
    """
    goal = work.goal or work.title
    is_goal = work.request == goal or asked(work.request).rstrip("?!. ") == goal.rstrip("?!. ")
    return "" if is_goal and not around.is_own else cut_at_sentence(work.request, REQUEST_LENGTH)


def _now(work: Work, around: Around) -> str:
    """Return where the work stands: a person's words, what the last reply reports, else the step at hand.

    The request that the step is for has a field of its own.
    """
    if work.user.said.get("now") == work.now or work.origins.get("now") == "model":
        return work.now
    last = next(
        (one for one in around.works.contributions(work.id) if one.session_id == work.session_id), None
    )
    if last and last.evidence.turns and (reported := as_report(last.evidence.turns[-1].result)):
        return reported
    step = _whole(work.now.partition(" — for: ")[0] if work.request else work.now)
    return "" if work.request and step.startswith("Working on: ") else step


def _worded(work: Work) -> tuple[str, ...]:
    """Return the names of the fields, and of the list of steps, that a model worded."""
    named = ("goal", "status", "now")
    fields = tuple(name.capitalize() for name in named if work.origins.get(name) == "model")
    return (*fields, "Unfinished") if any(step.source == "model" for step in work.steps) else fields


def _whole(text: str) -> str:
    """Return *text* without a last sentence that was cut, if there is one before it."""
    stated = sentences(text)
    return " ".join(stated[:-1]) if text.endswith("…") and len(stated) > 1 else text


def _step_of(work: Work, step: Step) -> str:
    """Return a step as it is told; the last request is not told a second time."""
    if step.source == "request" and work.request and covered(step.text, work.request) >= SAME_TEXT:
        step = msgspec.structs.replace(step, text="Finish the last request")
    return step_text(step)


def step_text(step: Step) -> str:
    """Return the text of a step, with its age if it was not mentioned for long."""
    unseen_s = time.time() - (step.confirmed_at or step.opened_at)
    return f"{step.text} ({int(unseen_s // DAY_S)} days old)" if unseen_s > FADES_AFTER_S else step.text


def _age(work: Work, around: Around) -> str:
    when = age(work.touched_at) if work.touched_at else ""
    if work.status == "in_progress" and around.phase(work.session_id) == "unfinished":
        return f"{when}, left unfinished when its client was killed"
    return when


def _others(work: Work, around: Around) -> list[Work]:
    """Return the other works here that may still matter, and the latest in other worktrees."""
    since = time.time() - FORGOTTEN_AFTER_S
    known = [one for one in around.works.works if one.touched_at > since or one.status != "completed"]
    here = [one for one in known if one.id != work.id][:MAX_OTHERS]
    return here + [one for one in around.elsewhere if one.project != work.project][:MAX_ELSEWHERE]


def _other(work: Work, around: Around, project: str) -> str:
    """Return the head of the line for another work: its goal, where it is, how it stands."""
    when = "at work right now" if around.is_active(work.session_id) else age(work.touched_at)
    place = f"in {work.project}, " if work.project != project else ""
    steps = sum(step.source != "state" for step in work.steps)
    known = [place + (f"branch {work.branch}" if work.branch else ""), work.status, when]
    known += [f"{steps} open step{'s' * (steps != 1)}"] if steps else []
    known += [", ".join(path.rpartition("/")[2] for path in work.files[:4])]
    return f"{cut_at_sentence(work.goal, OTHER_GOAL_LENGTH)} ({'; '.join(part for part in known if part)})"


def _about(work: Work, around: Around, room_bytes: int) -> str:
    """Return what there is room to tell about another work, after its head."""
    lines = digest(work, around.works.contributions(work.id), room_bytes, work.goal)
    return f": {' '.join(_as_sentence(line.text) for line in lines)}" if lines else ""


def _as_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
