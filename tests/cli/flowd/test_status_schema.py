"""The documented format of ``flowd status --json`` is the one it has."""

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from flowd.cli.flowd.status import NotRunning, schema
from flowd.cli.flowd.status_page import Running
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

DOCS = ROOT / "docs"


def test_the_schema_in_docs_is_the_current_one() -> None:
    """When this fails: ``flowd status --schema > docs/status.schema.json``."""
    assert (DOCS / "status.schema.json").read_text() == schema() + "\n"


CHAPTERS = {
    "Running": "",
    "SessionLine": "sessions",
    "SinkLine": "sinks",
    "FailureLine": "failures",
    "ThreadLine": "parts",
    "RecordCounts": "counts",
    "WatchStatus": "watches",
    "StoreStatus": "store",
    "ProcessStatus": "process",
    "ModelStatus": "model",
}


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_field_is_explained_and_no_other(name: str) -> None:
    chapters = re.split(r"^## `(\w+)`$", (DOCS / "status.md").read_text(), flags=re.MULTILINE)
    by_heading = dict(zip(["", *chapters[1::2]], chapters[::2], strict=True))
    explained = re.findall(r"^\| `(\w+)` \|", by_heading[CHAPTERS[name]], re.MULTILINE)
    fields: dict[str, Any] = json.loads(schema())["$defs"][name]["properties"]
    assert sorted(explained) == sorted(fields)


def test_what_is_printed_fits_the_schema_running_or_not(daemon_home: "DaemonHome") -> None:
    silent = daemon_home.command("status", "--json")
    assert silent.returncode == 3
    msgspec.json.decode(silent.stdout, type=NotRunning, strict=True)
    daemon_home.start()
    answer = daemon_home.command("status", "--json")
    assert answer.returncode == 0
    shown = msgspec.json.decode(answer.stdout, type=Running, strict=True)
    assert set(json.loads(answer.stdout)) == set(Running.__struct_fields__)
    assert shown.cli_version == shown.version


def test_the_command_prints_the_schema(daemon_home: "DaemonHome") -> None:
    assert daemon_home.command("status", "--schema").stdout == (DOCS / "status.schema.json").read_text()
