"""Notes that are YAML already, in the shape that continuity tools write: goal, now, done, next, findings."""

from collections.abc import Iterator

from flowd.handoff.block_draft import Draft
from flowd.handoff.block_words import says_nothing
from flowd.handoff.block_yaml import BadYamlError, Mapping, Scalar, Sequence, Tree, parse_tree

KNOWN = frozenset(
    "goal now done_this_session blockers questions decisions findings worked failed next files".split()
)
ENOUGH = 3


def fields_of(text: str) -> dict[str, Tree] | None:
    """Return the fields of *text* when it is YAML of that shape, else None."""
    try:
        tree = parse_tree(text, 1)
    except BadYamlError:
        return None
    if not isinstance(tree, Mapping):
        return None
    fields = {key.text: value for key, value in tree.pairs}
    return fields if len(KNOWN & fields.keys()) >= ENOUGH else None


def fill(draft: Draft, fields: dict[str, Tree]) -> None:
    """Put *fields* into *draft*."""
    adding = {
        "blockers": draft.add_blocker,
        "questions": draft.add_question,
        "decisions": draft.add_pattern,
        "findings": draft.add_pattern,
        "worked": draft.add_pattern,
        "failed": draft.add_gotcha,
        "next": draft.add_step,
    }
    _fill_files(draft, fields.get("files"))
    for name, add in adding.items():
        for text in _texts(fields.get(name)):
            add(text)
    for text in _texts(fields.get("done_this_session")):
        draft.add_files(text)


def _fill_files(draft: Draft, tree: Tree | None) -> None:
    if isinstance(tree, Mapping):
        for key, value in tree.pairs:
            for text in _texts(value):
                draft.add_files(text, created=key.text == "created")
    else:
        for text in _texts(tree):
            draft.add_files(text)


def _texts(tree: Tree | None) -> Iterator[str]:
    """Yield each entry as one text: a list's items, or a mapping's ``key: value`` pairs."""
    if isinstance(tree, Sequence):
        entries = [_flat(item) for item in tree.items]
    elif isinstance(tree, Mapping):
        entries = [_pair(key, value) for key, value in tree.pairs]
    else:
        entries = [_flat(tree)] if tree is not None else []
    yield from (entry for entry in entries if entry and not says_nothing(entry))


def _flat(tree: Tree) -> str:
    if isinstance(tree, Scalar):
        return "" if tree.is_null else tree.text.strip()
    if isinstance(tree, Sequence):
        return ", ".join(_flat(item) for item in tree.items)
    return "; ".join(_pair(key, value) for key, value in tree.pairs)


def _pair(key: Scalar, value: Tree) -> str:
    text = _flat(value)
    return f"{key.text.replace('_', ' ')}: {text}" if text else ""
