"""Parse and render the text of a handoff file."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from flowd.handoff.errors import BrokenHandoffError, HandoffValidationError
from flowd.handoff.yaml.document import Handoff, plain_mapping
from flowd.system.times import as_utc_text
from flowd.system.yaml_text import YamlTextError, load_yaml

MAX_FILE_BYTES = 256 * 1024
# One field, one line, so that grep finds whole values.
_NEVER_FOLD = 1_000_000
_RARE_BREAKS = re.compile("[\x85\u2028\u2029\ufeff]")
# Numbers of YAML 1.2 that PyYAML, which writes YAML 1.1, would leave without quotes: 1e3, 0o17.
_NUMBER = re.compile(r"[-+]?(?:0o)?[\d_.]+(?:[eE][-+]?\d+)?")
_ESCAPED_BEYOND_BMP = "\\U000"


class HandoffYaml(NamedTuple):
    """The content of a handoff file: its leading comments, and its mapping if it has one."""

    header: str
    mapping: Handoff | None


def parse(data: bytes) -> HandoffYaml:
    """Parse *data*; raise BrokenHandoffError with the reason if that is not possible."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BrokenHandoffError(f"not UTF-8 text: {error.reason}") from error
    return HandoffYaml(_header(text), _mapping(text))


def render(mapping: Handoff, header: str = "") -> bytes:
    """Return *mapping* as block-style YAML below *header*, written by the YAML library in one piece."""
    body = _dumped(mapping, _dumper("CSafeDumper"))
    if _ESCAPED_BEYOND_BMP in body:
        # libyaml writes emoji as escapes; the slower dumper writes them as people typed them.
        body = _dumped(mapping, _dumper("SafeDumper"))
    return (header + body).encode()


def _dumped(mapping: Handoff, dumper: Any) -> str:
    import yaml

    text: str = yaml.dump(
        mapping,
        Dumper=dumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=_NEVER_FOLD,
    )
    return text


def _header(text: str) -> str:
    match = re.match(r"(?:[ \t]*(?:#[^\n]*)?\n|---[ \t]*\n)*", text)
    return match.group() if match and "#" in match.group() else ""


def _mapping(text: str) -> Handoff | None:
    try:
        loaded = load_yaml(text, max_characters=MAX_FILE_BYTES)
    except YamlTextError as error:
        raise BrokenHandoffError(str(error)) from error
    if loaded is None:
        return None
    if not isinstance(loaded, Mapping):
        raise BrokenHandoffError(f"a {type(loaded).__name__} where a mapping is expected")
    try:
        mapping = plain_mapping(loaded)
    except HandoffValidationError as error:
        raise BrokenHandoffError(str(error)) from error
    if "timestamp" in loaded:
        mapping["timestamp"] = as_utc_text(loaded["timestamp"]) or mapping["timestamp"]
    return mapping


@lru_cache(maxsize=2)
def _dumper(name: str) -> Any:
    """Return PyYAML's dumper of that *name*, or its slow one, repeating values instead of aliasing them."""
    import yaml

    base: Any = getattr(yaml, name, yaml.SafeDumper)
    dumper: Any = type("HandoffDumper", (base,), {"ignore_aliases": lambda *_: True})
    dumper.add_representer(str, _represent_text)
    return dumper


def _represent_text(dumper: Any, text: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))


def _style(text: str) -> str | None:
    if not text.isascii() and _RARE_BREAKS.search(text):
        # Only in double quotes do both dumpers write these so that they are read back.
        return '"'
    if _NUMBER.fullmatch(text):
        return "'"
    # Line breaks are readable in a literal block; the emitter uses quotes where a block is not possible.
    return "|" if "\n" in text else None
