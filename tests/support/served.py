"""A running ``flowd serve`` for programs outside this process."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.waiting import DEADLINE_S, wait_until

LISTENING = re.compile(r"listening url=http://127\.0\.0\.1:(\d+)/mcp")
FLOWD = [sys.executable, "-m", "flowd"]


class Served(NamedTuple):
    """A running ``flowd serve``."""

    process: "subprocess.Popen[str]"
    port: int
    token: str
    log: Path

    @property
    def url(self) -> str:
        """The MCP endpoint."""
        return f"http://127.0.0.1:{self.port}/mcp"


@contextmanager
def serving(environment: dict[str, str], folder: Path) -> Iterator[Served]:
    """Yield a server on a free port; end it afterwards."""
    shown = subprocess.run(
        [*FLOWD, "serve", "--show-token"], env=environment, capture_output=True, text=True, check=True
    )
    log = folder / "serve.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*FLOWD, "serve", "--port", "0"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield Served(process, _port_in(log, process), shown.stdout.strip(), log)
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE_S)


def _port_in(log: Path, process: "subprocess.Popen[str]") -> int:
    wait_until(lambda: LISTENING.search(log.read_text()) or process.poll() is not None, "flowd serve listens")
    found = LISTENING.search(log.read_text())
    assert found, log.read_text()
    return int(found[1])
