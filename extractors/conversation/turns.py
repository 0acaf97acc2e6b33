"""The turns of a conversation: a prompt opens one, replies fill it, a recap looks back."""

import re

from flowd.extractors.conversation import choices, plans
from flowd.extractors.conversation.listing import listed
from flowd.extractors.fields import files, findings
from flowd.extractors.text import cut, cut_at_sentence, pieces, plain, sentences, without_code
from flowd.extractors.transcript.memory import Memory, Turn, Utterance
from flowd.extractors.transcript.records import Record
from flowd.redaction.redactor import redact

REQUESTS = 6
PROMPT_LENGTH = 500
MAX_PROMPT_CHARACTERS = 2000
REPLY_HEAD = 2400
REPLY_TAIL = 1800
LABEL = 160
# What a subagent says has to weigh much, and stands behind what the session itself says.
ASIDE = 10
LIGHTEST_ASIDE = 4.5
FEW = 10
LIGHTEST = 0.9
PROMISES = 5
MIN_REQUEST_WORDS = 4

DIRECTIVES = frozenset(
    "don't not no never only just instead use keep should must ignore skip let's lets without rather "
    "prefer want always make remove revert concerned need also separate".split()
)
# A list item that says what was done is a statement; others are often mere names.
_CHANGE = re.compile(r"\W*\d?\W*[A-Z]\w+ed\b")
_QUESTION = re.compile(
    r"(?:what|why|how|when|where|who|is|are|does|do|did|can you (?:explain|tell|show))\b.*\?\W*$"
)
_WHY = re.compile(r"\bwhy (?:are|do|did|is) (?:we|you|it)\b")


def prompt(memory: Memory, words: str, record: Record, line: int) -> None:
    """Open a turn with what the person said."""
    told = _flat(redact(_head(words, MAX_PROMPT_CHARACTERS)))
    if not told or (memory.prompt and memory.prompt.text == told):
        return
    memory.queued = [queued for queued in memory.queued if queued[:80] != told[:80]]
    if plans.is_plan(words):
        take_plan(memory, words)
        told = plans.title(words)
    answer = _answer(told, memory)
    consents = choices.is_consent(told)
    if not answer and not consents and not choices.declines(told):
        _keep_offer(memory)
    if answer:
        note(memory, answer, "decision", 6.0, record, line)
    elif not consents and len(told.split(None, MIN_REQUEST_WORDS)) >= MIN_REQUEST_WORDS:
        _request(memory, told, record, line)
    memory.prompt = Utterance(told, memory.clock)
    memory.turn = Turn()
    memory.open_question = ""


def reply(memory: Memory, text: str, record: Record, line: int) -> None:
    """Take an assistant's text into the turn, and what is worth keeping into the findings."""
    if record.is_sidechain:
        _look_aside(memory, text, record, line)
        return
    _look_through(memory, text, record, line)
    turn = memory.turn
    turn.reply = text if len(text) <= REPLY_HEAD + REPLY_TAIL else _ends(text)
    turn.settled = False
    turn.doing = ""
    turn.ended = record.message is None or record.message.stop_reason != "tool_use"
    if (
        ("x" in text and ("ext step" in text or "Next:" in text or "**Next" in text))
        or ("'" in text and "What's left" in text)
        or "Remaining" in text
    ):
        _promise(memory, listed(text))
    if not memory.restated:
        memory.restated = cut(
            next(iter(sentences(_flat(redact(_head(text, MAX_PROMPT_CHARACTERS))))), ""), 200
        )


def report(memory: Memory, text: str, record: Record, line: int) -> None:
    """Take what a subagent reports: the files it edited, what it learnt."""
    files.reported(memory.files, text, record.cwd or "")
    _look_aside(memory, text, record, line)


def settle(memory: Memory) -> None:
    """Rid turn and findings of secrets: put off until now, as most of them pass by unread."""
    findings.settle(memory.findings)
    findings.settle(memory.findings_aside)
    if memory.check:
        memory.check.command = redact(memory.check.command)
    turn = memory.turn
    if not turn.settled:
        turn.reply = redact(turn.reply)
        turn.doing = cut(plain(redact(turn.doing)), LABEL)
        turn.settled = True
    for call in memory.calls.values():  # some outlive the turn they were made in
        if not call.settled:
            call.label = cut(plain(redact(call.label)), LABEL)
            call.detail = redact(call.detail)
            call.settled = True


def recap(memory: Memory, text: str, record: Record, line: int) -> None:
    """Keep the client's own recap of the session."""
    memory.recap = Utterance(cut_at_sentence(text, 600), memory.clock)
    told = text.partition("Next:")[0].strip()
    note(memory, cut_at_sentence(told, findings.LENGTH), "context", 4.0, record, line)


def summarised(memory: Memory, record: Record, line: int) -> None:
    """Keep what a compaction summary learnt, and open a turn as a prompt would."""
    for fix in memory.summary.fixes if memory.summary else ():
        note(memory, fix, "learning", 3.0, record, line)
    memory.turn = Turn()


def note(
    memory: Memory, text: str, category: findings.Category, weight: float, record: Record, line: int
) -> None:
    """Keep *text*, already rid of secrets, as a finding."""
    one = findings.Finding(
        cut(text, findings.LENGTH), category, weight, memory.clock, line, record.uuid or ""
    )
    _keep(memory, one)


def take_plan(memory: Memory, plan: str) -> None:
    """Keep a plan's title and how it wants to be verified."""
    memory.plan = Utterance(plans.title(plan), memory.clock)
    memory.plan_checks = plans.verification(plan)


def _keep(memory: Memory, one: findings.Finding) -> None:
    floor = findings.keep(memory.findings, one)
    memory.findings_floor = memory.findings_floor if floor is None else floor


def _look_through(memory: Memory, text: str, record: Record, line: int) -> None:
    """Keep the findings of a reply; while there are few, put light ones about the code aside."""
    least = findings.threshold(len(memory.findings), memory.findings_floor, memory.clock)
    is_poor = len(memory.findings) < FEW
    for one in findings.passages(text, LIGHTEST if is_poor else least):
        if one.weight >= least:
            _keep(memory, findings.found(one, memory.clock, line, record.uuid or ""))
        elif "`" in one.text and (not one.is_item or _CHANGE.match(one.text)):
            _demote(memory, one, record, line)


def _look_aside(memory: Memory, text: str, record: Record, line: int) -> None:
    """Put the weighty findings of what a subagent says aside, while there are few others."""
    if len(memory.findings) >= FEW:
        return
    for one in findings.passages(text, LIGHTEST_ASIDE):
        _demote(memory, one, record, line)


def _demote(memory: Memory, one: findings.Passage, record: Record, line: int) -> None:
    """Keep *one* among the few findings that are told when there is nothing better to tell."""
    aside = memory.findings_aside
    if len(aside) < ASIDE or one.weight > aside[-1].weight:
        found = findings.found(one, memory.clock, line, record.uuid or "")
        memory.findings_aside = sorted([*aside, found], key=lambda kept: -kept.weight)[:ASIDE]


def _promise(memory: Memory, steps: list[str]) -> None:
    if steps:
        memory.promised = [redact(step) for step in steps[:PROMISES]]
        memory.promised_at = memory.clock


def _keep_offer(memory: Memory) -> None:
    """Keep in mind what the last reply offered, when the person asks for something else instead."""
    offer = choices.offer_at_end(memory.turn.reply) if memory.turn.ended else ""
    if offer:
        _promise(memory, [f"{cut(offer, 150)} (offered, not taken up yet)", *memory.promised])


def _request(memory: Memory, told: str, record: Record, line: int) -> None:
    """Take a request: a step on the way when it corrects what was just stopped, else a task of its own."""
    said = Utterance(told, memory.clock)
    is_first = memory.first is None
    memory.first = memory.first or said
    if is_first or not memory.turn.interrupted:
        memory.requests = [*memory.requests, said][-REQUESTS:]
    low = told.lower()
    if not is_first and _is_question(low):
        return
    directives = DIRECTIVES.intersection(low.split())
    weight = 3.0 + min(2.0, len(directives)) + memory.turn.interrupted
    text = f"The user asked: {cut_at_sentence(told, findings.LENGTH - 20)}"
    note(memory, text, "context" if is_first else "decision", weight, record, line)


def _is_question(low: str) -> bool:
    return _QUESTION.match(low) is not None or ("why " in low and _WHY.search(low) is not None)


def _answer(told: str, memory: Memory) -> str:
    """Return the decision that a short answer to the last reply's question makes."""
    if not memory.turn.reply or not choices.is_short(told):
        return ""
    option = choices.chosen(told, memory.turn.reply)
    if not option:
        return ""
    question = choices.question_in(memory.turn.reply)
    return redact(
        f"{cut(question, 90)} The user chose: {option}" if question else f"The user chose: {option}"
    )


def _ends(text: str) -> str:
    """Return the head and the tail of a long reply, cut at white space so that no secret is halved."""
    start = len(text) - REPLY_TAIL
    found = [place for place in (text.find(" ", start), text.find("\n", start)) if place >= 0]
    return _head(text, REPLY_HEAD) + "\n" + text[min(found, default=len(text)) :]


def _head(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    return text[: max(text.rfind(" ", 0, size), text.rfind("\n", 0, size), 0)]


def _flat(text: str) -> str:
    """Return *text* as one plain paragraph without its code."""
    bare = without_code(text)
    if "\n" not in bare:
        return cut(plain(bare), PROMPT_LENGTH)
    flat = ""
    for piece in pieces(bare):
        flat += f" {plain(piece.text)}"
        if len(flat) > PROMPT_LENGTH + 1:
            break
    return cut(flat[1:], PROMPT_LENGTH)
