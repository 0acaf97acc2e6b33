"""Which issue is being worked on."""

import os

from flowd.config.settings import Beads
from flowd.handoff.track_beads import track_beads
from flowd.sinks.bd_answer import Answer, Issue, Outcome
from flowd.sinks.bd_program import Bd, is_issue_id


def choose_issue(project: str, settings: Beads, bd: Bd) -> Answer:
    """Return the active track's epic, else the one of the settings, else the only one in progress."""
    track = track_beads(project)
    for named in (track.epic if track else "", _configured(project, settings)):
        if is_issue_id(named):
            return Answer(Outcome.DELIVERED, (Issue(named),))
    answer = bd.in_progress()
    if answer.outcome is not Outcome.DELIVERED:
        return answer
    return _only_one([issue for issue in answer.issues if issue.status == "in_progress"])


def _configured(project: str, settings: Beads) -> str:
    if not isinstance(settings.issue, dict):
        return settings.issue or ""
    by_project = {os.path.realpath(os.path.expanduser(path)): issue for path, issue in settings.issue.items()}  # noqa: PTH111 same as the project's own path
    return by_project.get(os.path.realpath(project), "")


def _only_one(issues: list[Issue]) -> Answer:
    if len(issues) == 1 and is_issue_id(issues[0].id):
        return Answer(Outcome.DELIVERED, tuple(issues))
    said = f"{len(issues)} issues are in progress" if issues else "no issue is in progress"
    return Answer(Outcome.NO_ISSUE, said=said)
