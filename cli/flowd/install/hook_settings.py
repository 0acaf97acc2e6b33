"""flowd's hooks in the text of a settings.json: found, added and removed, with everything else untouched."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flowd.cli.flowd.install.settings_file import appended, find, items, value_at, without
from flowd.hooks.command import is_ours, leads_nowhere
from flowd.system.errors import FlowdError

Entry = Mapping[str, Any]


class HooksState(NamedTuple):
    """The hooks in settings.json: ``events`` names those of all programs, ``present`` those of flowd."""

    events: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    disabled: bool = False
    plugin: bool = False


def hooks_state(settings_file: Path) -> HooksState:
    """Return which events call flowd, which of those calls lead nowhere, and what else decides."""
    try:
        text = settings_file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return HooksState()
    except (OSError, UnicodeDecodeError) as error:
        raise FlowdError(f"{settings_file} cannot be read: {error}") from error
    settings = checked(text, settings_file)
    commands = {event: ours_in(groups) for event, groups in settings.get("hooks", {}).items()}
    return HooksState(
        events=tuple(commands),
        present=tuple(event for event, found in commands.items() if found),
        broken=tuple(event for event, found in commands.items() if any(map(leads_nowhere, found))),
        disabled=settings.get("disableAllHooks") is True,
        plugin=plugin_enabled(settings),
    )


def checked(text: str, file: Path) -> dict[str, Any]:
    """Return the settings that *text* holds, or raise when flowd cannot safely change them."""
    try:
        settings = json.loads(text)
    except ValueError as error:
        hint = "mend it first; nothing was changed"
        raise FlowdError(f"{file} is not valid JSON: {error}", hint=hint) from error
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise FlowdError(
            f"{file} has no shape that flowd knows", hint="look at its hooks; nothing was changed"
        )
    assert isinstance(settings, dict)
    return settings


def plugin_enabled(settings: Mapping[str, Any]) -> bool:
    """Return True if flowd's plugin is on in *settings*."""
    plugins = settings.get("enabledPlugins")
    return isinstance(plugins, dict) and any(
        name.split("@")[0] == "flowd" and state for name, state in plugins.items()
    )


def with_hooks(text: str, entries: Mapping[str, Entry]) -> str:
    """Return *text* with one hook of flowd's for each event of *entries* and no other; *text* was checked."""
    for event in events_of(text):
        if event not in entries:
            text = _without_event(text, event)
    for event, entry in entries.items():
        groups = find(text, "hooks", event)
        wanted = [entry["hooks"][0]["command"]]
        if groups is None or ours_in(value_at(text, groups)) != wanted:
            text = _with_entry(_without_event(text, event), event, entry)
    return text


def without_hooks(text: str) -> str:
    """Return *text* without flowd's hooks, and without what is empty because of that; *text* was checked."""
    for event in events_of(text):
        text = _without_event(text, event)
    return text


def events_of(text: str) -> list[str]:
    """Return the events that *text* has hooks for, flowd's or others'; *text* was checked."""
    hooks = find(text, "hooks")
    return list(value_at(text, hooks)) if hooks is not None else []


def ours_in(groups: Any) -> list[str]:
    """Return the commands in the *groups* of one event that are flowd's."""
    handlers = [handler for group in groups for handler in _handlers(group)]
    return [handler["command"] for handler in handlers if _is_our_handler(handler)]


def _with_entry(text: str, event: str, entry: Entry) -> str:
    groups = find(text, "hooks", event)
    if groups is not None:
        return appended(text, groups, entry)
    hooks = find(text, "hooks")
    if hooks is not None:
        return appended(text, hooks, [entry], event)
    top = find(text)
    assert top is not None
    return appended(text, top, {event: [entry]}, "hooks")


def _without_event(text: str, event: str) -> str:
    while (place := _first_of_ours(text, event)) is not None:
        text = _without_handler(text, event, *place)
    return text


def _first_of_ours(text: str, event: str) -> tuple[int, int] | None:
    start = find(text, "hooks", event)
    groups = value_at(text, start) if start is not None else []
    for group_index, group in enumerate(groups):
        for handler_index, handler in enumerate(_handlers(group)):
            if _is_our_handler(handler):
                return group_index, handler_index
    return None


def _without_handler(text: str, event: str, group_index: int, handler_index: int) -> str:
    """Return *text* without one handler, and without the group, event and object that it leaves empty."""
    groups = find(text, "hooks", event)
    assert groups is not None
    group = items(text, groups)[group_index].value_start
    handlers = next(item for item in reversed(items(text, group)) if item.key == "hooks").value_start
    if len(items(text, handlers)) > 1:
        return without(text, handlers, handler_index)
    if len(items(text, groups)) > 1:
        return without(text, groups, group_index)
    hooks, top = find(text, "hooks"), find(text)
    assert hooks is not None
    assert top is not None
    if len(items(text, hooks)) > 1:
        return _without_member(text, hooks, event)
    return _without_member(text, top, "hooks")


def _without_member(text: str, container: int, name: str) -> str:
    index = max(place for place, item in enumerate(items(text, container)) if item.key == name)
    return without(text, container, index)


def _handlers(group: Any) -> list[Any]:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return handlers if isinstance(handlers, list) else []


def _is_our_handler(handler: Any) -> bool:
    return isinstance(handler, dict) and is_ours(handler.get("command"))
