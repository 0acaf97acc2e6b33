"""A client's JSON configuration: read with care, changed in one place, replaced whole."""

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from flowd.config.errors import FlowdError

_REMEDY = "mend it first; flowd changed nothing"


def read_config(path: Path) -> dict[str, Any]:
    """Return what *path* holds, nothing if there is no such file; refuse what is not a JSON object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8") or "{}")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise FlowdError(f"{path} cannot be read as JSON: {error}", hint=_REMEDY) from error
    if not isinstance(value, dict) or not isinstance(value.get("mcpServers", {}), dict):
        raise FlowdError(f"{path} is not a client's configuration", hint=_REMEDY)
    return value


def entry_in(path: Path, name: str) -> object:
    """Return the entry of the server *name* in *path*, or None."""
    return read_config(path).get("mcpServers", {}).get(name)


def set_entry(path: Path, name: str, entry: dict[str, Any] | None) -> None:
    """Put *entry* under *name* in *path*, or take it out; everything else stays, and a copy is kept."""
    config = read_config(path)
    servers = config.setdefault("mcpServers", {})
    if entry is None:
        servers.pop(name, None)
    else:
        servers[name] = entry
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        shutil.copy2(path, path.with_name(f"{path.name}.before-flowd"))
    _replace(path, json.dumps(config, indent=2, ensure_ascii=False) + "\n")


def _replace(path: Path, text: str) -> None:
    # Through a link, the file it leads to is replaced, not the link.
    target = Path(os.path.realpath(path))
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except BaseException:
        draft.unlink()
        raise
