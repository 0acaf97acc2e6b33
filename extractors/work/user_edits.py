"""Apply what a person said about a work, and did to its steps."""

import msgspec

from flowd.extractors.work.likeness import is_same_step
from flowd.model.work import Step, StepEdit, UserWords, Work

KEPT_FIELDS = ("goal", "status", "hypothesis", "outcome")


def with_words(work: Work, words: UserWords) -> Work:
    """Return *work* with the fields that a person set in place of those that flowd found.

    ``now`` is kept, and the work is open, until the next request has been worked on; the rest until the
    person changes or clears it.
    """
    fields = {name: words.said[name] for name in KEPT_FIELDS if name in words.said}
    if words.said.get("now") and words.at.get("now", 0.0) >= work.worked_at:
        fields["now"] = words.said["now"]
        if work.status == "completed" and "status" not in fields:  # whoever says what they do now is not done
            fields |= {"status": "in_progress", "outcome": ""}
    origins = work.origins | dict.fromkeys(fields, "person")
    return msgspec.structs.replace(work, user=words, origins=origins, **fields)


def with_edits(work: Work, edits: list[StepEdit]) -> Work:
    """Return *work* with the steps that a person added, and without those they closed."""
    mine = [edit for edit in edits if edit.work == work.id]
    if not mine:
        return work
    closed = [edit for edit in mine if edit.action != "added"]
    added = [
        Step(edit.step, edit.text, "person", edit.at, edit.at)
        for edit in mine
        if edit.action == "added" and not any(edit.step == other.step for other in closed)
    ]
    steps = [
        *added,
        *(step for step in work.steps if not any(is_same_step(step.text, one.text) for one in added)),
    ]
    return msgspec.structs.replace(work, steps=tuple(step for step in steps if not _is_closed(step, closed)))


def _is_closed(step: Step, closed: list[StepEdit]) -> bool:
    if any(edit.step == step.id for edit in closed):
        return True
    # The same step in other words; upkeep steps are computed, and come back with new edits.
    return step.source not in ("state", "person") and any(
        is_same_step(step.text, edit.text) for edit in closed
    )
