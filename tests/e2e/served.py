"""A running ``flowd serve`` for programs outside this process."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

FLOWD = [sys.executable, "-m", "flowd"]
DEADLINE_S = 60


class Served(NamedTuple):
    """Where the server is, and its token."""

    port: int
    token: str

    @property
    def url(self) -> str:
        """The MCP endpoint."""
        return f"http://127.0.0.1:{self.port}/mcp"


@contextmanager
def serving(environment: dict[str, str], folder: Path) -> Iterator[Served]:
    """Give the block a server on a free port, and end it afterwards."""
    shown = subprocess.run(
        [*FLOWD, "serve", "--show-token"], env=environment, capture_output=True, text=True, check=True
    )
    log = folder / "serve.log"
    with log.open("w") as errors:
        process = subprocess.Popen([*FLOWD, "serve", "--port", "0"], env=environment, stderr=errors)
    try:
        yield Served(_port_in(log, process), shown.stdout.strip())
    finally:
        process.terminate()
        process.wait(timeout=DEADLINE_S)


def _port_in(log: Path, process: "subprocess.Popen[bytes]") -> int:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        found = re.search(r"listening url=http://127\.0\.0\.1:(\d+)/mcp", log.read_text())
        if found:
            return int(found[1])
        assert process.poll() is None, log.read_text()
        time.sleep(0.02)
    raise AssertionError("flowd serve does not listen")
