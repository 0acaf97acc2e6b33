"""The goal of a session, and its progress: status, current step and outcome."""

import re
from typing import Any

from flowd.extractors.conversation.choices import is_consent, question_in
from flowd.extractors.conversation.plans import open_tasks
from flowd.extractors.conversation.replies import without_next_steps
from flowd.extractors.text import (
    capitalised,
    cut,
    cut_at_sentence,
    pieces,
    plain,
    sentences,
    without_code,
)
from flowd.extractors.transcript.memory import ConversationMemory
from flowd.extractors.transcript.protocol import ProjectPlace, relative_paths
from flowd.handoff.block.find import blocks_in_markdown, without_blocks
from flowd.model.session import Status

MAX_GOAL = 200
TOPIC_LENGTH = 115
STALE_AFTER_REQUESTS = 3
MIN_TOPIC_WORDS = 4

_POLITE = re.compile(
    r"^(?:(?:ok|okay|hm+|well|great|thanks|thank you|perfect|nice|hi|hello|hey|please|sorry|yes|no|so|and|now"
    r"|alright|cool|not bad)\b[,.!]*\s+)*"
    r"(?:(?:can|could|would|will) (?:you|we)(?: please)?\s+|i(?:'d| would) like (?:you )?to\s+"
    r"|i want (?:you )?to\s+|i need you to\s+|i think (?:we|you) (?:should|have)\s+|please\s+"
    r"|(?:maybe )?let'?s (?:just |try and )?)?",
    re.IGNORECASE,
)
_ASKING = re.compile(r"\b(?:can|could|would|will) (?:you|we)\b", re.IGNORECASE)
_RECAP_SUBJECT = re.compile(
    r"^(?:we(?:'re| are| were|'ve been| have been)?|you(?:'re| are)?|i(?:'m| am)?)\s+(?:currently\s+)?",
    re.IGNORECASE,
)
_MENTION = re.compile(r"(?:^|\s)@\S+")
_RESTATED = re.compile(
    r"^i'(?:ll|m going to) (?:help you (?:with|to)?\s*|start (?:by|with)\s+)?", re.IGNORECASE
)

MAX_PROGRESS = 200
QUESTION_LENGTH = 95
MIN_REST = 40
SENTENCES = 12

MAX_COMPLAINT = 200
# A closing reply with one of these says how far the work is, not that it is done.
NOT_DONE = re.compile(
    r"\b(?:half|halfway|partly|partially)[ -](?:done|written|finished|completed?|implemented|through)\b"
    r"|\bhalfway\b|\b(?:first|second|one|two|three) of (?:the )?\w+"
    r"(?: \w+){0,3} (?:is|are) (?:done|in|written)\b"
    r"|\bstill (?:fail|fails|failing|broken|breaks|red|missing|crashes|open)\b"
    r"|\b(?:could not|couldn't|can(?:not|'t)|was(?:n't| not) able to|unable to) (?:reach|finish|complete|run"
    r"|build|connect|reproduce|fix|access|find|install|verify)\b"
    r"|\bnot (?:yet )?(?:done|finished|complete|working)\b",
    re.IGNORECASE,
)
COMPLAINT = re.compile(
    r"\b(?:still|again)\b.{0,40}\b(?:work|fail|broke|error|wrong|same|crash)"
    r"|\b(?:did|does|is) ?n[o']?t work|\bnot work|\btry again\b|\bsame (?:error|problem|issue|bug)\b",
    re.IGNORECASE,
)
OPENERS = re.compile(
    r"^(?:all (?:\w+ )?(?:tests?|checks?|green|pass\w*|done|good)\b|tests? pass|here(?:'s| is| are)|summary\b"
    r"|(?:great|perfect|excellent|done|good|nice|got it|sure|yes|no problem|absolutely|acknowledged|okay|ok)"
    r"\b[^.!]{0,25}[.!]|you're (?:absolutely )?right)",
    re.IGNORECASE,
)
INTENT = re.compile(
    r"^(?:now |next,? |first,? |then |so )?"
    r"(?:let me(?: also| now)?|let's|i'll(?: now| also)?|i(?:'m| am) going to|i need to|now to)\s+",
    re.IGNORECASE,
)


def describe_goal(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the goal."""
    return {"goal": relative_paths(_goal(memory), place)}


def asked(request: str) -> str:
    """Return a request without its polite phrases."""
    bare = _POLITE.sub("", request, count=1)
    if _ASKING.search(request[: len(request) - len(bare)]):  # "can you add it?" asks to add it
        bare = bare.removesuffix("?")
    return capitalised(bare) or request


def _goal(memory: ConversationMemory) -> str:
    current = memory.requests[-1] if memory.requests else None
    topic, since = _topic(memory)
    if current is None or current.at <= since:
        return cut_at_sentence(topic or memory.title or _understood(memory), MAX_GOAL)
    latest = asked(current.text)
    if not topic or topic[:60] == latest[:60]:
        return cut_at_sentence(latest, MAX_GOAL)
    head = cut(topic.rstrip("."), TOPIC_LENGTH)
    return f"{head} — now: {cut(latest, MAX_GOAL - len(head) - 8)}"


def _topic(memory: ConversationMemory) -> tuple[str, int]:
    """Return the topic of the whole session, and the record that last stated it."""
    recap, plan, summary = memory.recap, memory.plan, memory.summary
    if recap and sum(request.at > recap.at for request in memory.requests) <= STALE_AFTER_REQUESTS:
        return capitalised(_RECAP_SUBJECT.sub("", _opening(recap.text))), recap.at
    if plan and (summary is None or plan.at > summary.at):
        return plan.text, plan.at
    if summary and summary.request:
        return cut_at_sentence(summary.request, MAX_GOAL), summary.at
    if memory.title:
        return memory.title, 0
    return _first_of_task(memory)


def _opening(recap: str) -> str:
    return next(iter(sentences(recap.partition("Next:")[0])), recap).strip()


def _first_of_task(memory: ConversationMemory) -> tuple[str, int]:
    """Return the first request after the last commit, or the first of the session."""
    committed_at = memory.commit.at if memory.commit else 0
    begun = next((request for request in memory.requests if request.at > committed_at), None)
    if committed_at and begun:
        return asked(begun.text), begun.at
    return _first_request(memory), memory.first.at if memory.first else 0


def _first_request(memory: ConversationMemory) -> str:
    """Return the first request, or the assistant's restatement if the request only names a file."""
    if memory.first is None:
        return ""
    first = asked(memory.first.text)
    if len(_MENTION.sub("", first).split()) < MIN_TOPIC_WORDS and memory.restated:
        return _understood(memory)
    return first


def _understood(memory: ConversationMemory) -> str:
    """Return the task as restated in the assistant's first sentence."""
    return capitalised(_RESTATED.sub("", memory.restated))


def describe_progress(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return now, status and outcome, and whether a turn is under way."""
    status, turn = status_of(memory), memory.turn
    now = relative_paths(_now(memory, place), place)
    in_turn = memory.prompt is not None and not (turn.ended or turn.interrupted)
    return {
        "now": now,
        "status": status,
        "outcome": now if status == "completed" else "",
        "in_turn": in_turn,
    }


def status_of(memory: ConversationMemory) -> Status:
    """Return blocked while a question is open, completed if the turn ended with nothing pending."""
    turn = memory.turn
    if memory.open_question:
        return "blocked"
    if not turn.ended or turn.interrupted or not turn.reply or memory.queued:
        return "in_progress"
    if question_in(turn.reply):
        return "blocked"
    return "in_progress" if open_tasks(memory.todo_list()) or _is_doubtful(memory) else "completed"


def _is_doubtful(memory: ConversationMemory) -> bool:
    """Return True if the closing reply says that it is not done, or answers a complaint without a check."""
    if NOT_DONE.search(_finished(memory.turn.reply)):
        return True
    prompt = memory.prompt
    if prompt is None or len(prompt.text) > MAX_COMPLAINT or not COMPLAINT.search(prompt.text):
        return False
    return not (memory.check and memory.check.passed and memory.check.at > prompt.at)


def current_step(memory: ConversationMemory, place: ProjectPlace) -> str:
    """Return the current step: the running to-do, the announced step, the pending tool call."""
    turn = memory.turn
    running = [task.subject for task in memory.todo_list() if task.status == "in_progress"]
    intent = _intent(turn.reply)
    parts = [cut(running[0], 80)] if running else []
    if intent:
        parts.append(cut(intent, 70 if parts else 120))
    if turn.doing and not (running and intent):
        parts.append(cut(relative_paths(turn.doing, place), 70))
    return capitalised("; ".join(part.rstrip(".:;") for part in parts))


def announced_step(memory: ConversationMemory) -> str:
    """Return the step that the last reply announced."""
    return _intent(memory.turn.reply).rstrip(":;")


def _now(memory: ConversationMemory, place: ProjectPlace) -> str:
    turn = memory.turn
    if memory.open_question:
        return cut(f"Waiting for an answer: {memory.open_question}", MAX_PROGRESS)
    if turn.ended and turn.reply:
        return _finished(turn.reply)
    if turn.interrupted and not turn.reply:
        return cut(f"Interrupted while working on: {_prompt(memory)}", MAX_PROGRESS)
    return _in_progress(memory, place)


def _finished(reply: str) -> str:
    """Return the report and the question of a closing reply, without its handoff blocks."""
    text = without_blocks(reply)
    question = cut(question_in(reply), QUESTION_LENGTH)
    room = MAX_PROGRESS - len(question) - 1 if question else MAX_PROGRESS
    report = _joined([sentence for sentence in _statements(text) if not sentence.endswith("?")], room)
    if not report and not question and text != reply:
        report = _of_block(reply)
    return f"{report} {question}".strip() or cut(plain(without_code(text)), MAX_PROGRESS)


def _of_block(reply: str) -> str:
    """Return what the handoff block of *reply* says was done, or is to be done."""
    block = next((found.block for found in blocks_in_markdown(reply) if found.block), None)
    if block is None:
        return ""
    done = [file.description for file in block.files_modified] + [
        file.purpose for file in block.files_created
    ]
    steps = [f"Next: {step.step}" for step in block.suggested_next_steps]
    return cut(next(filter(None, [*done, *steps]), ""), MAX_PROGRESS)


def _statements(reply: str) -> list[str]:
    """Return the first sentences of a reply that are not mere openers."""
    found: list[str] = []
    for piece, text in without_next_steps(reply):
        if not piece.is_heading:
            found += [one for one in sentences(text) if not OPENERS.match(one)]
        if len(found) > SENTENCES:
            break
    return found


def _in_progress(memory: ConversationMemory, place: ProjectPlace) -> str:
    """Return the current step and the request it belongs to."""
    step = current_step(memory, place)
    prompt = _prompt(memory)
    summary = memory.summary
    if not step and summary and summary.current and summary.at >= (memory.prompt.at if memory.prompt else 0):
        return cut_at_sentence(summary.current, MAX_PROGRESS)
    if not step:
        return cut(f"Working on: {prompt}", MAX_PROGRESS) if prompt else ""
    room = MAX_PROGRESS - len(step) - 8
    return f"{step} — for: {cut(prompt, room)}" if prompt and room > MIN_REST else step


def _intent(reply: str) -> str:
    """Return the last intention that a reply states, else its last sentence."""
    last = [plain(piece.text) for piece in pieces(reply) if not piece.is_heading][-2:]
    every = [sentence for text in last for sentence in sentences(text)]
    for sentence in reversed(every):
        if INTENT.match(sentence):
            return INTENT.sub("", sentence)
    return every[-1] if every else ""


def _prompt(memory: ConversationMemory) -> str:
    prompt = memory.prompt.text if memory.prompt else ""
    if len(prompt) > 3 and not is_consent(prompt):
        return asked(prompt)
    return asked(memory.requests[-1].text) if memory.requests else ""


def _joined(parts: list[str], size: int) -> str:
    text = ""
    for part in parts:
        longer = f"{text} {part}" if text else part
        if len(longer) > size:
            return text if size - len(text) < MIN_REST else cut(longer, size)
        text = longer
    return cut_at_sentence(text, size)
