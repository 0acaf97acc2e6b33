"""The vocabulary of headings: the kind of section that each heading of a handoff, notes or YAML starts."""

import re
from typing import Literal

HeadingKind = Literal[
    "done",
    "changes",
    "next",
    "advice",
    "gotchas",
    "risks",
    "failures",
    "reflection",
    "decisions",
    "rationale",
    "rules",
    "patterns",
    "questions",
    "blockers",
    "files",
    "created",
    "reading",
    "context",
    "reference",
]

MAX_CHARACTERS = 200

# The headings of the handoff contract; each also begins longer ones ("Next Claude: start here").
CONTRACT: dict[str, HeadingKind] = {
    "done": "done",
    "next": "next",
    "gotchas": "gotchas",
    "risks": "risks",
    "reflection": "reflection",
}
# A heading that begins with one of these announces that kind; the longest one counts.
_SYNONYMS: dict[HeadingKind, str] = {
    "done": (
        "completed|complete|accomplished|accomplishments|achieved|what was accomplished|"
        "what we accomplished|what was done|what is done|what's done|what got done|what i did|"
        "what we did|what we implemented|implemented|finished|work done|work completed|tasks completed|"
        "completed tasks|"
        "completed this session|this session|current session|what was completed|what has been done|"
        "progress|verified results|what was built|what works|resolved|fixed"
    ),
    "changes": "what shipped|shipped|what changed|what was changed|changes|changes made|recent changes",
    "next": (
        "next|what to do next|what's still|what is still|still needed|still missing|still to|things left|"
        "things to do|where to go|next steps|next actions|action items|actions|pending|remaining|"
        "remaining work|to do|to-do|"
        "todo|todos|specific todos|follow-up|follow-ups|follow up|followup|followups|what's next|"
        "what is next|what's left|what is left|what remains|left to do|open threads|open items|"
        "open tasks|outstanding|still open|still to do|opportunities|not done|unfinished|in progress|"
        "immediate next|recommended next|suggested next|where to start|start here|plan|"
        "priorities|priority order|upcoming|deferred|backlog|roadmap|future work|how to continue|"
        "how to resume|to continue|what to build|final recommendation|final verdict|recommendations"
    ),
    "advice": "for the next",
    "gotchas": (
        "gotcha|dead ends|landmines|watch out|pitfalls|traps|caveats|warnings|warning|surprises|footguns|"
        "lessons|be careful|careful|known issues|known problems|known bugs|flagged|mistakes|don'ts|do not|"
        "important notes|important|things to know|critical"
    ),
    "risks": (
        "risk|open risks|concerns|unresolved|assumptions|open issues|open github issues|issues|"
        "known limitations|known gaps|gaps|limitations|what could go wrong"
    ),
    "failures": "what didn't|what failed|failed|failed approaches|failed attempts",
    "reflection": (
        "reflections|learnings|learned|what i learned|what we learned|lessons learned|key insights|"
        "insights|findings|observations|what i'd tell myself|what i'd tell|what worked|"
        "worked|retrospective|discoveries|discovered|key learnings|session notes|"
        "for claudes to come|notes|other notes|code-verified facts|verified facts|key facts"
    ),
    "decisions": "decisions|key decisions|decided|design decisions|decisions made|choices",
    "rationale": "why|rationale",
    "rules": "hard rules|rules|constraints",
    "patterns": "patterns|pattern|conventions|convention|principles|principle",
    "questions": (
        "questions|open decisions|undecided|pending decisions|decisions needed|decisions to make|"
        "decisions pending|open questions|unanswered|to clarify|unclear|uncertain|uncertainties|unexplored|"
        "unknowns|"
        "needs verification|need verification|assumptions & uncertainties|assumptions and uncertainties"
    ),
    "blockers": "blockers|blocked|blocker|blocking|waiting",
    "files": (
        "files|file map|file changes|files changed|files modified|files touched|files edited|"
        "modified files|changed files|modified"
    ),
    "created": "files created|files added|created files|new files|created",
    "reading": (
        "artifacts|relevant files|key files|critical files|critical references|references|where to find|"
        "required reading|read first|dependencies for next"
    ),
    "context": (
        "context|goal|goals|mission|objective|purpose|summary|executive summary|executive answer|"
        "overview|background|where i am|where we are|where things stand|current state|current status|"
        "status|state|snapshot|task|tasks|task(s)|problem|problem statement|now|key context|"
        "important context|what this is|current task|current work|current focus|working memory|tl;dr|"
        "tldr|the core idea|resume prompt"
    ),
    "reference": (
        "how to|commands|quick verification|verification|verify|validation|validate|environment|setup|"
        "workflow|history|editing rules|metadata|test|tests|testing|run|build"
    ),
}
# Some headings begin with a name of their own and end with what they announce.
_ENDINGS: dict[str, HeadingKind] = {
    "complete": "done",
    "completed": "done",
    "implemented": "done",
    "next steps": "next",
    "roadmap": "next",
    "priority order": "next",
    "todos": "next",
    "gotchas": "gotchas",
    "known issues": "gotchas",
    "decisions": "decisions",
    "open questions": "questions",
    "blockers": "blockers",
    "pattern": "patterns",
    "patterns": "patterns",
    "principle": "patterns",
    "conventions": "patterns",
    "status": "reference",
    "context": "reference",
    "history": "reference",
    "commands": "reference",
    "workflow": "reference",
    "tests": "reference",
}
_BY_NAME: dict[str, HeadingKind] = {
    name: kind for kind, names in _SYNONYMS.items() for name in names.split("|")
}
_NAME = re.compile(f"(?:{'|'.join(map(re.escape, sorted(_BY_NAME, key=len, reverse=True)))})(?![^\\W_])")
_TRAILING = re.compile(r"[\W_]+$")
_LEAD = re.compile(r"^(?:[\W_]|\d+(?:\.\d+)*(?=[.)\s:])|(?:part|step|section) \d+\b)+", re.IGNORECASE)


def kind_of_heading(heading: str) -> HeadingKind | None:
    """Return the kind of section that *heading* starts, None if it is unknown."""
    name = _LEAD.sub("", heading[:MAX_CHARACTERS]).casefold().replace("’", "'").replace("_", " ")
    if match := _NAME.match(name):
        return _BY_NAME[match[0]]
    begins = (kind for known, kind in CONTRACT.items() if name.startswith(known))
    whole = _TRAILING.sub("", name)
    ends = (kind for known, kind in _ENDINGS.items() if whole.endswith(f" {known}"))
    return next(begins, None) or next(ends, None)


def is_contract_heading(heading: str) -> bool:
    """Return True if *heading* is one of the contract's own, which counts wherever it is."""
    return _LEAD.sub("", heading).startswith(tuple(name.capitalize() for name in CONTRACT))
