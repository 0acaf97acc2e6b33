"""Real daemon processes with something planted in them before they start."""

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

RUN = "\nimport sys\nfrom flowd.cli.flowd import main\nsys.exit(main(['run']))\n"


def start_with(home: "DaemonHome", plant: str) -> "subprocess.Popen[bytes]":
    """Start a daemon that runs *plant* first; return it once it answers."""
    home.process = subprocess.Popen([sys.executable, "-c", plant + RUN], env=home.env)
    home.wait_for(lambda status: True)
    return home.process


# A fourth sink beside the real ones; ``{body}`` is what its ``accept`` does.
SINK = """
import time
from flowd.daemon import supervisor
from flowd.sinks.registry import make_sinks

class Planted:
    name, debounce_s, low_latency = "planted", 0.0, True
    times = 0
    def key(self, fact):
        {key}
        return fact.session_id
    def accept(self, fact):
        {accept}
    def flush(self):
        pass

supervisor.make_sinks = lambda *arguments: (*make_sinks(*arguments), Planted())
"""


def sink(*, key: str = "pass", accept: str = "pass") -> str:
    """Return a plant that adds a sink."""
    return SINK.format(key=key, accept=accept)
