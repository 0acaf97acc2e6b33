"""Check a block against every rule of the specification; each violation has its line."""

import re
from typing import Any, NamedTuple

from flowd.handoff.block.fields import (
    ITEMS,
    OUTCOMES,
    BrokenRuleError,
    ItemSchema,
    Mapping,
    Sequence,
    Tree,
    is_empty,
    one_of,
    parse_tree,
    shown,
)
from flowd.model.block import FIELDS, HandoffBlock, Violation, stable_id
from flowd.system.yaml_text import YamlTextError

_KINDS = {"patterns_discovered": "pattern", "gotchas": "gotcha"}
_RECOMMENDED = ("patterns_discovered", "gotchas", "dependencies_for_next", "suggested_next_steps")
_DEMANDED = {
    "completed": (),
    "partial": ("blockers", "suggested_next_steps"),
    "failed": ("blockers",),
    "blocked": ("blockers",),
}
# `[completed | partial]`, `completed | partial`, `<outcome>`, `{{outcome}}`: the schema quoted, not a block.
_OFFERS_CHOICES = re.compile(r"""^[ \t]*outcome:[ \t]*["']?(?:[\[<{$]|\w[^\n#|]*\|)""", re.MULTILINE)
_BLOCKER_MUST_SAY = {"failed": "suggested_resolution", "blocked": "blocking_tasks"}


class Checked(NamedTuple):
    """A block's body after checking: a block, or violations, or neither when it is only a template."""

    block: HandoffBlock | None
    violations: tuple[Violation, ...]
    missing: tuple[str, ...]
    completeness: int
    is_template: bool = False
    # What is left of a block with violations: its valid items, without their wrong fields.
    usable: HandoffBlock | None = None


TEMPLATE = Checked(None, (), (), 0, is_template=True)


def check_body(body: str, first_line: int) -> Checked:
    """Check *body*, whose first line is line *first_line* of the file."""
    if _OFFERS_CHOICES.search(body):
        return TEMPLATE
    try:
        tree = parse_tree(body, first_line)
        return TEMPLATE if _is_unfilled(tree) else _Reading(tree).checked()
    except YamlTextError as error:
        violation = Violation(field="(block)", value="", rule=error.problem, line=error.line or first_line)
        return Checked(None, (violation,), (), 0)


def _is_unfilled(tree: Tree) -> bool:
    """Return True if the fields are there and all of them are empty."""
    return isinstance(tree, Mapping) and bool(tree.pairs) and all(is_empty(value) for _, value in tree.pairs)


class _Reading:
    """One pass over a block's tree, collecting values and violations."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._violations: list[Violation] = []
        self._fields: dict[str, Any] = {}
        self._outcome_line = tree.line

    def checked(self) -> Checked:
        if not isinstance(self._tree, Mapping):
            self._note("(block)", self._tree, "must be fields with values")
        else:
            self._read_fields(self._tree)
            self._check_outcome_demands()
        missing = self._missing()
        wanted = len(self._wanted())
        valid = HandoffBlock(**self._fields) if "outcome" in self._fields else None
        block = None if self._violations else valid
        share = round(100 * (wanted - len(missing)) / wanted)
        ordered = sorted(self._violations, key=lambda violation: violation.line)
        return Checked(block, tuple(ordered), missing, share, usable=None if block else valid)

    def _read_fields(self, tree: Mapping) -> None:
        seen: set[str] = set()
        for key, value in tree.pairs:
            if key.text in seen and key.text in FIELDS:
                self._note(key.text, key, "is given twice")
            seen.add(key.text)
            if key.text == "outcome":
                self._read_outcome(value)
            elif key.text in ITEMS:
                self._fields[key.text] = self._items(key.text, value)
        if "outcome" not in seen:
            self._violate("outcome", "", "is always required", tree.line)

    def _read_outcome(self, value: Tree) -> None:
        self._outcome_line = value.line
        try:
            self._fields["outcome"] = one_of(*OUTCOMES)(value)
        except BrokenRuleError as broken:
            self._note("outcome", broken.tree, broken.rule)

    def _items(self, field: str, value: Tree) -> tuple[Any, ...]:
        if is_empty(value):
            return ()
        if not isinstance(value, Sequence):
            self._note(field, value, "must be a list")
            return ()
        read = (self._item(f"{field}[{n}]", item, ITEMS[field]) for n, item in enumerate(value.items))
        return tuple(item for item in read if item is not None)

    def _item(self, where: str, tree: Tree, item: ItemSchema) -> Any:
        if not isinstance(tree, Mapping):
            self._note(where, tree, f"must be a mapping with `{item.main}`")
            return None
        fields = self._item_fields(where, tree, item)
        if item.main not in {key.text for key, _ in tree.pairs}:
            self._violate(f"{where}.{item.main}", "", "is required", tree.line)
        if item.main not in fields:
            return None  # without its main field an item says nothing
        if "id" in item.fields and not fields.get("id"):
            fields["id"] = stable_id(_KINDS[where.partition("[")[0]], fields[item.main])
        return item.value(**fields)

    def _item_fields(self, where: str, tree: Mapping, item: ItemSchema) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for key, value in tree.pairs:
            read = item.fields.get(key.text)
            if read is None or (is_empty(value) and key.text != item.main):
                continue
            try:
                fields[key.text] = read(value)
            except BrokenRuleError as broken:
                self._note(f"{where}.{key.text}", broken.tree, broken.rule)
        return fields

    def _check_outcome_demands(self) -> None:
        outcome = self._fields.get("outcome", "")
        for field in _DEMANDED.get(outcome, ()):
            if not self._fields.get(field) and not self._is_broken(field):
                self._violate(field, "", f"is required when outcome is {outcome}", self._outcome_line)
        demanded = _BLOCKER_MUST_SAY.get(outcome)
        for number, blocker in enumerate(self._fields.get("blockers", ())):
            if demanded and not getattr(blocker, demanded):
                rule = f"is required when outcome is {outcome}"
                self._violate(f"blockers[{number}].{demanded}", "", rule, self._outcome_line)

    def _is_broken(self, field: str) -> bool:
        return any(violation.field.startswith(field) for violation in self._violations)

    def _wanted(self) -> tuple[str, ...]:
        demanded = _DEMANDED.get(self._fields.get("outcome", ""), ())
        return ("outcome", "files_created/files_modified", *dict.fromkeys((*demanded, *_RECOMMENDED)))

    def _missing(self) -> tuple[str, ...]:
        # An empty list is an answer ("none found"); only silence is missing.
        return tuple(
            name for name in self._wanted() if not any(part in self._fields for part in name.split("/"))
        )

    def _note(self, field: str, tree: Tree, rule: str) -> None:
        self._violate(field, shown(tree), rule, tree.line)

    def _violate(self, field: str, value: str, rule: str, line: int) -> None:
        self._violations.append(Violation(field=field, value=value, rule=rule, line=line))
