"""The cues of freeform notes: what a heading, a label or a sentence says its words are."""

import enum
import re
from typing import NamedTuple


class Topic(enum.Enum):
    """What a passage is about, in terms of a block's fields."""

    NONE = "none"
    DONE = "done"
    NEXT = "next"
    GOTCHA = "gotcha"
    BLOCKER = "blocker"
    QUESTION = "question"
    PATTERN = "pattern"
    FILES = "files"
    CREATED = "created"
    READING = "reading"
    ASIDE = "aside"


class Labelled(NamedTuple):
    """What a label says, and the text without it."""

    topic: Topic
    text: str


Cues = dict[Topic, re.Pattern[str]]


def _cues(table: dict[Topic, str]) -> Cues:
    # Verbose: spaces only lay the alternatives out; "~" stands for a space that counts.
    return {
        topic: re.compile(words.replace("~", "[ ]"), re.IGNORECASE | re.VERBOSE)
        for topic, words in table.items()
    }


# Tried in order, so that "Known issues and next steps" is about issues and "Open questions" asks.
_HEADINGS = _cues(
    {
        Topic.QUESTION: r"""questions?\b | unclear | uncertain | unexplored | open~threads | unknowns
            | needs?~verification""",
        Topic.BLOCKER: r"\bblock(?:er|ers|ed)\b | waiting~(?:on|for)",
        Topic.GOTCHA: r"""gotchas? | watch[ -]?out | be~careful | known~(?:issues?|gaps?|problems?|bugs?)
            | open~issues? | risks?\b | pitfalls? | caveats? | warnings? | footguns? | mistakes | don'?ts\b
            | what~(?:didn'?t|failed) | failed~(?:approaches|attempts) | ^failed$""",
        Topic.READING: r"""required~reading | references | relevant~files | key~files | where~to~find
            | artifacts | read~first""",
        Topic.CREATED: r"files?~(?:created|added) | (?:created|new)~files? | ^created$",
        Topic.FILES: r"""files?~(?:changed|modified|touched|edited) | ^files$ | (?:changed|modified)~files?
            | what~(?:changed|shipped) | recent~changes | changes~made | ^modified$""",
        Topic.NEXT: r"""\bnext\b(?!~(?:claude|agent|session|developer|one)\b) | action~items | pending
            | remaining | to-?dos?\b | follow-?ups? | what'?s~left | opportunities | outstanding | still~to~do
            | what~to~build | start~here | where~to~start | priority~order""",
        Topic.PATTERN: r"""patterns?\b | conventions? | decisions?\b | decided | learnings | lessons
            | insights | findings | principles? | hard~rules | (?:verified|key)~facts
            | what~(?:i'd~tell|worked)
            | ^worked$""",
        Topic.DONE: r"""\bdone\b | completed? | accomplish | shipped | finished | progress | what~(?:was|we)~
            | (?:current|this)~session
            | implemented""",
        Topic.ASIDE: r"""how~to | commands | verif(?:y|ication) | valid(?:ate|ation) | environment | setup
            | workflow | history | editing~rules | metadata | snapshot | status | tests?\b | context
            | background | summary | goal | mission | why\b | overview""",
    }
)
_LABELS = _cues(
    {
        Topic.QUESTION: r"""unclear | (?:open~)?questions? | needs?~verification | unexplored | consider
            | might~matter""",
        Topic.GOTCHA: r"""gotcha | warning | caveat | (?:be~)?careful | watch~out | risk | critical
            | known~issue | don'?t~bother~with""",
        Topic.PATTERN: r"pattern | decision | decided | convention | rule | assumption | lesson | learning",
        Topic.BLOCKER: r"blocker | blocked(?:~by|~on)?",
        Topic.NEXT: r"next(?:~steps?)? | to-?do | start~by | follow-?up | recommendation",
    }
)
_SENTENCES = _cues(
    {
        Topic.QUESTION: r"^question\b | \bunclear\b",
        Topic.GOTCHA: r"\bwatch~out\b | \bbe~careful\b | \bbeware\b | \bgotcha\b",
        Topic.PATTERN: r"\bpattern: | \balways~use\b | \bnever~use\b",
        Topic.NEXT: r"""^(?:next|then)\b[^?]*$
            | \b(?:next~(?:agent|session|step)|someone|you|we)~should\b[^?]*$""",
    }
)
_LABEL_START = re.compile(r"\*\*([^*:]{3,40}):?\*\*:?\s|([A-Z][A-Z ]{2,30}):\s")
_NUMBERING = re.compile(r"^[\d.]+\s+|^[^\w(]+")


def topic_of_heading(title: str) -> Topic:
    """Return what a section called *title* is about."""
    return _first(_HEADINGS, _NUMBERING.sub("", title).replace("_", " "))


def label_of(text: str) -> Labelled | None:
    """Return the topic that a label at the start of *text* says, as in ``**UNCLEAR:** ...``, and the rest."""
    match = _LABEL_START.match(text)
    topic = _first(_LABELS, match[1] or match[2], whole=True) if match else Topic.NONE
    if match is None or topic is Topic.NONE:
        return None
    # "Start by: reading x" is a sentence with its label and none without.
    is_part = (match[1] or match[2]).casefold().startswith(("start", "don", "blocked"))
    return Labelled(topic, text.replace("**", "", 2) if is_part else text[match.end() :])


def topic_of_sentence(sentence: str) -> Topic:
    """Return what *sentence* is about by the specification's cues."""
    return _first(_SENTENCES, sentence)


def _first(cues: Cues, text: str, *, whole: bool = False) -> Topic:
    for topic, pattern in cues.items():
        if pattern.fullmatch(text.strip()) if whole else pattern.search(text):
            return topic
    return Topic.NONE
