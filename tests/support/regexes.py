"""Every regular expression of flowd, and texts that are hard for each of them.

``python -m tests.support.regexes`` prints what is compiled while all modules are imported.
"""

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]  # private, but the only parser of patterns
from typing import Any, NamedTuple

import flowd

_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_CALLS = ("match", "search", "fullmatch", "split", "sub", "subn", "findall", "finditer")
_AT_START = {"match", "fullmatch"}
# These run when imported, or find their neighbours only as programs; they compile nothing.
_PROGRAMS = ("__main__", "hooks.hook", "hooks.offline")
# Runs that people and programs write, and that rules for Markdown, YAML, shells and secrets stumble over.
_COMMON = (
    *" \t\n#`~-_=:./\\|*'\"[]{}()<>,;@a1Aé\x00",
    *("a ", " \n", "\n ", "- ", "a\n", "a.", "1.", "a-", "[ ", "a:", "](", "'a", "a=", "\na", "# "),
)
_FEW = (" ", "\n", "a", "1", "A", "-", "a ")
_MAX_PREFIXES = 12


class Expression(NamedTuple):
    """A regular expression: where it is written, and whether it is only tried at the start of a text."""

    place: str
    pattern: "re.Pattern[str] | re.Pattern[bytes]"
    is_anchored: bool

    def seconds(self, text: str) -> float:
        """Return the processor time that it takes to find all its matches in *text*."""
        subject: Any = text.encode() if isinstance(self.pattern.pattern, bytes) else text
        find: Any = self.pattern.match if self.is_anchored else self.pattern.finditer
        started = time.thread_time()
        for _ in find(subject) or () if not self.is_anchored else (find(subject),):
            pass
        return time.thread_time() - started


def all_expressions() -> list[Expression]:
    """Return the regular expressions that flowd's modules compile on import, or name in a call."""
    command = [sys.executable, "-m", "tests.support.regexes"]
    root = Path(__file__).parents[2]
    printed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    found: dict[tuple[Any, ...], Expression] = {}
    for place, text, is_bytes, flags, is_anchored in map(json.loads, printed.splitlines()):
        pattern: Any = re.compile(text.encode("latin-1") if is_bytes else text, flags)
        key = (pattern.pattern, pattern.flags)
        anchored = is_anchored and (key not in found or found[key].is_anchored)
        found[key] = Expression(place, pattern, anchored)
    return list(found.values())


def hard_texts(pattern: "re.Pattern[Any]", size: int) -> Iterator[str]:
    """Yield texts of about *size* characters that make *pattern* repeat, and fail as late as possible."""
    source = pattern.pattern
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    pumps, prefixes = dict.fromkeys(_FEW), {"": None}
    tree = list(_parser.parse(text, pattern.flags & ~re.UNICODE))
    for before, item in [pair for least in (0, 1) for pair in _repeats(tree, "", least)]:
        prefixes[before] = None
        pumps |= dict.fromkeys((item, before + item, before, item + " ", item + "\n", before + "\n"))
    for prefix in list(prefixes)[:_MAX_PREFIXES]:
        for pump in filter(None, pumps if prefix else dict.fromkeys(_COMMON) | pumps):
            yield prefix + pump * (size // len(pump) + 1) + "\x01"


def _repeats(nodes: list[Any], before: str, least: int) -> Iterator[tuple[str, str]]:
    """Yield each long repeat in *nodes*: a text that leads to it, and one that it repeats.

    What may be left out is there *least* times.
    """
    for node in nodes:
        operation, argument = node
        if operation in _REPEATS:
            item = _sample(list(argument[2]), least)
            if argument[1] > 8:
                yield before, item
            yield from _repeats(list(argument[2]), before, least)
        for inner in _inner(operation, argument):
            yield from _repeats(inner, before, least)
        before += _sample([node], least)


def _inner(operation: Any, argument: Any) -> list[list[Any]]:
    if operation is _constants.SUBPATTERN:
        return [list(argument[3])]
    if operation is _constants.BRANCH:
        return [list(branch) for branch in argument[1]]
    if operation is _constants.ATOMIC_GROUP:
        return [list(argument)]
    if operation in (_constants.ASSERT, _constants.ASSERT_NOT):
        return [list(argument[1])]
    return []


def _sample(nodes: list[Any], least: int) -> str:
    """Return a short text that *nodes* match, but for what stands around it."""
    return "".join(_sample_of(operation, argument, least) for operation, argument in nodes)


def _sample_of(operation: Any, argument: Any, least: int) -> str:
    if operation is _constants.LITERAL:
        return chr(argument)
    if operation is _constants.NOT_LITERAL:
        return "a" if chr(argument) != "a" else "b"
    if operation is _constants.ANY:
        return "a"
    if operation is _constants.IN:
        return _member_of(argument)
    if operation in _REPEATS:
        times: int = max(least, min(argument[0], 64))
        return _sample(list(argument[2]), least) * times
    if operation in (_constants.ASSERT, _constants.ASSERT_NOT, _constants.GROUPREF):
        return ""
    inner = _inner(operation, argument)
    return _sample(inner[0], least) if inner else ""


def _member_of(members: list[Any]) -> str:
    expression = re.compile(_class_text(members), re.DOTALL)
    letters = [*"a1A -_./:=\"'\n", *map(chr, range(33, 256))]
    return next((letter for letter in letters if expression.fullmatch(letter)), "a")


def _class_text(members: list[Any]) -> str:
    names = {
        _constants.CATEGORY_DIGIT: r"\d",
        _constants.CATEGORY_NOT_DIGIT: r"\D",
        _constants.CATEGORY_SPACE: r"\s",
        _constants.CATEGORY_NOT_SPACE: r"\S",
        _constants.CATEGORY_WORD: r"\w",
        _constants.CATEGORY_NOT_WORD: r"\W",
    }
    text = ""
    for kind, value in members:
        if kind is _constants.NEGATE:
            text += "^"
        elif kind is _constants.LITERAL:
            text += re.escape(chr(value))
        elif kind is _constants.RANGE:
            text += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            text += names[value]
    return f"[{text}]"


def _compiled_on_import() -> list[tuple[str, Any, int]]:
    seen: list[tuple[str, Any, int]] = []
    original = re._compile  # type: ignore[attr-defined]  # every function of re goes through it

    def compiling(pattern: Any, flags: Any) -> Any:
        caller = sys._getframe(2)
        if caller.f_globals.get("__name__", "").startswith("flowd.") and isinstance(pattern, str | bytes):
            seen.append((f"{caller.f_code.co_filename}:{caller.f_lineno}", pattern, int(flags)))
        return original(pattern, flags)

    re._compile = compiling  # type: ignore[attr-defined]  # same
    for module in pkgutil.walk_packages(flowd.__path__, "flowd."):
        if not module.name.endswith(_PROGRAMS):
            importlib.import_module(module.name)
    return seen


def _named_in_calls(file: Path, tree: ast.AST) -> list[tuple[str, Any, int, bool]]:
    """Return the patterns that are written inside a call: they are compiled when it is made."""
    return [
        (f"{file}:{node.lineno}", node.args[0].value, 0, node.func.attr in _AT_START)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func) in [f"re.{name}" for name in _CALLS]
        and isinstance(node.args[0], ast.Constant)
    ]


def _uses(tree: ast.AST) -> dict[str, set[str]]:
    """Return for each name how it is used as a pattern; ``?`` for any other use."""
    uses: dict[str, set[str]] = {}
    methods = {
        id(node.value): node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            uses.setdefault(node.id, set()).add(methods.get(id(node), "?"))
    return uses


def _is_anchored(place: str, trees: dict[str, ast.Module]) -> bool:
    """Return True if the pattern compiled at *place* has a name that is only matched at a start."""
    file, _, line = place.rpartition(":")
    tree = trees.get(file, ast.Module([], []))
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.lineno <= int(line) <= (node.end_lineno or 0):
            name = ast.unparse(node.targets[0])
            uses = _uses(tree).get(name, {"?"})
            return uses <= _AT_START and isinstance(node.value, ast.Call)
    return False


def main() -> None:
    """Print place, pattern, whether it is bytes, its flags, and whether it is only matched at a start."""
    root = Path(flowd.__file__).parent
    compiled = _compiled_on_import()
    files = {str(file) for folder in root.iterdir() if folder.is_dir() for file in folder.rglob("*.py")}
    trees = {file: ast.parse(Path(file).read_text("utf-8")) for file in files}
    found = [(*each, _is_anchored(each[0], trees)) for each in compiled]
    for file, tree in trees.items():
        found += _named_in_calls(Path(file), tree)
    for place, pattern, flags, anchored in found:
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
        sys.stdout.write(json.dumps([place, text, isinstance(pattern, bytes), flags, anchored]) + "\n")


if __name__ == "__main__":
    main()
