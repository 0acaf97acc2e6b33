"""Write docs/commands.md, docs/configuration.md and the man pages: `make reference`."""

import re
import sys
import textwrap
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from flowd import __version__
from flowd.config.settings import Settings, dotted_items, load_settings
from tools.parsers import Command, Verb, commands

ROOT = Path(__file__).resolve().parents[1]
MADE = "<!-- Made by `make reference`; do not edit. -->"
EXIT_CODES = (
    ("0", "done"),
    ("1", "could not; one line says why, the next what to run"),
    ("2", "wrong usage"),
    ("3", "flowd is not running"),
    ("70", "a bug; a report is written to the log directory"),
    ("130", "interrupted"),
)
FILES = (
    ("~/.config/flowd/config.yaml", "settings; see `flowd config --defaults`"),
    ("~/.local/share/flowd/core.db", "everything that flowd knows"),
    ("~/.local/state/flowd/", "logs, lock, socket, spool"),
    (".flow-guardian/handoff.yaml", "the state of the work in a project"),
)


def reference_files() -> dict[Path, str]:
    """Return every generated file with its text."""
    both = commands()
    pages = {ROOT / "man" / f"{command.name}.1": man_page(command) for command in both}
    return pages | {
        ROOT / "docs" / "commands.md": commands_page(both),
        ROOT / "docs" / "configuration.md": configuration_page(),
    }


def commands_page(both: tuple[Command, ...]) -> str:
    """Return docs/commands.md."""
    lines = ["# Commands", "", MADE, ""]
    lines += [
        "`flowd` controls the daemon, `flow` is for the work in a project. This page has the same texts as"
    ]
    lines += ["`--help` and the man pages `flowd(1)` and `flow(1)`.", ""]
    lines += ["| exit code | meaning |", "|---|---|", *(f"| {code} | {what} |" for code, what in EXIT_CODES)]
    for command in both:
        lines += ["", f"## {command.name}", "", command.about, ""]
        lines += _shell_block(command.examples)
        for verb in command.verbs:
            lines += ["", *_verb_section(verb)]
    return "\n".join(lines) + "\n"


def _verb_section(verb: Verb) -> Iterator[str]:
    yield f"{'#' * (len(verb.words) + 1)} {' '.join(verb.words)}"
    yield from ("", *_prose(verb.description), "```text", verb.synopsis, "```")
    if verb.arguments:
        yield from ("", "| argument | meaning |", "|---|---|")
        for each in verb.arguments:
            yield f"| `{_cell(each.written)}` | {_cell(each.about)} |"
    if verb.examples:
        yield from ("", *_shell_block(verb.examples))


def _prose(text: str) -> Iterator[str]:
    """Yield *text* as Markdown; indented lines become code."""
    for paragraph in text.split("\n\n"):
        code = paragraph.startswith("  ")
        body = textwrap.dedent(paragraph) if code else _escaped(paragraph)
        yield from (["```text", body, "```"] if code else [body])
        yield ""


def _shell_block(examples: str) -> list[str]:
    return ["```text", _less_indented(examples), "```"]


def _less_indented(text: str) -> str:
    """Return *text* without the two spaces that --help puts before most lines."""
    return re.sub(r"^  ", "", text, flags=re.MULTILINE)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _escaped(text: str) -> str:
    return re.sub(r"(?<!`)<([^>\n]+)>(?!`)", r"\<\1\>", text)


def configuration_page() -> str:
    """Return docs/configuration.md, from defaults.yaml and the types of the settings."""
    text = resources.files("flowd.config").joinpath("defaults.yaml").read_text(encoding="utf-8")
    defaults = dict(dotted_items(load_settings(ROOT / "no-such-file").settings))
    schema = msgspec.json.schema(Settings)["$defs"]
    lines = ["# Configuration", "", MADE, "", *INTRODUCTION.splitlines()]
    for section, keys in _meanings(text).items():
        struct = schema[Settings.__annotations__[section].__name__]
        lines += ["", f"## {section}", "", struct["description"], ""]
        lines += ["| setting | default | values | meaning |", "|---|---|---|---|"]
        for key, meaning in keys.items():
            default = _written(defaults[f"{section}.{key}"])
            allowed = _allowed(struct["properties"][key], schema)
            lines.append(f"| `{section}.{key}` | `{_cell(default)}` | {_cell(allowed)} | {_cell(meaning)} |")
    return "\n".join(lines) + "\n"


INTRODUCTION = """\
flowd runs without any settings. To change one, put it into `config.yaml`; what is not there has its default.

```sh
flowd config --path
flowd config
flowd config --defaults
```

The first prints where `config.yaml` is, the second every setting with its value and where the value comes
from, the third all defaults with their explanations. To change a setting:

```sh
flowd config set idle.after_minutes 45
flowd config unset idle.after_minutes
```

`flowd config edit` opens the file in your editor. It looks like this:

```yaml
idle:
  after_minutes: 45
handoff_yaml:
  projects: opted_in
```

A running daemon applies a changed file within seconds. An unknown key, a wrong type or a value out of range
is refused with the name of the key; the daemon then keeps the settings that it has."""


def _meanings(text: str) -> dict[str, dict[str, str]]:
    """Return the comment above each key of defaults.yaml, by section and key."""
    sections: dict[str, dict[str, str]] = {}
    comment: list[str] = []
    for line in text.splitlines():
        if match := re.match(r"(\w+):$", line):
            sections[section := match[1]] = {}
        elif match := re.match(r"  (\w+):", line):
            sections[section][match[1]] = " ".join(comment)
        elif match := re.match(r"  # (.*)", line):
            comment.append(match[1])
            continue
        comment = []
    return sections


def _written(value: object) -> str:
    """Return *value* as a person would write it: 300, not 300.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return msgspec.json.encode(value).decode()


def _allowed(schema: dict[str, Any], known: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _allowed(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        return " or ".join(_allowed(each, known) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f"`{each}`" for each in schema["enum"])
    if schema.get("type") == "array":
        items = schema.get("items")
        return f"list of {_allowed(items, known)}" if isinstance(items, dict) else "list"
    limits = [f"{sign} {schema[word]:g}" for word, sign in LIMITS if word in schema]
    return " ".join([TYPES[schema["type"]], *limits])


LIMITS = (("minimum", ">="), ("exclusiveMinimum", ">"), ("maximum", "<="))
TYPES = {
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "`true` or `false`",
    "null": "`null`",
    "object": "mapping",
}


def man_page(command: Command) -> str:
    """Return the manual page of *command*, in the man macros."""
    name, other = command.name, "flow" if command.name == "flowd" else "flowd"
    lines = [f'.TH {name.upper()} 1 "" "flowd {__version__}" "User Commands"', ".SH NAME"]
    lines += [f"{name} \\- {_roff(command.about.rstrip('.'))}", ".SH SYNOPSIS"]
    lines += [
        f".B {name}",
        ".I VERB",
        "[options]",
        ".SH EXAMPLES",
        *_man_code(command.examples),
        ".SH COMMANDS",
    ]
    for verb in command.verbs:
        lines += _man_verb(verb)
    lines += [".SH EXIT STATUS", *(line for pair in EXIT_CODES for line in _man_item(*pair))]
    lines += [".SH FILES", *(line for pair in FILES for line in _man_item(*pair))]
    lines += [".SH SEE ALSO", f".BR {other} (1)"]
    return "\n".join(lines) + "\n"


def _man_verb(verb: Verb) -> Iterator[str]:
    yield f".SS {_roff(verb.synopsis)}"
    for paragraph in verb.description.split("\n\n"):
        if paragraph.startswith("  "):
            yield from _man_code(paragraph)
        else:
            yield from (".PP", _roff(paragraph))
    for each in verb.arguments:
        yield from _man_item(each.written, each.about)
    if verb.examples:
        yield from (".PP", "Examples:", *_man_code(verb.examples))


def _man_item(term: str, text: str) -> list[str]:
    return [".TP", f".B {_roff(term)}", _roff(" ".join(text.split())) or "\\&"]


def _man_code(text: str) -> list[str]:
    return [".PP", ".nf", ".RS 2", _roff(_less_indented(text).strip("\n")), ".RE", ".fi"]


def _roff(text: str) -> str:
    """Escape *text* for roff: backslashes, hyphens, and dots and quotes that begin a line."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    return re.sub(r"^([.'])", r"\\&\1", escaped, flags=re.MULTILINE)


def main() -> int:
    """Write every file whose text has changed, and name it."""
    for file, text in reference_files().items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"wrote  {file.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
