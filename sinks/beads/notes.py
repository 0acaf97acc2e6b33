"""Errands to Beads: keep the note of an issue, read one, count an epic's children."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from flowd.config.settings import BeadsSettings
from flowd.handoff.beads_note import BeadsNote, block_text, merged_notes, moment_text, own_block
from flowd.handoff.track.beads import track_beads
from flowd.sinks.beads.bd import ARGUMENT_BYTES, Bd, BdOutcome, BdResult, BeadsIssue, find_bd, is_issue_id
from flowd.sinks.beads.place import BeadsLockedError, beads_lock, beads_place


def choose_issue(project: str, settings: BeadsSettings, bd: Bd) -> BdResult:
    """Return the active track's epic, else the one of the settings, else the only one in progress."""
    track = track_beads(project)
    for named in (track.epic if track else "", _configured(project, settings)):
        if is_issue_id(named):
            return BdResult(BdOutcome.DELIVERED, (BeadsIssue(named),))
    answer = bd.in_progress()
    if answer.outcome is not BdOutcome.DELIVERED:
        return answer
    return _only_one([issue for issue in answer.issues if issue.status == "in_progress"])


def _configured(project: str, settings: BeadsSettings) -> str:
    if not isinstance(settings.issue, dict):
        return settings.issue or ""
    by_project = {os.path.realpath(os.path.expanduser(path)): issue for path, issue in settings.issue.items()}  # noqa: PTH111 same as the project's own path
    return by_project.get(os.path.realpath(project), "")


def _only_one(issues: list[BeadsIssue]) -> BdResult:
    if len(issues) == 1 and is_issue_id(issues[0].id):
        return BdResult(BdOutcome.DELIVERED, tuple(issues))
    said = f"{len(issues)} issues are in progress" if issues else "no issue is in progress"
    return BdResult(BdOutcome.NO_ISSUE, said=said)


# bd cannot change a part of the notes: what another tool adds between reading and writing would be lost.
# So flowd writes when nobody else has for this long, and only adds where that never comes.
QUIET_S = 2.0
MAX_WAIT_S = 10.0
_MEMORY_BYTES = 400


class EpicProgress(NamedTuple):
    """How many children of an epic are closed, of how many."""

    closed: int
    total: int

    @property
    def percent(self) -> int:
        """Whole percent; nothing of nothing is 0."""
        return self.closed * 100 // self.total if self.total else 0


def sync_note(project: str, issue: str, note: BeadsNote, settings: BeadsSettings) -> BdResult:
    """Have *note* stand in *issue*, or in the one chosen where *issue* is empty; believe only ``bd show``."""

    def errand(bd: Bd, memory: int) -> BdResult:
        chosen = (
            BdResult(BdOutcome.DELIVERED, (BeadsIssue(issue),))
            if issue
            else choose_issue(project, settings, bd)
        )
        if chosen.outcome is not BdOutcome.DELIVERED:
            return chosen
        return _Writing(bd, chosen.issues[0].id, memory).write(note)

    return _at_beads(project, settings, errand)


def read_issue(project: str, issue: str, settings: BeadsSettings) -> BdResult:
    """Return the issue as ``bd show`` tells it."""
    return _at_beads(project, settings, lambda bd, _: bd.show(issue))


def epic_progress(project: str, epic: str, settings: BeadsSettings) -> EpicProgress | None:
    """Return how far the children of *epic* are, None where Beads cannot say."""
    answer = _at_beads(project, settings, lambda bd, _: bd.children(epic))
    if answer.outcome is not BdOutcome.DELIVERED:
        return None
    return EpicProgress(sum(issue.status == "closed" for issue in answer.issues), len(answer.issues))


def _at_beads(project: str, settings: BeadsSettings, errand: Callable[[Bd, int], BdResult]) -> BdResult:
    place = beads_place(project)
    if place is None:
        return BdResult(BdOutcome.NO_DATABASE, said="the project has no .beads")
    program = find_bd(settings)
    if program is None:
        return BdResult(BdOutcome.ABSENT)
    try:
        with beads_lock(place, settings.timeout_s) as memory:
            return errand(Bd(program, place, settings.timeout_s), memory)
    except BeadsLockedError as error:
        return BdResult(BdOutcome.LOCKED, said=str(error))


class _Writing:
    """One note on its way into one issue; *memory* is the lock file, which knows flowd's last change."""

    def __init__(self, bd: Bd, issue: str, memory: int) -> None:
        self._bd = bd
        self._issue = issue
        self._memory = memory
        self._quiet = True

    def write(self, note: BeadsNote) -> BdResult:
        """Replace flowd's block or add one, as this bd allows; the answer is what it shows afterwards."""
        shown = self._when_quiet()
        if not shown.issues or _stands_in(shown.issues[0], note):
            return shown
        ways = [self._append, self._replace]
        if self._quiet and own_block(shown.issues[0].notes or ""):
            ways.reverse()
        for way in ways:
            answer = way(shown.issues[0].notes or "", note)
            if answer.outcome in (BdOutcome.LOCKED, BdOutcome.TIMED_OUT, BdOutcome.ABSENT):
                return answer
            shown = self._bd.show(self._issue)
            if not shown.issues:
                return shown
            if _stands_in(shown.issues[0], note):
                self._remember(shown.issues[0])
                return shown
        if answer.outcome is BdOutcome.DELIVERED:
            answer = BdResult(BdOutcome.FAILED, said="bd took the note and does not show it")
        return answer

    def _append(self, _: str, note: BeadsNote) -> BdResult:
        block = block_text(note, ARGUMENT_BYTES)
        return BdResult(BdOutcome.TOO_LARGE) if block is None else self._bd.append_notes(self._issue, block)

    def _replace(self, notes: str, note: BeadsNote) -> BdResult:
        others = len(merged_notes(notes, "").encode())
        block = block_text(note, ARGUMENT_BYTES - others)
        if block is None:
            return BdResult(
                BdOutcome.TOO_LARGE, said=f"{others} bytes of other notes leave no room for flowd's"
            )
        return self._bd.replace_notes(self._issue, merged_notes(notes, block))

    def _when_quiet(self) -> BdResult:
        deadline = time.monotonic() + MAX_WAIT_S
        while True:
            shown = self._bd.show(self._issue)
            wait_s = QUIET_S - self._age_s(shown.issues[0]) if shown.issues else 0.0
            self._quiet = wait_s <= 0
            if self._quiet or time.monotonic() + wait_s > deadline:
                return shown
            time.sleep(wait_s)

    def _age_s(self, issue: BeadsIssue) -> float:
        """Return how long ago somebody else changed *issue*, as far as can be told."""
        if os.pread(self._memory, _MEMORY_BYTES, 0).decode() == _trace(issue):
            return QUIET_S
        age_s = time.time() - _moment(issue.updated_at)
        return age_s if age_s > 0 else QUIET_S

    def _remember(self, issue: BeadsIssue) -> None:
        os.ftruncate(self._memory, 0)
        os.pwrite(self._memory, _trace(issue).encode(), 0)


def _moment(text: str) -> float:
    """Return *text* as seconds since 1970, 0 where it is no moment."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _trace(issue: BeadsIssue) -> str:
    return f"{issue.id} {issue.updated_at}"[:_MEMORY_BYTES]


def _stands_in(issue: BeadsIssue, note: BeadsNote) -> bool:
    """Say whether *issue* shows *note* already, or one that tells of a later moment."""
    present = own_block(issue.notes or "")
    return present is not None and present.at >= moment_text(note.at)
