"""Keep the note of an issue in Beads, read an issue, count the children of an epic."""

import os
import time
from collections.abc import Callable

from flowd.config.settings import BeadsSettings
from flowd.handoff.checkpoint_texts import (
    BeadsNote,
    block_text,
    carried,
    merged_notes,
    own_block,
)
from flowd.handoff.track.tracks import TrackProgress
from flowd.sinks.beads.bd import MAX_ARGUMENT_BYTES, Bd, BdOutcome, BdResult, BeadsIssue, find_bd, is_issue_id
from flowd.sinks.beads.consent import missing_consent
from flowd.sinks.beads.directory import BeadsLockedError, beads_lock, find_beads
from flowd.system.times import iso_millis, seconds

# bd replaces notes as a whole: a line that another tool adds between our read and our write would be lost.
# So flowd replaces them only if no other tool has changed the issue for this long, and appends otherwise.
QUIET_S = 2.0
MAX_WAIT_S = 10.0
_MEMORY_BYTES = 400

Command = Callable[[Bd, int], BdResult]


def sync_note(project: str, issue: str, note: BeadsNote, settings: BeadsSettings) -> BdResult:
    """Write *note* into *issue*, or into the chosen one if *issue* is empty; verify it with ``bd show``."""

    def write(bd: Bd, memory: int) -> BdResult:
        chosen = _found(issue) if issue else choose_issue(project, settings, bd)
        if chosen.outcome is not BdOutcome.DELIVERED:
            return chosen
        return _NoteWriter(bd, chosen.issues[0].id, memory).write(note)

    return _run_locked(project, settings, write)


def read_issue(project: str, issue: str, settings: BeadsSettings) -> BdResult:
    """Return the issue as ``bd show`` prints it."""
    return _run_locked(project, settings, lambda bd, _: bd.show(issue))


def epic_progress(project: str, epic: str, settings: BeadsSettings) -> TrackProgress | None:
    """Return how many children of *epic* are closed, None if bd fails."""
    result = _run_locked(project, settings, lambda bd, _: bd.children(epic))
    if result.outcome is not BdOutcome.DELIVERED:
        return None
    return TrackProgress(sum(issue.status == "closed" for issue in result.issues), len(result.issues))


def choose_issue(project: str, settings: BeadsSettings, bd: Bd) -> BdResult:
    """Return the issue named in the settings, else the only one in progress."""
    configured = _configured(project, settings)
    if is_issue_id(configured):
        return _found(configured)
    result = bd.in_progress()
    if result.outcome is not BdOutcome.DELIVERED:
        return result
    return _only_one([issue for issue in result.issues if issue.status == "in_progress"])


def _found(issue: str) -> BdResult:
    return BdResult(BdOutcome.DELIVERED, (BeadsIssue(issue),))


def _configured(project: str, settings: BeadsSettings) -> str:
    if not isinstance(settings.issue, dict):
        return settings.issue or ""
    by_project = {os.path.realpath(os.path.expanduser(path)): issue for path, issue in settings.issue.items()}  # noqa: PTH111 same as the project's own path
    return by_project.get(os.path.realpath(project), "")


def _only_one(issues: list[BeadsIssue]) -> BdResult:
    if len(issues) == 1 and is_issue_id(issues[0].id):
        return BdResult(BdOutcome.DELIVERED, tuple(issues))
    message = f"{len(issues)} issues are in progress" if issues else "no issue is in progress"
    return BdResult(BdOutcome.NO_ISSUE, message=message)


def _run_locked(project: str, settings: BeadsSettings, command: Command) -> BdResult:
    beads = find_beads(project)
    if beads is None:
        return BdResult(BdOutcome.NO_DATABASE, message="the project has no .beads")
    program = find_bd(settings, project)
    if program is None:
        return BdResult(BdOutcome.ABSENT)
    if reason := missing_consent(beads):
        return BdResult(BdOutcome.NOT_ACCEPTED, message=reason)
    try:
        with beads_lock(beads, settings.timeout_s) as memory:
            return command(Bd(program, beads, settings.timeout_s), memory)
    except BeadsLockedError as error:
        return BdResult(BdOutcome.LOCKED, message=str(error))


class _NoteWriter:
    """Writes a note into one issue. *memory* is the lock file, which holds flowd's last change."""

    def __init__(self, bd: Bd, issue: str, memory: int) -> None:
        self._bd = bd
        self._issue = issue
        self._memory = memory
        self._is_quiet = True

    def write(self, note: BeadsNote) -> BdResult:
        """Replace flowd's block or append one; return what ``bd show`` prints afterwards."""
        shown = self._show_when_quiet()
        if not shown.issues or _contains(shown.issues[0], note):
            return shown
        notes = shown.issues[0].notes or ""
        before = own_block(notes, note.session)
        note = carried(note, before.text) if before else note
        methods = [self._append, self._replace]
        if self._is_quiet and before:
            methods.reverse()
        for method in methods:
            result = method(notes, note)
            if result.outcome in (BdOutcome.LOCKED, BdOutcome.TIMED_OUT, BdOutcome.ABSENT):
                return result
            shown = self._bd.show(self._issue)
            if not shown.issues or self._is_written(shown.issues[0], note):
                return shown
            notes = shown.issues[0].notes or ""
        if result.outcome is BdOutcome.DELIVERED:
            return BdResult(BdOutcome.FAILED, message="bd accepted the note but does not show it")
        return result

    def _is_written(self, issue: BeadsIssue, note: BeadsNote) -> bool:
        if not _contains(issue, note):
            return False
        self._remember(issue)
        return True

    def _append(self, _: str, note: BeadsNote) -> BdResult:
        block = block_text(note, MAX_ARGUMENT_BYTES)
        return BdResult(BdOutcome.TOO_LARGE) if block is None else self._bd.append_notes(self._issue, block)

    def _replace(self, notes: str, note: BeadsNote) -> BdResult:
        others = len(merged_notes(notes, "", note.session).encode())
        block = block_text(note, MAX_ARGUMENT_BYTES - others)
        if block is None:
            message = f"{others} bytes of other notes leave no room for flowd's"
            return BdResult(BdOutcome.TOO_LARGE, message=message)
        return self._bd.replace_notes(self._issue, merged_notes(notes, block, note.session))

    def _show_when_quiet(self) -> BdResult:
        deadline = time.monotonic() + MAX_WAIT_S
        while True:
            shown = self._bd.show(self._issue)
            wait_s = QUIET_S - self._age_s(shown.issues[0]) if shown.issues else 0.0
            self._is_quiet = wait_s <= 0
            if self._is_quiet or time.monotonic() + wait_s > deadline:
                return shown
            time.sleep(wait_s)

    def _age_s(self, issue: BeadsIssue) -> float:
        """Return the seconds since another tool changed *issue*; our own last change does not count."""
        if os.pread(self._memory, _MEMORY_BYTES, 0).decode() == _version(issue):
            return QUIET_S
        age_s = time.time() - seconds(issue.updated_at)
        return age_s if age_s > 0 else QUIET_S

    def _remember(self, issue: BeadsIssue) -> None:
        os.ftruncate(self._memory, 0)
        os.pwrite(self._memory, _version(issue).encode(), 0)


def _version(issue: BeadsIssue) -> str:
    return f"{issue.id} {issue.updated_at}"[:_MEMORY_BYTES]


def _contains(issue: BeadsIssue, note: BeadsNote) -> bool:
    """Return True if *issue* shows *note* or a later one."""
    present = own_block(issue.notes or "", note.session)
    return present is not None and present.at >= iso_millis(note.at)
