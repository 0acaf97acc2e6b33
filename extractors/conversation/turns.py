"""The turns of a conversation: prompts, replies, recaps, and the findings in them."""

import re

from flowd.extractors.conversation import choices, ledger, plans
from flowd.extractors.conversation.replies import listed
from flowd.extractors.fields import files, findings
from flowd.extractors.text import cut, cut_at_sentence, pieces, plain, sentences, without_code
from flowd.extractors.transcript.memory import ConversationMemory, Turn, Utterance
from flowd.extractors.transcript.records import Record
from flowd.redaction.redactor import redact

REQUESTS = 6
PROMPT_LENGTH = 500
MAX_PROMPT_CHARACTERS = 2000
REPLY_HEAD = 2400
REPLY_TAIL = 1800
LABEL = 160
# Findings of subagents need more weight, and rank behind those of the session itself.
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
# List items that begin with a past tense are statements; others are often mere names.
_CHANGE = re.compile(r"\W*+(?:\d\W*+)?[A-Z]\w+ed\b")
_QUESTION = re.compile(
    r"(?:what|why|how|when|where|who|is|are|does|do|did|can you (?:explain|tell|show))\b.*\?\W*$"
)
_WHY = re.compile(r"\bwhy (?:are|do|did|is) (?:we|you|it)\b")


def prompt(memory: ConversationMemory, words: str, record: Record, line: int) -> None:
    """Start a turn with a prompt."""
    prompted = _flat(redact(_head(words, MAX_PROMPT_CHARACTERS)))
    if not prompted or (memory.prompt and memory.prompt.text == prompted):
        return
    memory.queued = [queued for queued in memory.queued if queued[:80] != prompted[:80]]
    ledger.prompted(
        memory, plans.plan_title(words) if plans.is_plan(words) else prompted, record.timestamp or ""
    )
    if plans.is_plan(words):
        set_plan(memory, words, record.timestamp or "")
        prompted = plans.plan_title(words)
    answer = _answer(prompted, memory)
    consents = choices.is_consent(prompted)
    if not answer and not consents and not choices.declines(prompted):
        _keep_offer(memory)
    if answer:
        note(memory, answer, "decision", 6.0, record, line)
    elif not consents and len(prompted.split(None, MIN_REQUEST_WORDS)) >= MIN_REQUEST_WORDS:
        _request(memory, prompted, record, line)
    memory.prompt = Utterance(prompted, memory.clock)
    memory.turn = Turn()
    memory.open_question = ""


def reply(memory: ConversationMemory, text: str, record: Record, line: int) -> None:
    """Add an assistant's text to the turn, and its findings to the memory."""
    if record.is_sidechain:
        _collect_subagent_findings(memory, text, record, line)
        return
    _collect_findings(memory, text, record, line)
    turn = memory.turn
    turn.reply = text if len(text) <= REPLY_HEAD + REPLY_TAIL else _ends(text)
    turn.is_final = False
    turn.doing = ""
    turn.ended = record.message is None or record.message.stop_reason != "tool_use"
    ledger.replied(memory, text, record.timestamp or "")
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


def report(memory: ConversationMemory, text: str, record: Record, line: int) -> None:
    """Add the edited files and the findings of a subagent's report."""
    files.reported(memory.files, text, record.cwd or "")
    _collect_subagent_findings(memory, text, record, line)


def finalize(memory: ConversationMemory) -> None:
    """Redact the turn and the findings; deferred until now because most are replaced before they are read."""
    findings.finalize(memory.findings)
    findings.finalize(memory.findings_aside)
    if memory.check:
        memory.check.command = redact(memory.check.command)
    turn = memory.turn
    if not turn.is_final:
        turn.reply = redact(turn.reply)
        turn.doing = cut(plain(redact(turn.doing)), LABEL)
        turn.is_final = True
    for call in memory.calls.values():  # some outlive their turn
        if not call.is_final:
            call.label = cut(plain(redact(call.label)), LABEL)
            call.detail = redact(call.detail)
            call.is_final = True


def recap(memory: ConversationMemory, text: str, record: Record, line: int) -> None:
    """Keep the client's recap of the session."""
    memory.recap = Utterance(cut_at_sentence(text, 600), memory.clock)
    done = text.partition("Next:")[0].strip()
    note(memory, cut_at_sentence(done, findings.LENGTH), "context", 4.0, record, line)


def summarised(memory: ConversationMemory, record: Record, line: int) -> None:
    """Keep the fixes of a compaction summary as learnings, and start a turn."""
    for fix in memory.summary.fixes if memory.summary else ():
        note(memory, fix, "learning", 3.0, record, line)
    memory.turn = Turn()


def note(
    memory: ConversationMemory,
    text: str,
    category: findings.Category,
    weight: float,
    record: Record,
    line: int,
) -> None:
    """Keep *text*, which is redacted already, as a finding."""
    one = findings.Finding(
        cut(text, findings.LENGTH), category, weight, memory.clock, line, record.uuid or ""
    )
    _keep(memory, one)


def set_plan(memory: ConversationMemory, plan: str, on: str = "") -> None:
    """Keep a plan's title, its steps and its verification steps."""
    memory.plan = Utterance(plans.plan_title(plan), memory.clock)
    memory.plan_checks = plans.plan_checks(plan)
    ledger.take_plan(memory.ledger, plans.plan_outline(plan), on)


def _keep(memory: ConversationMemory, one: findings.Finding) -> None:
    floor = findings.keep(memory.findings, one)
    memory.findings_floor = memory.findings_floor if floor is None else floor


def _collect_findings(memory: ConversationMemory, text: str, record: Record, line: int) -> None:
    """Keep the findings of a reply; while there are few, keep light ones about code in reserve."""
    least = findings.threshold(len(memory.findings), memory.findings_floor, memory.clock)
    is_poor = len(memory.findings) < FEW
    for one in findings.passages(text, LIGHTEST if is_poor else least):
        if one.weight >= least:
            _keep(memory, findings.found(one, memory.clock, line, record.uuid or ""))
        elif "`" in one.text and (not one.is_item or _CHANGE.match(one.text)):
            _keep_light(memory, one, record, line)


def _collect_subagent_findings(memory: ConversationMemory, text: str, record: Record, line: int) -> None:
    """Keep the heavy findings of a subagent in reserve while the session itself has few."""
    if len(memory.findings) >= FEW:
        return
    for one in findings.passages(text, LIGHTEST_ASIDE):
        _keep_light(memory, one, record, line)


def _keep_light(memory: ConversationMemory, one: findings.Passage, record: Record, line: int) -> None:
    """Keep *one* in reserve: such findings are used only when there are no better ones."""
    aside = memory.findings_aside
    if len(aside) < ASIDE or one.weight > aside[-1].weight:
        found = findings.found(one, memory.clock, line, record.uuid or "")
        memory.findings_aside = sorted([*aside, found], key=lambda kept: -kept.weight)[:ASIDE]


def _promise(memory: ConversationMemory, steps: list[str]) -> None:
    if steps:
        memory.promised = [redact(step) for step in steps[:PROMISES]]
        memory.promised_at = memory.clock


def _keep_offer(memory: ConversationMemory) -> None:
    """Keep the offer of the last reply as a next step if the prompt asks for something else."""
    offer = choices.offer_at_end(memory.turn.reply) if memory.turn.ended else ""
    if offer:
        _promise(memory, [f"{cut(offer, 150)} (offered, not taken up yet)", *memory.promised])


def _request(memory: ConversationMemory, prompted: str, record: Record, line: int) -> None:
    """Add a request; after an interruption it corrects the current task instead of starting one."""
    request = Utterance(prompted, memory.clock)
    is_first = memory.first is None
    memory.first = memory.first or request
    if is_first or not memory.turn.interrupted:
        memory.requests = [*memory.requests, request][-REQUESTS:]
    low = prompted.lower()
    if not is_first and _is_question(low):
        return
    directives = DIRECTIVES.intersection(low.split())
    weight = 3.0 + min(2.0, len(directives)) + memory.turn.interrupted
    text = f"The user asked: {cut_at_sentence(prompted, findings.LENGTH - 20)}"
    note(memory, text, "context" if is_first else "decision", weight, record, line)


def _is_question(low: str) -> bool:
    return _QUESTION.match(low) is not None or ("why " in low and _WHY.search(low) is not None)


def _answer(prompted: str, memory: ConversationMemory) -> str:
    """Return the decision made by a short answer to the last reply's question."""
    if not memory.turn.reply or not choices.is_short(prompted):
        return ""
    option = choices.chosen(prompted, memory.turn.reply)
    if not option:
        return ""
    question = choices.question_in(memory.turn.reply)
    return redact(
        f"{cut(question, 90)} The user chose: {option}" if question else f"The user chose: {option}"
    )


def _ends(text: str) -> str:
    """Return the head and the tail of a long reply, cut at white space so that no secret is split."""
    start = len(text) - REPLY_TAIL
    found = [place for place in (text.find(" ", start), text.find("\n", start)) if place >= 0]
    return _head(text, REPLY_HEAD) + "\n" + text[min(found, default=len(text)) :]


def _head(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    return text[: max(text.rfind(" ", 0, size), text.rfind("\n", 0, size), 0)]


def _flat(text: str) -> str:
    """Return *text* as one plain paragraph without code blocks."""
    bare = without_code(text)
    if "\n" not in bare:
        return cut(plain(bare), PROMPT_LENGTH)
    flat = ""
    for piece in pieces(bare):
        flat += f" {plain(piece.text)}"
        if len(flat) > PROMPT_LENGTH + 1:
            break
    return cut(flat[1:], PROMPT_LENGTH)
