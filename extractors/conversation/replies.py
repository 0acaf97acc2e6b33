"""Parse replies: the steps they name, the steps they report as done, and their result."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from flowd.extractors.text import Piece, cut, pieces, plain, sentences

# The verbs that steps begin with.
VERBS = frozenset(
    "add address adjust allow annotate apply ask assess audit avoid backfill benchmark build bump cache "
    "centralize change check choose clarify clean clear close collect combine commit compare complete "
    "confirm configure consider consolidate continue convert copy correct cover create cut debug decide "
    "declare define delete deny deploy deprecate design disable discuss document draft drop enable ensure "
    "evaluate exclude expand explain explore export expose extend extract fetch finalize find finish fix "
    "follow format generate get grant guard handle hide hook implement import improve include increase "
    "inline inspect install integrate introduce investigate keep leave limit link lint load log make mark "
    "measure mention merge migrate mock monitor move normalize notify open optimize parse pass persist "
    "pick pin plan point port prepare prevent print profile protect prototype provide publish pull push "
    "put rebase recheck redo reduce refactor register reject release remove rename render reorder replace "
    "reply report reproduce rerun re-run resolve respond restart restore restrict retest retry return "
    "reuse revert review revisit rewrite rotate run save scan schedule seed send set share ship show "
    "simplify skip sort split squash stage start stop store stub support switch sync tag test tidy "
    "tighten track triage trigger trim try tune turn type undo unify update upgrade upload use validate "
    "verify wait watch wire wrap write".split()
)
_FIRST_WORD = re.compile(
    r"^(?:\([^)]{1,20}\)\s*|(?:also|then|and|first|finally|please|optionally)[,:]?\s+)*([\w-]+)", re.I
)
LENGTH = 200
MIN_LENGTH = 6
MAX_LEAD_WORDS = 12

# What a list is: what comes next, what a review advises, or how something is going to be done.
Kind = Literal["next", "advice", "plan"]

_NEXT = re.compile(
    r"\b(?:next steps?|next up|what(?:'s| is| remains)? (?:left|next|missing)|to-?dos?|follow[- ]?ups?"
    r"|still (?:to do|open|needed|missing|left)|action items|left to do|not (?:yet )?done|unfinished"
    r"|(?:open|remaining|pending|outstanding|deferred) (?:items|points|tasks|issues|steps|work|todos))\b",
    re.IGNORECASE,
)
# Alone in a short heading they announce a list; in a sentence they are ambiguous.
_NEXT_WORD = re.compile(r"\b(?:remaining|pending|outstanding|deferred)\b", re.IGNORECASE)
MAX_HEADING_WORDS = 4
_ADVICE = re.compile(
    r"\b(?:recommendations?|recommended (?:actions?|changes|fixes|next)|suggested (?:actions?|changes"
    r"|fixes|next)"
    r"|(?:must|should|to) (?:fix|address)|required changes|before merging)\b",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"^\W*(?:(?:the|my|proposed|implementation|here(?:'s| is) (?:the|my)) )*"
    r"(?:plan|steps|roadmap|order of work|approach)(?: of attack)?\b"
    r"|\b(?:need|have) to do (?:the following|these|this)|\bin (?:two|three|four|five|\d) steps\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:done|completed?|finished|what(?:'s| is) good|positive|highlights|passed|verdict|summary of|changes"
    r"|results?|sources?|verified|verification|files (?:changed|modified))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"^(?:next(?: steps?| up)?\b(?: when ready)?\s*[:,]|what(?:'s| is) left(?: is| to do)?\s*:?|remaining\s*:"
    r"|todo\s*:|still (?:to do|open|left|missing)\s*:|left to do\s*:"
    r"|you(?:'ll| will)? still need to\b)\s*(?=\S)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s")
_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[( |x|X)\]\s+")
_CLOSED_ITEM = re.compile(r"^\W*(?:✅|✓|✔|☑|~~|\[x\]|done\b|fixed\b|n/a\b|none\b)", re.IGNORECASE)
# "Only session.jsonl is required": a fact among the steps.
_STATEMENT = re.compile(
    r"^(?:[\w.`'\"()/-]+ ){1,5}(?:is|are|was|were|has been|have been|works?|passes)\b(?! (?:not|un))"
)
# One of these is in every reply that names a step. Plain substrings are four times faster than one expression
# (benchmark row: extraction adds).
_CUES = (
    "next step", "what's left", "what is left", "what remains", "remaining", "to-do", "todo", "to do",
    "follow-up", "follow up", "followup", "action items", "pending", "still ", "outstanding", "unfinished",
    "deferred", "recommend", "suggested", "should ", "before merging", "open ", "[ ]", "plan", "steps",
)  # fmt: skip

MAX_CHARACTERS = 260
MAX_STATEMENTS = 24

_DONE = re.compile(
    r"^\W*(?:[A-Z]\w+ed|Built|Wrote|Made|Rewrote|Split|Done|Now)\b"
    r"|\b(?:done|completed?|finished|fixed|implemented|added|removed|renamed|updated|replaced|merged|pushed|committed"
    r"|resolved|closed|created|landed|shipped|rewritten|written|in place|no longer|moved|extracted"
    r"|now (?:\w+s|have|are|reads|in)\b|tests? pass\w*|passes|passing|squashed)\b|✅|✓",
)
_NOT_DONE = re.compile(
    r"\b(?:not (?:yet|done|committed|pushed)|still|isn't|aren't|haven't|hasn't|wasn't|remaining|pending|to do"
    r"|should|would|could|needs? to|will|want me|if you|once you|before you|failed|fails)\b",
    re.IGNORECASE,
)
MAX_SENTENCES = 14
MIN_REST = 40

_OPENER = re.compile(
    r"^(?:all (?:\w+ )?(?:tests?|checks?|green|pass\w*|done|good)\b|tests? (?:and \w+ )?pass"
    r"|here(?:'s| is| are)"
    r"|summary\b|sources?\b|would you like|want me to|let me know|shall i|should i"
    r"|(?:great|perfect|excellent|done|good|nice|got it|sure|yes|no problem|absolutely|acknowledged"
    r"|okay|ok|fixed)"
    r"\b[^.!]{0,25}[.!]|you're (?:absolutely )?right)",
    re.IGNORECASE,
)


def is_imperative(text: str) -> bool:
    """Return True if *text* begins with a verb that asks for something to be done."""
    found = _FIRST_WORD.match(text)
    return found is not None and found.group(1).lower() in VERBS


class NamedStep(NamedTuple):
    """A step as a reply names it, and the kind of list it is in."""

    text: str
    kind: Kind


def listed(reply: str) -> list[str]:
    """Return the texts of the steps that *reply* names as next."""
    return [step.text for step in named_steps(reply) if step.kind == "next"]


def named_steps(reply: str) -> list[NamedStep]:
    """Return the steps that *reply* lists under a heading, marks as open, or names in sentences."""
    lowered = reply.lower()
    if not ("Next" in reply or any(cue in lowered for cue in _CUES)):
        return []
    section = _Section()
    steps: list[NamedStep] = []
    for piece in pieces(reply):
        text = plain(piece.text)
        if section.opens(piece, text):
            continue
        if (kind := section.kind_of(piece)) is not None:
            if kind == "next" or is_imperative(text):  # advice and plans give reasons among their steps
                steps.append(NamedStep(cut(text, LENGTH), kind))
        elif not piece.is_item:
            steps += [
                NamedStep(cut(_SENTENCE.sub("", one), LENGTH), "next")
                for one in sentences(text)
                if _SENTENCE.match(one)
            ]
    return [step for step in steps if _is_step(step.text)]


class _Section:
    """The current heading, and the lead sentence below it."""

    def __init__(self) -> None:
        self._heading: Kind | None = None
        self._lead: Kind | None = None
        self._in_lead = False

    def opens(self, piece: Piece, text: str) -> bool:
        """Take a heading or a line that leads into a list; return True if *piece* is one."""
        if piece.is_heading:
            self._heading, self._lead, self._in_lead = kind_of_heading(text), None, False
            return True
        if not text.endswith(":") or len(text.split()) > MAX_LEAD_WORDS:
            return False
        self._lead, self._in_lead = kind_of_heading(text), True
        if self._lead is None and self._heading is not None and not _OVER.search(text):
            self._lead = self._heading  # a group within the section, such as "P2 - Important:"
        return True

    def kind_of(self, piece: Piece) -> Kind | None:
        """Return the kind of list that *piece* is an item of, None if of none."""
        box = _BOX.match(piece.text)
        if box:
            return "next" if box.group(1) == " " else None
        if _CLOSED_ITEM.match(piece.text.lstrip("-*+ ")):
            return None
        if not piece.is_item or not _BULLET.match(piece.text):  # a paragraph, or a row of a table
            self._in_lead = self._in_lead and piece.is_item
            return None
        return self._lead if self._in_lead else self._heading


def kind_of_heading(text: str) -> Kind | None:
    """Return the kind of list that a heading announces, None when it announces none."""
    if _NEXT.search(text) or (_NEXT_WORD.search(text) and len(text.split()) <= MAX_HEADING_WORDS):
        return "next"
    if _ADVICE.search(text):
        return "advice"
    return "plan" if _PLAN.search(text) and not _OVER.search(text) else None


def _is_step(text: str) -> bool:
    """Return True if *text* names something to do, rather than a state."""
    return len(text) > MIN_LENGTH and not text.endswith(("?", ":")) and not _STATEMENT.match(text)


def done_statements(reply: str) -> list[str]:
    """Return the sentences and list items of *reply* that report something as done."""
    found: list[str] = []
    for piece in pieces(reply):
        if piece.is_heading:
            continue
        text = plain(piece.text)
        found += [cut(one, MAX_CHARACTERS) for one in sentences(text) if reports_done(one)]
        if len(found) >= MAX_STATEMENTS:
            break
    return found[:MAX_STATEMENTS]


def reports_done(sentence: str) -> bool:
    """Return True if *sentence* reports something as done."""
    return _DONE.search(sentence) is not None and not _NOT_DONE.search(sentence) and sentence[-1:] != "?"


def result_of(reply: str, size: int) -> str:
    """Return the sentences of *reply* that report something, as many as fit into *size* characters."""
    text = ""
    for sentence in _reported(reply):
        longer = f"{text} {sentence}" if text else sentence
        if len(longer) > size:
            return text if size - len(text) < MIN_REST or text else cut(longer, size)
        text = longer
    return text


def without_next_steps(reply: str) -> Iterator[tuple[Piece, str]]:
    """Yield the pieces of *reply* and their plain texts, but for lists of what comes next: it is not done."""
    section = _Section()
    for piece in pieces(reply):
        text = plain(piece.text)
        opens = section.opens(piece, text)
        kind = kind_of_heading(text) if opens else section.kind_of(piece)
        if piece.is_heading or kind != "next":
            yield piece, text


def _reported(reply: str) -> list[str]:
    found: list[str] = []
    lead = ""
    for piece, text in without_next_steps(reply):
        if piece.is_heading:
            lead = ""
            continue
        if lead and piece.is_item:
            text = f"{lead} {text}"
        lead = ""
        if text.endswith(":"):  # it is only whole with the item that follows; code is left out
            *before, lead = sentences(text)
            text = " ".join(before)
            lead = "" if _OPENER.match(lead) else lead
        found += [one for one in sentences(_as_sentence(text)) if one and not _OPENER.match(one)]
        if len(found) > MAX_SENTENCES:
            break
    return [one for one in found if not one.endswith("?")]


def _as_sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?", "…")) else text + "."
