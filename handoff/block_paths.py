"""Paths that notes mention, with the lines they name; only those a block may hold."""

import re
from typing import NamedTuple

_EXTENSIONS = (
    "py pyi js mjs cjs ts tsx jsx json jsonl yaml yml toml md mdx rst txt sh bash rs go rb java kt swift "
    "c h cc cpp hpp cs php sql html css scss vue svelte lua ex exs erl hs ml scala clj proto graphql ini "
    "cfg conf lock svg ipynb service plist tf csv xml gradle"
).split()
_PATH = re.compile(
    r"(?<![\w/@:$~.\-])"
    rf"((?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.(?:{'|'.join(_EXTENSIONS)})|(?:[\w.@+-]+/)+(?:Makefile|Dockerfile|LICENSE))"
    r"(?![\w/]|\.\w)"
    r"(?::(\d+)(?:-(\d+))?)?"
)


class Mentioned(NamedTuple):
    """A path as mentioned, and its lines if they are named."""

    path: str
    lines: str


def mentioned_paths(text: str) -> list[Mentioned]:
    """Return the relative paths in *text*, each once, in order."""
    found: dict[str, Mentioned] = {}
    for match in _PATH.finditer(text):
        path = match[1].removeprefix("./")
        if ".." not in path.split("/"):
            lines = f"{match[2]}-{match[3] or match[2]}" if match[2] and int(match[2]) > 0 else ""
            is_range = not match[3] or int(match[2]) <= int(match[3])
            found.setdefault(path, Mentioned(path, lines if is_range else ""))
    return list(found.values())
