"""What the state of the files asks for: a check after edits, a commit, a push. From times, not prose."""

from flowd.model.work import Contribution, Step

CODE = frozenset(
    "py pyi js jsx ts tsx mjs go rs java kt kts c h cc cpp hpp cs rb php swift scala ex exs erl hs ml lua "
    "dart sql sh vue svelte zig nim clj".split()
)


def upkeep_of(last: Contribution) -> list[Step]:
    """Return what the edits, checks, commits and pushes of a work's last session leave to do.

    Of what earlier sessions left, a person may have taken care meanwhile: nothing is said about it.
    """
    return [*_check(last), *_commit(last), *_push(last)]


def _step(kind: str, text: str, at: float, last: Contribution) -> Step:
    return Step(f"{kind}-{last.session_id[:8]}", text, "state", at, at, last.session_id)


def _check(last: Contribution) -> list[Step]:
    """Return the check to run again: only where one was run before, and code was edited after it."""
    deeds = last.evidence.deeds
    if not deeds.checked_at:
        return []
    if deeds.edited_at > deeds.checked_at and any(name.rpartition(".")[2] in CODE for name in last.files):
        text = f"Run the tests again ({deeds.check}): code was edited after the last run"
        return [_step("check", text, deeds.edited_at, last)]
    if not deeds.check_passed and deeds.checked_at > deeds.committed_at:
        return [
            _step("check", f"Fix what fails in {deeds.check} and run the tests again", deeds.checked_at, last)
        ]
    return []


def _commit(last: Contribution) -> list[Step]:
    deeds, many = last.evidence.deeds, len(last.files)
    if deeds.edited_at <= deeds.committed_at or not many:
        return []
    text = f"Commit the changes: {many} file{'s' * (many != 1)} edited since the last commit"
    return [_step("commit", text, deeds.edited_at, last)]


def _push(last: Contribution) -> list[Step]:
    found = last.evidence
    if found.deeds.committed_at <= found.deeds.pushed_at:
        return []
    subject = found.commits[-1].subject.rstrip(".") if found.commits else "the last commit"
    where = found.deeds.commit_branch.partition(" ")[0] or last.branch or "the branch"
    return [_step("push", f"Push {where}: {subject} is only local", found.deeds.committed_at, last)]
