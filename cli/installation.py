"""How this copy of flowd was installed, for hints that can be pasted."""

import json
import os
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "flowd-handoff"
EXTRA = "[mcp]"
# The files by which these tools recognise an environment that they have made.
PIPX_FILE = "pipx_metadata.json"
UV_FILE = "uv-receipt.toml"


class Installation(NamedTuple):
    """The environment that flowd runs in, and where its code came from."""

    prefix: Path
    direct_url: dict[str, Any]  # direct_url.json of PEP 610; empty: from a package index


def this_installation() -> Installation:
    """Return how the flowd that is running now was installed."""
    return Installation(Path(sys.prefix), _direct_url())


def install_command(installation: Installation) -> str:
    """Return the command that installs the same flowd again in the same place, with the extra ``mcp``."""
    words = [*_tool(installation), *_requirement(installation.direct_url)]
    return shlex.join(words)


def permanent_install_command(installation: Installation) -> str:
    """Return the command that installs the same flowd where nothing deletes it."""
    return shlex.join(["pipx", "install", *_requirement(installation.direct_url)])


def _direct_url() -> dict[str, Any]:
    try:
        text = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        return {}
    value = json.loads(text or "{}")
    return value if isinstance(value, dict) else {}


def _tool(installation: Installation) -> list[str]:
    if (installation.prefix / PIPX_FILE).exists():
        return ["pipx", "install", "--force"]
    if (installation.prefix / UV_FILE).exists():
        return ["uv", "tool", "install", "--force"]
    if find_spec("pip") is None:
        return ["uv", "pip", "install", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "install"]


def _requirement(direct_url: dict[str, Any]) -> list[str]:
    """Return the requirement, preceded by ``--editable`` where the code is used in place."""
    url = str(direct_url.get("url", ""))
    if not url:
        return [f"{DISTRIBUTION}{EXTRA}"]
    vcs = direct_url.get("vcs_info")
    if isinstance(vcs, dict):
        revision = f"@{vcs['requested_revision']}" if vcs.get("requested_revision") else ""
        return [f"{DISTRIBUTION}{EXTRA} @ {vcs.get('vcs', 'git')}+{url}{revision}"]
    directory = direct_url.get("dir_info")
    if isinstance(directory, dict):
        editable = ["--editable"] if directory.get("editable") else []
        return [*editable, f"{os.path.normpath(unquote(urlsplit(url).path))}{EXTRA}"]
    return [f"{DISTRIBUTION}{EXTRA} @ {url}"]
