"""The candidate lines of a digest: what a session did, decided and learned, as whole sentences."""

import re
from typing import Literal

from flowd.extractors.text import cut_at_sentence, sentences
from flowd.extractors.work.likeness import says_little
from flowd.model.session import ASKED, CommitMade, TurnSummary
from flowd.model.work import Contribution

Heading = Literal["asked", "done", "decided", "learned"]

RESULT_LENGTH = 300
LINE_LENGTH = 420
REQUEST_LENGTH = 150
ASKED_LENGTH = 220
MIN_LENGTH = 25

# What an assistant says it is going to do, or thinks while it does it, is over when it is read.
_INTENTION = re.compile(
    r"^(?:\w+[,.:;—-]+\s*){0,2}(?:(?:now|so|but|and|first|next|then|also|actually|before)\s+)*"
    r"(?:let me\b|let's\b|i(?:'ll|'d|'m going| am going| will| need| should| could| can| must| want| have"
    r"| might| think| see| notice| understand)\b|looking at\b|based on my\b)"
    r"|\b(?:let me|i'll|i will|i need to|i should|i want to|i have to|i'm going to|want me to)\b"
    r"|^(?:step \d+\b|if you\b|now (?:fix|add|update|run|check|remove|make|write)\b)"
    r"|^(?:\w+ (?:issues?|things?|problems?|errors?) (?:to fix|left|remain)\w*)"
    r"|\bdiagnostics?\b(?=.* (?:show|are|is|will)\b)"
    r"|^(?:sounds like|happy to|good luck|glad|you're welcome|feel free|hmm|wait|oops)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"\b(?:decid\w+|decision|chos\w+|opted|instead of|rather than|in favou?r of|per your|as requested"
    r"|deliberate\w*|intentional\w*|for now|ke(?:ep|eps|pt|eping)|skip\w*|avoid\w*|stays?|simplest"
    r"|cleanest|recommend\w*|defer\w*|out of scope|on purpose|won't|prefer\w*)\b",
    re.IGNORECASE,
)
# A sentence that begins with a deed, also after the name of a file.
_DEED = re.compile(r"^\W*+(?:[\w./-]++(?::| —| -) )?(?:[A-Z]\w+ed|Built|Wrote|Made|Rewrote|Split)\b")
# A sentence that speaks of what was said before it.
_DANGLING = re.compile(
    r"^(?:however|then|but|and|so|it|this|that|these|those|they|since that)\b", re.IGNORECASE
)
# Words with which a person sets a rule, in the imperative.
_RULE = re.compile(
    r"(?:^|[.,;:!?(-]\s*|\b(?:please|and|but|so|just|also|then|or)\s+)"
    r"(?:don't|do not|never|always|only|stop|avoid|use|keep|prefer|make sure|no need)\s+\w"
    r"|\b(?:must(?:n't| not)?|should(?:n't| not)|not yet|from now on|instead of|rather than)\b",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"^(?:thanks?|thank you|thx|great|nice|cool|perfect|awesome|ok(?:ay)?|good|hi|hello|hey|yes|no|sure|lgtm"
    r"|well done|sounds good|got it)\b[^.?\n]{0,25}[.!]*$",
    re.IGNORECASE,
)


def lines_of(given: Contribution) -> list[tuple[Heading, str]]:
    """Return what the session of *given* did, decided and learned, each under its heading."""
    lines: list[tuple[Heading, str]] = [("done", text) for text in _history(given)]
    for text in given.decisions:
        lines += _asked(text) if text.startswith(ASKED) else _finding(text)
    for text in given.learnings:
        lines += _finding(text)
    return lines


def decisions_of(given: Contribution) -> tuple[str, ...]:
    """Return the decisions of a session."""
    return tuple(text for heading, text in lines_of(given) if heading == "decided")


def learnings_of(given: Contribution) -> tuple[str, ...]:
    """Return what a session learned."""
    return tuple(text for heading, text in lines_of(given) if heading == "learned")


def as_report(text: str) -> str:
    """Return the sentences of *text* that state something, without intentions; empty if too few are left."""
    stated = [one for one in sentences(text) if not _INTENTION.search(one) and not one.endswith(("…", "?"))]
    kept = " ".join(stated)
    return kept if len(kept) >= MIN_LENGTH else ""


def _finding(text: str) -> list[tuple[Heading, str]]:
    """Return a finding under the heading that its words ask for."""
    if text.startswith("Committed"):  # the commit has a line of its own
        return []
    if "The user " in text:
        return [("decided", text)] if not text.endswith("…") else []
    text = as_report(text)
    if not text or _DANGLING.match(text):
        return []
    if _DEED.match(text):
        return [("done", text)]
    return [("decided" if _CHOICE.search(text) else "learned", text)]


def _asked(text: str) -> list[tuple[Heading, str]]:
    """Return a request that sets a rule, as a person's words; any other has its line in the history."""
    words = cut_at_sentence(text.removeprefix(ASKED), ASKED_LENGTH)
    return [("asked", words)] if _RULE.search(words) and not words.endswith(("…", "?")) else []


def _history(given: Contribution) -> list[str]:
    """Return one line for each turn, one for each commit, one for the tasks and one for the plan."""
    found = given.evidence
    lines = [_turn(turn) for turn in found.turns]
    lines += [_commit(one) for one in found.commits]
    if found.tasks_done:
        lines.append("Tasks done: " + "; ".join(found.tasks_done))
    if found.outline:
        lines.append(f"Plan {found.plan}: " + "; ".join(found.outline))
    return [cut_at_sentence(line, LINE_LENGTH) for line in lines if line]


def _turn(turn: TurnSummary) -> str:
    """Return what was asked and what came of it; nothing for small talk."""
    asked = cut_at_sentence(turn.request, REQUEST_LENGTH).rstrip(".:?! ")
    came = as_report(cut_at_sentence(turn.result, RESULT_LENGTH))
    if _SMALL_TALK.match(turn.request) or says_little(asked):
        return came
    return f"{asked}: {came}" if came else asked


def _commit(made: CommitMade) -> str:
    name = f"Committed {made.hash}".rstrip()
    return f"{name}: {made.subject.rstrip('.')}. {made.about}".strip()
