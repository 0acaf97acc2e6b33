"""The turns of a conversation: a prompt opens one, replies fill it, a recap looks back."""

from flowd.extractors import choices, findings, plans
from flowd.extractors.memory import Memory, Said, Turn
from flowd.extractors.records import Record
from flowd.extractors.redaction import redact
from flowd.extractors.text import cut, cut_at_sentence, pieces, plain, sentences, without_code

REQUESTS = 6
PROMPT_LENGTH = 500
REPLY_HEAD = 2400
REPLY_TAIL = 1800
SHORTEST_REQUEST_WORDS = 4

DIRECTIVES = frozenset(
    "don't not no never only just instead use keep should must ignore skip let's lets without rather prefer want "
    "always make remove revert concerned need also separate".split()
)


def prompt(memory: Memory, words: str, record: Record, line: int) -> None:
    """Open a turn with what the person said."""
    text = redact(words)
    told = _flat(text)
    if not told or (memory.prompt and memory.prompt.text == told):
        return
    memory.queued = [queued for queued in memory.queued if queued[:80] != told[:80]]
    if plans.is_plan(text):
        _take_plan(memory, text)
        told = cut(plans.title(text), PROMPT_LENGTH)
    answer = _answer(told, memory)
    if answer:
        note(memory, answer, "decision", 6.0, record, line)
    elif len(told.split()) >= SHORTEST_REQUEST_WORDS and not choices.is_consent(told):
        _request(memory, told, record, line)
    memory.prompt = Said(told, memory.clock)
    memory.turn = Turn()
    memory.open_question = ""


def reply(memory: Memory, text: str, record: Record, line: int) -> None:
    """Take an assistant's text into the turn, and what is worth keeping into the findings."""
    clean = redact(text)
    penalty = 1.0 if record.is_sidechain else 0.0
    for part, found, category, weight in findings.in_reply(clean):
        one = findings.Finding(found, category, weight - penalty, memory.clock, line, record.uuid or "", part)
        findings.keep(memory.findings, one)
    if record.is_sidechain:
        return
    turn = memory.turn
    if not memory.restated:
        memory.restated = cut(first_sentence(_flat(clean)), 200)
    turn.reply = (
        clean if len(clean) <= REPLY_HEAD + REPLY_TAIL else clean[:REPLY_HEAD] + "\n" + clean[-REPLY_TAIL:]
    )
    turn.doing = ""
    turn.ended = record.message is None or record.message.stop_reason != "tool_use"


def recap(memory: Memory, text: str, record: Record, line: int) -> None:
    """Keep the client's own recap of the session."""
    memory.recap = Said(cut_at_sentence(text, 600), memory.clock)
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
    findings.keep(memory.findings, one)


def _request(memory: Memory, told: str, record: Record, line: int) -> None:
    said = Said(told, memory.clock)
    is_first = memory.first is None
    memory.first = memory.first or said
    memory.requests = [*memory.requests, said][-REQUESTS:]
    weight = 3.0 + min(2.0, len(set(told.lower().split()) & DIRECTIVES))
    text = f"The user asked: {cut_at_sentence(told, findings.LENGTH - 20)}"
    note(memory, text, "context" if is_first else "decision", weight, record, line)


def _answer(told: str, memory: Memory) -> str:
    """Return the decision that a short answer to the last reply's question makes."""
    if len(told.split()) > choices.LONGEST_ANSWER_WORDS or not memory.turn.reply:
        return ""
    option = choices.chosen(told, memory.turn.reply)
    question = choices.question_in(memory.turn.reply)
    if option:
        return f"{cut(question, 90)} The user chose: {option}" if question else f"The user chose: {option}"
    return ""


def _take_plan(memory: Memory, text: str) -> None:
    memory.plan = Said(plans.title(text), memory.clock)
    memory.plan_checks = plans.verification(text)


def _flat(text: str) -> str:
    """Return *text* as one plain paragraph without its code."""
    bare = without_code(text)
    if "\n" not in bare:
        return cut(plain(bare), PROMPT_LENGTH)
    return cut(" ".join(plain(piece.text) for piece in pieces(bare)), PROMPT_LENGTH)


def first_sentence(text: str) -> str:
    """Return the first sentence of *text*."""
    return next(iter(sentences(text)), "")
