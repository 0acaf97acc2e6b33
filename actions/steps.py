"""The open steps of the work at hand: listed, added, finished and dropped by a person."""

import time
from typing import NamedTuple

from flowd.actions.context import Context
from flowd.actions.daemon_client import poke_daemon
from flowd.actions.works import open_works
from flowd.extractors.work.project_works import ProjectWorks, current_work
from flowd.extractors.work.steps import step_id
from flowd.model.facts import Fact, StepEdited
from flowd.model.work import Step, StepAction, StepEdit, Work
from flowd.store.works import Works, work_fact
from flowd.system.errors import FlowdError
from flowd.workspace.git import read_branch

PROJECTS_LISTED = 50


class NumberedStep(NamedTuple):
    """An open step as a person sees it: by its number."""

    n: int
    step: Step
    work: Work

    @property
    def age_s(self) -> float:
        """How long ago anybody last spoke of the step."""
        return max(0.0, time.time() - (self.step.confirmed_at or self.step.opened_at))


def work_here(works: ProjectWorks, root: str, session_id: str) -> Work | None:
    """Return the work of the session a command runs in, else the current one of the project."""
    found, mine = works.works, session_id
    own = next((work for work in found if mine and mine in work.sessions), None)
    return own or current_work(found, read_branch(root))


def open_steps(context: Context, root: str) -> list[NumberedStep]:
    """Return the open steps of the current work of the project at *root*."""
    work = work_here(open_works(context.database, root), root, context.session_id)
    return _numbered(work) if work else []


def open_steps_everywhere(context: Context) -> list[NumberedStep]:
    """Return the open steps of every work of every project, the latest work first."""
    database = context.database
    latest = dict.fromkeys(work.project for work in Works(database).everywhere())
    works = [work for root in list(latest)[:PROJECTS_LISTED] for work in open_works(database, root).works]
    return [numbered for work in works for numbered in _numbered(work)]


def close_step(context: Context, root: str, number: int, action: StepAction) -> Step:
    """Close the step with that *number* as done or dropped, and return it."""
    found = next((one for one in open_steps(context, root) if one.n == number), None)
    if found is None:
        raise FlowdError(f"there is no step {number}", hint="`flow next` lists the open steps")
    _edit(context, root, found.work, StepEdit(found.work.id, found.step.id, action, found.step.text))
    return found.step


def add_step(context: Context, root: str, text: str) -> Step:
    """Add a step in a person's words to the current work."""
    text = context.redact(text)
    work = work_here(open_works(context.database, root), root, context.session_id)
    if work is None:
        raise FlowdError("there is no work here yet", hint='begin one with `flow save --goal "…"`')
    _edit(context, root, work, StepEdit(work.id, step_id(text), "added", text))
    return Step(step_id(text), text, "person", time.time())


def _numbered(work: Work) -> list[NumberedStep]:
    return [NumberedStep(number, step, work) for number, step in enumerate(work.steps, 1)]


def _edit(context: Context, root: str, work: Work, edit: StepEdit) -> None:
    """Store *edit*, and the work as it is afterwards; wake the daemon."""
    # A step may be added and closed: each edit has a separate key.
    key = f"step:{work.id}:{edit.step}:{edit.action}"
    context.journal.append(Fact(key, context.session_id, root, time.time(), StepEdited(edit)))
    changed = next((one for one in open_works(context.database, root).works if one.id == work.id), None)
    if changed:
        context.journal.append(work_fact(changed))
    poke_daemon(context.paths)
