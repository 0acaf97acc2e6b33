"""The JSON schema of ``flowd status --json``; docs/status.schema.json is a copy of it."""

from typing import Literal

import msgspec

from flowd.daemon.status import Status


class Running(Status, frozen=True, kw_only=True):
    """What is printed while flowd runs: the daemon's answer and the version of the command that asked."""

    cli_version: str


class NotRunning(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed while it does not: why, and what to do."""

    running: Literal[False]
    error: str
    hint: str


def schema() -> str:
    """Return the schema as text."""
    answers, components = msgspec.json.schema_components([Running, NotRunning], ref_template="#/$defs/{name}")
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "flowd status --json",
        "anyOf": list(answers),
        "$defs": components,
    }
    return msgspec.json.format(msgspec.json.encode(whole, order="sorted")).decode()
