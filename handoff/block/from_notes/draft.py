"""A draft of a block: passages of notes go in, each into the field of its topic."""

import re
from typing import Any

from flowd.handoff.block.from_notes.passages import NotePassage, Topic, topic_of_sentence
from flowd.handoff.block.from_notes.words import (
    Mentioned,
    level_of,
    mentioned_paths,
    plain,
    point_of,
    says_nothing,
    sentences,
    shorten,
)
from flowd.model.block import (
    Blocker,
    CreatedFile,
    Dependency,
    Gotcha,
    HandoffBlock,
    ModifiedFile,
    NextStep,
    OpenQuestion,
    Outcome,
    Pattern,
    meaning,
    stable_id,
)

MAX_OF_A_KIND = 40
MIN_UNPLACED = 60

# "Added a test to x.py" changes x.py; "added x.py" and a bare NEW make it.
_CREATED = re.compile(
    r"\bNEW\b|\(new\b|\bnew (?:file|module)|\b(?:[Cc]reated|[Ww]rote|[Bb]uilt)\b|\b[Aa]dded[ `*]+$"
)
_DELETED = re.compile(r"\bDELETED\b|\b(?:[Dd]eleted|[Rr]emoved)[ `*]+$")
_REFACTORED = re.compile(r"\brefactor|\brewr[io]t|\bsplit\b|\brenamed?\b", re.IGNORECASE)
_LOOSE_ENDS = frozenset("at in to from and on of for NEW MODIFIED DELETED".split())
_CHANGE_FIRST = re.compile(r"(?:NEW|MODIFIED|DELETED)\b\s*")
_DONE_VERBS = (
    r"\b(created|wrote|built|added|modified|changed|updated|edited|extended|refactored|renamed|rewrote|fixed|deleted"
    r"|removed)\b"
)
_DONE_VERB = re.compile(_DONE_VERBS, re.IGNORECASE)
_DONE_TO_FILE = re.compile(_DONE_VERBS + r"(?=[^.!?]{0,300}+(?<=[\w-])\.\w)", re.IGNORECASE)
_LINES_NAMED = re.compile(r"\W{0,3}lines? (\d+)(?:\s*[-–]\s*(\d+))?", re.IGNORECASE)
_LINES = re.compile(r"^:\d+(?:-\d+)?")
_TWO = 2
_ENDS_OPEN = (":", "：")


class BlockDraft:
    """What was found for each field, without duplicates, and the passages that fit no field."""

    def __init__(self) -> None:
        self.unplaced: list[str] = []
        self._fields: dict[str, dict[str, Any]] = {}

    def __getitem__(self, field: str) -> list[Any]:
        return list(self._fields.get(field, {}).values())

    def take(self, passage: NotePassage) -> None:
        """Add *passage* to the field of its check box, its topic or its words."""
        topic = {" ": Topic.NEXT, "x": Topic.DONE, "X": Topic.DONE}.get(passage.box, passage.topic)
        if says_nothing(passage.text):
            return
        if topic in (Topic.FILES, Topic.CREATED) or (topic is Topic.DONE and not passage.is_code):
            self.add_files(passage.text, created=topic is Topic.CREATED)
        elif passage.is_code:
            return
        elif topic is Topic.READING:
            self.add_reading(passage.text)
        elif topic in (Topic.NONE, Topic.ASIDE):
            self._take_by_cues(passage, topic)
        else:
            self._take_as(topic, passage)

    def add_files(self, text: str, *, created: bool = False) -> None:
        """Add the files that *text* mentions as modified, or as created if *created* or *text* says so."""
        for mentioned in mentioned_paths(text):
            self._add_file(mentioned, _around(text, mentioned.path), created=created)

    def add_reading(self, text: str, *, bare_names: bool = True) -> None:
        """Add the files that *text* mentions as worth reading, with or without those that name no folder."""
        for mentioned in mentioned_paths(text):
            if not bare_names and "/" not in mentioned.path:
                continue
            before, _, after = text.partition(mentioned.path)
            reason = plain(before + _LINES.sub("", after)).lstrip(" -—–:|.,;()")
            self._add(
                "dependencies_for_next",
                mentioned.path,
                Dependency(file=mentioned.path, reason=shorten(reason)),
            )

    def add_pattern(self, text: str) -> None:
        """Add *text* as a pattern, with the first path it mentions as its location."""
        main = point_of(text).main
        paths = mentioned_paths(text)
        pattern = Pattern(
            id=stable_id("pattern", main), pattern=main, location=paths[0].path if paths else ""
        )
        self._add("patterns_discovered", main, pattern)

    def add_gotcha(self, text: str, cells: tuple[str, ...] = ()) -> None:
        """Add *text* as a gotcha; what follows its point, or its first cell, is how to handle it."""
        main, rest = (plain(cells[0]), plain(cells[-1])) if len(cells) > 1 else point_of(text)
        level: Any = level_of(text)
        gotcha = Gotcha(id=stable_id("gotcha", main), issue=main, mitigation=rest, severity=level)
        self._add("gotchas", main, gotcha)

    def add_question(self, text: str) -> None:
        """Add *text* as an open question."""
        main, rest = point_of(text)
        self._add("open_questions", main, OpenQuestion(question=main, context=rest))

    def add_step(self, text: str) -> None:
        """Add *text* as a next step with the files it names."""
        step = shorten(plain(text))
        level: Any = level_of(text)
        needs = tuple(mentioned.path for mentioned in mentioned_paths(text))
        self._add("suggested_next_steps", step, NextStep(step=step, priority=level, depends_on=needs))

    def add_blocker(self, text: str) -> None:
        """Add *text* as a blocker."""
        main, rest = point_of(text)
        self._add("blockers", main, Blocker(blocker=main, suggested_resolution=rest))

    def block(self, outcome: Outcome) -> HandoffBlock:
        """Return the block with what was found."""
        found = {field: tuple(self[field]) for field in self._fields}
        return HandoffBlock(outcome=outcome, **{field: items for field, items in found.items() if items})

    def _take_as(self, topic: Topic, passage: NotePassage) -> None:
        text = passage.text
        if plain(text).endswith(_ENDS_OPEN):
            return
        if not passage.is_item and not text.startswith("**") and not text.rstrip("*").endswith("?"):
            self.unplaced.append(text)  # prose around a list, or instead of one: an agent decides
        elif topic is Topic.GOTCHA:
            self.add_gotcha(text, passage.cells)
        elif topic is Topic.PATTERN and len(passage.cells) > _TWO:
            self.unplaced.append(text)  # a table that compares, not a list of what holds
        elif topic is Topic.PATTERN and len(passage.cells) == _TWO:
            self.add_pattern(f"{passage.cells[0]} ({passage.cells[1]})")
        else:
            _ADD[topic](self, text)

    def _take_by_cues(self, passage: NotePassage, topic: Topic) -> None:
        placed = False
        for sentence in sentences(passage.text):
            cue = topic_of_sentence(plain(sentence))
            if cue is not Topic.NONE and not plain(sentence).endswith(_ENDS_OPEN):
                _ADD[cue](self, sentence)
                placed = True
        if topic is Topic.NONE and not placed:
            if _DONE_TO_FILE.search(plain(passage.text)):
                self._add_done(passage.text)
                return
            self.add_reading(passage.text, bare_names=False)
            if len(passage.text) >= MIN_UNPLACED and not passage.cells:
                self.unplaced.append(passage.text)

    def _add_done(self, text: str) -> None:
        """Add each file that a sentence of *text* says was made, changed or deleted, with its sentence."""
        for sentence in sentences(text):
            words = plain(sentence)
            for mentioned in mentioned_paths(sentence):
                before = words.partition(mentioned.path)[0]
                verbs = _DONE_VERB.findall(before)
                if not verbs:
                    self.add_reading(sentence, bare_names=False)
                    continue
                verb = verbs[-1].casefold()
                lines = mentioned.lines or _lines_named(words.partition(mentioned.path)[2])
                if verb.startswith(("creat", "wrote", "built", "added")):
                    made = CreatedFile(path=mentioned.path, purpose=shorten(words), lines=lines)
                    self._add("files_created", mentioned.path, made)
                else:
                    kind: Any = "delete" if verb.startswith(("delet", "remov")) else _change(before, "")
                    changed = ModifiedFile(
                        path=mentioned.path, lines=lines, change_type=kind, description=shorten(words)
                    )
                    self._add("files_modified", mentioned.path, changed)

    def _add_file(self, mentioned: Mentioned, around: str, *, created: bool) -> None:
        path, lines = mentioned
        before, _, after = around.partition(path)
        description = shorten(_without_loose_ends(plain(f"{before} {after}").strip(" -—–:|.,;()")))
        created = created or bool(_CREATED.search(before) or _CREATED.search(after))
        former = self._fields.get("files_modified", {}).get(path)
        if created and not self._has("files_created", path):
            purpose = former.description if former else description
            self._add("files_created", path, CreatedFile(path=path, purpose=purpose, lines=lines))
            self._fields.get("files_modified", {}).pop(path, None)
        elif not created and not self._has("files_created", path):
            kind: Any = _change(before, after)
            file = ModifiedFile(path=path, lines=lines, change_type=kind, description=description)
            self._add("files_modified", path, file)

    def _has(self, field: str, key: str) -> bool:
        return key in self._fields.get(field, {})

    def _add(self, field: str, key: str, value: Any) -> None:
        items = self._fields.setdefault(field, {})
        name = key if field.startswith(("files", "dependencies")) else meaning(key)
        if key and len(items) < MAX_OF_A_KIND:
            items.setdefault(name, value)


_ADD = {
    Topic.PATTERN: BlockDraft.add_pattern,
    Topic.GOTCHA: BlockDraft.add_gotcha,
    Topic.QUESTION: BlockDraft.add_question,
    Topic.NEXT: BlockDraft.add_step,
    Topic.BLOCKER: BlockDraft.add_blocker,
}


def _change(before: str, after: str) -> str:
    if _DELETED.search(before) or _DELETED.search(after):
        return "delete"
    return "refactor" if _REFACTORED.search(before + after) else "modify"


def _around(text: str, path: str) -> str:
    """Return the sentence or clause of *text* that names *path*."""
    return next((sentence for sentence in sentences(text) if path in sentence), text)


def _without_loose_ends(text: str) -> str:
    """Return *text* without words that led to a path at its end, and a kind of change at its start."""
    words = text.split(" ")
    while len(words) > 1 and words[-1] in _LOOSE_ENDS:
        words.pop()
    text = " ".join(words)
    first = _CHANGE_FIRST.match(text)
    return text[first.end() :] if first else text


def _lines_named(after: str) -> str:
    """Return the lines that the words *after* a path name, as in "lines 45-67"."""
    match = _LINES_NAMED.match(after)
    return f"{match[1]}-{match[2] or match[1]}" if match else ""
