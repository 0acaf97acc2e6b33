"""Read the text of a settings file, and describe in words which values a setting takes."""

from pathlib import Path
from typing import Any

import msgspec

from flowd.system.errors import SettingsError
from flowd.system.yaml_text import YamlTextError, load_yaml


def read_text(file: Path) -> str:
    """Return the text of *file*, empty without it; raise SettingsError if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{file}: not UTF-8 text, line {line}", hint="save it as UTF-8") from error
    except OSError as error:
        raise SettingsError(
            f"{file}: cannot be read: {error.strerror}", hint=f"look at it with `ls -l {file}`"
        ) from error


def read_yaml(text: str, name: str) -> dict[str, Any]:
    """Return the mapping that *text* holds; raise SettingsError naming the file *name* and the line."""
    try:
        value = load_yaml(text)
        _refuse_repeated_keys(text)
    except YamlTextError as error:
        raise SettingsError(
            f"{name}: {error}", hint="correct it with an editor; `flowd config --defaults` shows how it looks"
        ) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise SettingsError(f"{name}: a mapping of sections is expected, not {type(value).__name__}")
    return value


def _refuse_repeated_keys(text: str) -> None:
    """Raise YamlTextError at a key that its mapping has twice: YAML would take the last one in silence."""
    import yaml

    def check(node: Any) -> None:
        seen: set[str] = set()
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            if key.value in seen:
                raise YamlTextError(f"{key.value} is set twice", key.start_mark.line + 1)
            seen.add(key.value)
            check(value)

    check(yaml.compose(text, Loader=yaml.SafeLoader))


WORDS = {
    "boolean": "true or false",
    "string": "text",
    "null": "null",
    "object": "a mapping of names to texts",
}


def wanted(kind: Any) -> str:
    """Return what a value of the type *kind* is, such as ``one of debug, info``."""
    schema = msgspec.json.schema(kind)
    return _described(schema)


def _described(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if "anyOf" in schema:
        return " or ".join(_described(part) for part in schema["anyOf"])
    match schema.get("type"):
        case "integer" | "number" as name:
            return ("a whole number" if name == "integer" else "a number") + _limits(schema)
        case "array":
            items = schema.get("items") or {}
            of = f", each {_described(items)}" if "enum" in items else ""
            return f"a list{of}, such as [a, b]" if not of else f"a list{of}"
        case name:
            return WORDS.get(str(name), str(name))


def _limits(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        return f" above {schema['exclusiveMinimum']}"
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f" of at least {low}" if low is not None else ""
