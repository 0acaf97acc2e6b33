"""A handoff document as values: what any of the known styles says, under one set of names."""

import re
from typing import Literal, NamedTuple

SIGNAL = "HUMAN REVIEW NEEDED"
NO_PURPOSE = "(no summary)"
# What flowd writes where a section has no entry; it is none.
NOTHING = "(nothing noted)"
PURPOSE_CHARACTERS = 60
_SIGNAL = re.compile(r"human[ \t]+review[ \t]+needed(.*)", re.IGNORECASE | re.ASCII)
_REASON_CHARACTERS = 300
_ORNAMENT = " \t*_`:.-–—>|#"

Kind = Literal[
    "done",
    "next",
    "gotchas",
    "risks",
    "reflection",
    "decisions",
    "questions",
    "blockers",
    "files",
    "context",
]


class SectionItem(NamedTuple):
    """One entry of a section; ``ticked`` is None where there is no box to tick."""

    text: str
    ticked: bool | None = None


class Section(NamedTuple):
    """What stands below one heading."""

    kind: Kind
    heading: str
    text: str
    items: tuple[SectionItem, ...]


class Document(NamedTuple):
    """One handoff document, whatever its style."""

    title: str = ""
    session_id: str = ""
    purpose: str = NO_PURPOSE
    trigger: str = ""
    branch: str = ""
    commit: str = ""
    project: str = ""
    is_auto: bool = False
    sections: tuple[Section, ...] = ()
    escalations: tuple[str, ...] = ()
    ticked: int = 0
    boxes: int = 0

    def items(self, *kinds: Kind) -> list[SectionItem]:
        """Return the entries of all sections of *kinds*, in the document's order."""
        found = [item for section in self.sections if section.kind in kinds for item in section.items]
        return [item for item in found if item.text != NOTHING]

    @property
    def open_items(self) -> list[str]:
        """What the document leaves to be done."""
        return [item.text for item in self.items("next") if not item.ticked]

    @property
    def progress_percent(self) -> int:
        """How much is done: of the boxes if there are any, else of the entries; 0 when nothing says."""
        if self.boxes:
            return 100 * self.ticked // self.boxes
        done, left = len(self.items("done")), len(self.items("next"))
        return 100 * done // (done + left) if done + left else 0


def escalations_in(text: str) -> tuple[str, ...]:
    """Return the reason behind each escalation signal in *text*, in any case and anywhere."""
    return tuple(
        match[1].strip(_ORNAMENT)[:_REASON_CHARACTERS] or "no reason given"
        for match in _SIGNAL.finditer(text)
    )


def without_signal(text: str) -> str:
    """Return *text* with the signal spelt so that no ``grep`` takes it for one: flowd never raises it."""
    return _SIGNAL.sub(lambda match: f"human-review-needed{match[1]}", text)


CONTRACT_KINDS: dict[str, Kind] = {
    "done": "done",
    "next": "next",
    "gotchas": "gotchas",
    "risks": "risks",
    "reflection": "reflection",
}
_SYNONYMS: dict[Kind, str] = {
    "done": (
        "completed|complete|accomplished|accomplishments|achieved|what was accomplished|"
        "what we accomplished|what was done|what is done|what's done|what got done|what i did|"
        "what we did|what shipped|shipped|what changed|what was changed|changes|changes made|"
        "recent changes|implemented|finished|work done|work completed|tasks completed|completed tasks|"
        "completed this session|this session|current session|what was completed|what has been done|"
        "progress|verified results|what was built|what works|resolved|fixed"
    ),
    "next": (
        "next|next steps|next actions|action items|actions|pending|remaining|remaining work|to do|to-do|"
        "todo|todos|specific todos|follow-up|follow-ups|follow up|followup|followups|what's next|"
        "what is next|what's left|what is left|what remains|left to do|open threads|open items|"
        "open tasks|outstanding|still open|still to do|opportunities|not done|unfinished|in progress|"
        "immediate next|recommended next|suggested next|where to start|start here|for the next|plan|"
        "priorities|upcoming|deferred|backlog|roadmap|future work|how to continue|how to resume|"
        "to continue|what to build|final recommendation|final verdict|recommendations"
    ),
    "gotchas": (
        "gotcha|dead ends|landmines|watch out|pitfalls|traps|caveats|warnings|warning|surprises|footguns|"
        "lessons|be careful|careful|known issues|known problems|flagged|mistakes|don'ts|do not|"
        "important notes|important|things to know|hard rules|rules|constraints|critical"
    ),
    "risks": (
        "risk|open risks|concerns|unresolved|uncertain|uncertainties|assumptions|open issues|"
        "open github issues|issues|known limitations|known gaps|gaps|limitations|unexplored|"
        "what could go wrong"
    ),
    "reflection": (
        "reflections|learnings|learned|what i learned|what we learned|lessons learned|key insights|"
        "insights|findings|observations|what i'd tell myself|what worked|what failed|worked|failed|"
        "retrospective|discoveries|discovered|key learnings|session notes|for claudes to come|notes|"
        "other notes|code-verified facts"
    ),
    "decisions": "decisions|key decisions|decided|design decisions|decisions made|why|rationale|choices",
    "questions": "questions|open questions|unanswered|to clarify",
    "blockers": "blockers|blocked|blocker|blocking|waiting",
    "files": (
        "files|file map|file changes|modified files|changed files|artifacts|relevant files|key files|"
        "critical files|critical references|references|where to find|required reading"
    ),
    "context": (
        "context|goal|goals|mission|objective|purpose|summary|executive summary|executive answer|"
        "overview|background|where i am|where we are|where things stand|current state|current status|"
        "status|state|snapshot|task|tasks|task(s)|problem|problem statement|now|key context|"
        "important context|what this is|current task|current work|current focus|working memory|tl;dr|"
        "tldr|the core idea|resume prompt"
    ),
}
# Some headings begin with a name of their own and end with what they announce.
_ENDINGS: dict[str, Kind] = {
    "next steps": "next",
    "roadmap": "next",
    "todos": "next",
    "gotchas": "gotchas",
    "known issues": "gotchas",
    "decisions": "decisions",
    "open questions": "questions",
    "blockers": "blockers",
}
_BY_NAME: dict[str, Kind] = {name: kind for kind, names in _SYNONYMS.items() for name in names.split("|")}
_NAME = re.compile(f"(?:{'|'.join(map(re.escape, sorted(_BY_NAME, key=len, reverse=True)))})(?![^\\W_])")
_LEAD = re.compile(r"^(?:[\W_]|\d+(?:\.\d+)*(?=[.)\s:])|(?:part|step|section) \d+\b)+", re.IGNORECASE)


def kind_of(heading: str) -> Kind | None:
    """Return what *heading* announces, or None when it is a name of its own."""
    name = _LEAD.sub("", heading).casefold().replace("’", "'")
    if match := _NAME.match(name):
        return _BY_NAME[match[0]]
    begins = (kind for known, kind in CONTRACT_KINDS.items() if name.startswith(known))
    ends = (kind for known, kind in _ENDINGS.items() if name.rstrip(" :.").endswith(f" {known}"))
    return next(begins, None) or next(ends, None)


def is_contract_heading(heading: str) -> bool:
    """Say whether *heading* is one of the contract's own, which stands for itself wherever it is."""
    return _LEAD.sub("", heading).startswith(tuple(name.capitalize() for name in CONTRACT_KINDS))
