"""The ledger of a session: what was asked and what came of it, which steps were named, which are done."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from flowd.extractors.conversation import choices
from flowd.extractors.conversation.replies import NamedStep, done_statements, named_steps, result_of
from flowd.extractors.text import cut, cut_at_sentence
from flowd.extractors.work.likeness import SAME, covered, is_same_step, share, tickets
from flowd.redaction.redactor import redact

if TYPE_CHECKING:
    from flowd.extractors.transcript.memory import ConversationMemory

MAX_TURNS = 14
MAX_STEPS = 30
MAX_CLOSINGS = 30
MAX_COMMITS = 10
MAX_REFS = 8
REQUEST_LENGTH = 260
RESULT_LENGTH = 420
CLOSING_LENGTH = 180
MAX_CONTINUATION_WORDS = 12
MAX_TOUCHED = 20
KEPT_WHEN_ALL_IS_DONE = ("advice", "check", "issue")
MIN_SPOKEN_OF = 0.34

_CONTINUATION = re.compile(
    r"\b(?:continue|go on|carry on|keep going|resume|proceed|where (?:were|did) we|what were we"
    r"|what(?:'s| is) next"
    r"|pick (?:it |this )?up|left off|what (?:was|is) (?:the )?(?:status|state)|catch (?:me )?up"
    r"|back to work)\b",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"(?:/(?:pull|issues)/|\b(?:PR|pull request|issue)\s*#?|(?<![\w&])#)(\d{1,6})\b", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")
# The id at the end of a step that is an issue.
_ISSUE = re.compile(r" \(([a-zA-Z][\w-]*-[\w.]+)\)$")
_PARTS = re.compile(r"[._-]+|(?<=[a-z])(?=[A-Z])")
_NUMBERED = re.compile(r"\b(?:step|phase|task|part|item)s? #?(\d{1,2})\b", re.IGNORECASE)
_ALL_DONE = re.compile(
    r"\b(?:all (?:\w+ ){0,3}(?:done|complete[d]?|implemented|finished|in place)|everything (?:is "
    r"|in the plan )?\w*"
    r"(?:done|complete|implemented)|plan (?:is )?(?:now )?(?:fully )?(?:complete|implemented|done)"
    r"|implementation (?:is )?complete)\b",
    re.IGNORECASE,
)


class TurnNote(msgspec.Struct, array_like=True):
    """A finished turn: what was asked, what came of it, when."""

    request: str
    result: str
    on: str
    is_done: bool


class StepNote(msgspec.Struct, array_like=True):
    """A step that was named, where and when, and whether it is done."""

    text: str
    source: str
    on: str
    kind: str = "next"
    turn: int = 0
    number: int = 0


class CommitNote(msgspec.Struct, array_like=True):
    """A commit that was made."""

    hash: str
    subject: str
    on: str
    about: str = ""


class Ledger(msgspec.Struct):
    """What the session was asked, did and left open."""

    turns: list[TurnNote] = []
    turns_begun: int = 0
    asked: str = ""
    asked_on: str = ""
    steps: list[StepNote] = []
    closings: list[str] = []
    commits: list[CommitNote] = []
    refs: list[str] = []
    requests: int = 0
    continues: bool = False
    answers: int = 0
    outline: list[str] = []
    touched: list[str] = []
    replied_on: str = ""
    edited_on: str = ""
    committed_on: str = ""
    pushed_on: str = ""
    checked_on: str = ""


def prompted(memory: "ConversationMemory", prompt: str, on: str) -> None:
    """Finish the ledger entry of the previous turn, and begin one for the turn that *prompt* starts."""
    ledger = memory.ledger
    finish_turn(memory)
    is_small = choices.is_consent(prompt) or choices.is_short(prompt)
    ledger.asked, ledger.asked_on = cut_at_sentence(_asked(memory, prompt, is_small), REQUEST_LENGTH), on
    ledger.turns_begun += 1
    if is_continuation(prompt):
        ledger.continues = ledger.continues or ledger.requests == 0
    elif not choices.is_consent(prompt):
        ledger.requests += 1
    note_references(ledger, prompt)


def replied(memory: "ConversationMemory", text: str, on: str) -> None:
    """Take the steps that a reply names."""
    memory.ledger.replied_on = on
    found = named_steps(text)
    if found:
        take_steps(memory.ledger, [_clean(step) for step in found], "reply", on)


def take_steps(ledger: Ledger, steps: list[NamedStep], source: str, on: str) -> None:
    """Add *steps*; a new list of next steps replaces the earlier lists of the same kind."""
    kinds = {step.kind for step in steps}
    kept = [
        step
        for step in ledger.steps
        if step.source != source or step.kind not in kinds or step.kind == "advice" or step.on == on
    ]
    for named in steps:
        same = next((step for step in kept if is_same_step(step.text, named.text)), None)
        if same is None:
            kept.append(StepNote(named.text, source, on, named.kind, ledger.turns_begun))
    ledger.steps = kept[-MAX_STEPS:]


def take_plan(ledger: Ledger, steps: list[str], on: str) -> None:
    """Take the steps of a plan that was handed over or approved, in place of those of the plan before."""
    kept = [step for step in ledger.steps if step.source != "plan"]
    ledger.outline = steps
    planned = [
        StepNote(text, "plan", on, "plan", ledger.turns_begun, number) for number, text in enumerate(steps, 1)
    ]
    ledger.steps = [*kept, *planned][-MAX_STEPS:]


def interrupted_check(ledger: Ledger, command: str, on: str) -> None:
    """Take it that a check which the person stopped is still to be run."""
    step = StepNote(
        f"Run {command}: the last run was interrupted", "request", on, "check", ledger.turns_begun
    )
    ledger.steps = [*(one for one in ledger.steps if one.text != step.text), step]


def checked(ledger: Ledger, command: str) -> None:
    """Close the step to run *command*: it ran."""
    if ledger.steps:
        ledger.steps = [step for step in ledger.steps if step.kind != "check" or command not in step.text]


def touched(ledger: Ledger, path: str) -> None:
    """Keep the words of a path that is edited: its file and the parts of its name."""
    name = path.rpartition("/")[2]
    words = f"{name} {_PARTS.sub(' ', name)}" if name else ""
    if words and words not in ledger.touched:
        ledger.touched = [*ledger.touched, redact(words)][-MAX_TOUCHED:]


def finish_turn(memory: "ConversationMemory") -> None:
    """Note what came of the turn at hand and drop the steps that it closed."""
    ledger, turn = memory.ledger, memory.turn
    if not ledger.asked or not turn.reply:
        return
    note, closings = turn_note(memory)
    ledger.closings = list(dict.fromkeys([*ledger.closings, *closings]))[-MAX_CLOSINGS:]
    ledger.steps = still_open(ledger, note, closings, turn.reply if turn.ended else "")
    turns = [*ledger.turns, note]
    # The beginning and the latest turns are more useful than those between.
    ledger.turns = turns if len(turns) <= MAX_TURNS else [*turns[:4], *turns[-(MAX_TURNS - 4) :]]
    ledger.asked = ""


def turn_note(memory: "ConversationMemory") -> tuple[TurnNote, list[str]]:
    """Return the turn at hand in short, and the sentences that close steps."""
    ledger, turn = memory.ledger, memory.turn
    reply = turn.reply if turn.is_final else redact(turn.reply)
    committed = ledger.committed_on > ledger.asked_on
    is_over = turn.ended and not turn.interrupted and not choices.question_in(reply)
    is_done = committed or (is_over and ledger.edited_on >= ledger.asked_on)
    closings = _closings(ledger, reply) if turn.ended else []
    # Text before a tool call is not a result.
    result = result_of(reply, RESULT_LENGTH) if turn.ended else ""
    return TurnNote(ledger.asked, result, ledger.asked_on, is_done), closings


def _closings(ledger: Ledger, reply: str) -> list[str]:
    """Return what *reply* reports as done, without the steps that it names itself."""
    named = [step.text for step in ledger.steps if step.turn == ledger.turns_begun]
    said = [one for one in done_statements(reply) if not any(one.rstrip(".") in text for text in named)]
    return [cut(one, CLOSING_LENGTH) for one in said]


def still_open(ledger: Ledger, turn: TurnNote, closings: list[str], reply: str) -> list[StepNote]:
    """Return the steps that neither *turn*, its *closings* nor *reply*, its end, have closed."""
    steps = ledger.steps
    if not steps or not (closings or reply or turn.is_done):
        return steps
    numbers = numbers_in(closings)
    left = [
        step
        for step in steps
        # The reply that names a step describes what is wrong, not what is done.
        if (step.on == ledger.replied_on and step.source == "reply")
        or not (_is_said(step, closings, numbers) or (turn.is_done and answers(turn.request, step.text)))
    ]
    if reply and _ALL_DONE.search(reply):
        return [step for step in left if step.kind in KEPT_WHEN_ALL_IS_DONE or step.on == ledger.replied_on]
    return [step for step in left if step.kind != "plan" or _is_left(step, ledger, reply, numbers)]


def numbers_in(closings: Iterable[str]) -> set[int]:
    """Return the numbers of the steps that *closings* report as done."""
    return {int(number) for one in closings for number in _NUMBERED.findall(one)}


def _is_left(step: StepNote, ledger: Ledger, reply: str, numbers: set[int]) -> bool:
    """Return True if a step of a plan is left when the turn that follows the plan ends.

    A reply with step numbers lists which are done. Otherwise a commit closes the plan, and so does any
    mention of the step in what was done: steps without a mention are left.
    """
    if not reply or numbers or step.on == ledger.replied_on:
        return True
    if ledger.committed_on > step.on:
        return False
    done = " ".join([reply, *ledger.touched])
    return share(step.text, done) < MIN_SPOKEN_OF


def _is_said(step: StepNote, closings: list[str], numbers: set[int]) -> bool:
    """Return True if the step is reported as done, by its terms or by its number."""
    return any(closes(one, step.text) for one in closings) or (step.number > 0 and step.number in numbers)


def answers(request: str, step: str) -> bool:
    """Return True if *request* asks for *step*: a person may word it shorter."""
    return closes(request, step) or is_same_step(request, step)


def closes(statement: str, step: str) -> bool:
    """Return True if *statement*, which reports something as done, names *step*."""
    if covered(step, statement) >= SAME:
        return True
    named = tickets(step)
    if named and named[0] in tickets(statement):
        return True
    issue = _ISSUE.search(step)
    return issue is not None and issue.group(1) in statement.split()


def is_continuation(prompt: str) -> bool:
    """Return True if a prompt asks for no more than to go on."""
    return len(prompt.split()) <= MAX_CONTINUATION_WORDS and _CONTINUATION.search(prompt) is not None


def note_references(ledger: Ledger, text: str) -> None:
    """Keep the pull requests and issues that *text* names."""
    if _DIGIT.search(text):
        found = [f"#{number}" for number in _REFERENCE.findall(text)]
        ledger.refs = list(dict.fromkeys([*ledger.refs, *found]))[-MAX_REFS:]


def _asked(memory: "ConversationMemory", prompt: str, is_small: bool) -> str:
    """Return what a prompt asks for: where it only agrees or answers, what the reply before had asked."""
    question = choices.question_in(memory.turn.reply) if is_small and memory.turn.reply else ""
    if not question:
        return prompt
    asked = choices.offer_in(question) or question
    return redact(asked if choices.is_consent(prompt) else f"{prompt} (asked: {cut(asked, 140)})")


def _clean(step: NamedStep) -> NamedStep:
    return NamedStep(redact(step.text), step.kind)
