"""How soon ``status`` is answered, at rest and while hundreds of megabytes are being read."""

import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

from bench.measure import Spread, spread
from bench.table import Row, limit_row, ratio_row
from bench.transcripts import conversation, lay_out
from bench.world import World
from flowd.system.progress import ProgressBar

SESSIONS = 60
ROUNDS, QUICK_ROUNDS = 2000, 500
BUSY_MB, QUICK_BUSY_MB = 200, 60
BUSY_PAUSE_S = 0.002
REQUEST = b'{"verb":"status"}\n'
FLOOR = "blocking echo server in a process of its own, answering as many bytes"

# Started as `python -c`: one connection after the other, one line in, the same bytes out.
_FLOOR_PROGRAM = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
os.write(1, b"ready")
answer = b"x" * (int(sys.argv[2]) - 1) + b"\\n"
while True:
    connection, _ = listener.accept()
    while connection.recv(65536):
        connection.sendall(answer)
    connection.close()
"""


def rows(progress: ProgressBar, *, quick: bool) -> list[Row]:
    """Measure at rest against the floor, then during a catch-up."""
    with World() as world:
        laid = lay_out(
            world.projects, world.work, count=SESSIONS, sessions=SESSIONS, templates=_templates(8, 20_000)
        )
        world.start()
        world.wait_until_read(sum(one.path.stat().st_size for one in laid))
        flowd, floor = _at_rest(world, progress, QUICK_ROUNDS if quick else ROUNDS)
    busy = _catching_up(progress, QUICK_BUSY_MB if quick else BUSY_MB)
    return [
        ratio_row("status round trip", "ms", flowd, floor, FLOOR, 4),
        limit_row("status during catch-up", "ms", busy, busy.p99, 5, "p99"),
    ]


def _templates(count: int, size: int) -> list[bytes]:
    chance = random.Random(3)
    return [conversation(chance, size) for _ in range(count)]


def _at_rest(world: World, progress: ProgressBar, rounds: int) -> tuple[Spread, Spread]:
    size = len(_exchange(world.socket))
    address = world.root / "run" / "floor.sock"
    server = subprocess.Popen(
        [sys.executable, "-c", _FLOOR_PROGRAM, str(address), str(size)], stdout=subprocess.PIPE
    )
    flowd, floor = [], []
    try:
        assert server.stdout is not None
        server.stdout.read(5)
        for number in range(rounds):
            progress.step("status", number, rounds)
            floor.append(_timed_ms(address))
            flowd.append(_timed_ms(world.socket))
    finally:
        server.kill()
        server.communicate()
    return spread(flowd), spread(floor)


def _catching_up(progress: ProgressBar, megabytes: int) -> Spread:
    """Ask again and again from the first byte of a catch-up to its last."""
    with World() as world:
        world.start()
        world.stop()
        templates = _templates(8, 500_000)
        laid = lay_out(world.projects, world.work, count=20, sessions=megabytes * 2, templates=templates)
        size = sum(one.path.stat().st_size for one in laid)
        world.start()
        samples: list[float] = []
        while not samples or len(samples) % 50 or world.status()["counts"]["bytes"] < size:
            samples.append(_timed_ms(world.socket))
            progress.step("status, busy", len(samples), 2000)
            time.sleep(BUSY_PAUSE_S)
    return spread(samples)


def _timed_ms(address: Path) -> float:
    started = time.perf_counter()
    _exchange(address)
    return (time.perf_counter() - started) * 1000


def _exchange(address: Path) -> bytes:
    """Connect, ask, and read the whole answer, as the command line does."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(os.fspath(address))
        connection.sendall(REQUEST)
        answer = bytearray()
        while not answer.endswith(b"\n"):
            answer += connection.recv(1 << 16)
    return bytes(answer)
