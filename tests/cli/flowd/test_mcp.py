"""``flowd mcp`` and ``flowd serve`` before they serve: light to import, clear when they cannot."""

import argparse
import subprocess
import sys

import pytest

from flowd.cli.flowd.mcp import run_mcp, run_serve
from flowd.system.errors import FlowdError


def test_importing_the_verbs_does_not_import_the_sdk() -> None:
    code = (
        "import sys; import flowd.cli.flowd.mcp\n"
        "import flowd.cli.flow.thread, flowd.store.threads.threads\n"
        "print(sorted({'mcp', 'asyncio', 'starlette', 'uvicorn', 'sqlite_utils'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_without_the_extra_one_line_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowd.cli.flowd.mcp.find_spec", lambda _: None)
    for run in (run_mcp, run_serve):
        with pytest.raises(FlowdError, match="needs the extra `mcp`") as refused:
            run(argparse.Namespace(show_token=True))
        assert "[mcp]" in refused.value.hint
        assert "pip install" in refused.value.hint
