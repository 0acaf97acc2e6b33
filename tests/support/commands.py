"""``flow`` in this process, as a person or an agent types it."""

import argparse
import json
from types import ModuleType
from typing import Any

import pytest

from flowd.cli.flow import main


def run_verb(verb: ModuleType, *words: object) -> int:
    """Run one verb of ``flow`` without the error handling of the command around it."""
    parser = argparse.ArgumentParser(prog="flow")
    verb.add_parser(parser.add_subparsers())
    arguments = parser.parse_args([verb.__name__.rpartition(".")[2], *map(str, words)])
    return int(arguments.run(arguments))


class FlowCommand:
    """Runs ``flow`` in the working directory and returns what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def flow(self, *words: str, code: int = 0) -> str:
        """Return the output of a command that ends with *code*; its errors if it failed."""
        self._capsys.readouterr()
        assert main(words) == code
        printed = self._capsys.readouterr()
        return printed.out if code == 0 else printed.err

    def answer(self, *words: str) -> Any:
        """Return the decoded ``--json`` output."""
        return json.loads(self.flow(*words, "--json"))
