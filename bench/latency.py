"""How soon an appended line is in core.db, and how soon handoff.yaml says so."""

import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from bench.inotify import IN_MODIFY, IN_MOVED_TO, Inotify
from bench.measure import Spread, spread
from bench.table import Row, limit_row, ratio_row
from bench.transcripts import Laid, conversation, lay_out, line, made_out_to
from bench.world import World
from flowd.system.progress import ProgressBar

PROJECTS = 100
ROUNDS, QUICK_ROUNDS = 400, 120
# Longer than the sinks need to finish with the line before, so that each sample stands alone.
REST_S = 0.02
LOST_MS = 2000.0
FLOOR = "raw inotify wake + fsync + rename of a file of the same size, in a process of its own"

# Started as `python -c`: blocks in read(2) on inotify, then does the least that is still durable.
_FLOOR_PROGRAM = """
import os, sys
from bench.inotify import IN_MODIFY, Inotify
directory, size = sys.argv[1], int(sys.argv[2])
watched, data, answers = Inotify(), b"x" * size, {}
for name in os.listdir(directory + "/in"):
    answers[watched.watch(directory + "/in/" + name, IN_MODIFY)] = directory + "/out/" + name
os.write(1, b"ready")
while True:
    for watch, _ in watched.read():
        descriptor = os.open(answers[watch] + "/new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(descriptor, data)
        os.fsync(descriptor)
        os.close(descriptor)
        os.rename(answers[watch] + "/new", answers[watch] + "/file")
"""


class Floor:
    """The floor's process: as many places to append to and to answer in as flowd has projects."""

    def __init__(self, world: World, size: int) -> None:
        self._directory = world.root / "floor"
        for number in range(PROJECTS):
            for name in ("in", "out"):
                (self._directory / name / str(number)).mkdir(parents=True)
        environment = world.environment
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _FLOOR_PROGRAM, str(self._directory), str(size)],
            env=environment,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        self._process.stdout.read(5)

    def sample_ms(self, number: int, text: bytes) -> float:
        """Append *text* in one place; return how long the answer there took."""
        place = str(number % PROJECTS)
        return _until_moved(self._directory / "in" / place / "log", self._directory / "out" / place, text)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


class Samples:
    """Milliseconds from the append to what was watched for."""

    def __init__(self) -> None:
        self.floor: list[float] = []
        self.handoff: list[float] = []
        self.store: list[float] = []


def rows(progress: ProgressBar, *, quick: bool) -> list[Row]:
    """Measure, floor and flowd in turns."""
    with World() as world:
        laid = _world_at_rest(world)
        samples = _measure(world, laid, progress, QUICK_ROUNDS if quick else ROUNDS)
    floor, handoff, store = spread(samples.floor), spread(samples.handoff), spread(samples.store)
    return [
        ratio_row("append -> handoff.yaml", "ms", handoff, floor, FLOOR, 2.5),
        limit_row("append -> handoff.yaml, p99", "ms", _only(handoff.p99), handoff.p99, 10),
        ratio_row("append -> core.db", "ms", store, floor, FLOOR, 2.5),
    ]


def _only(value: float) -> Spread:
    return Spread(value, value, value, value, 1)


def _world_at_rest(world: World) -> list[Laid]:
    chance = random.Random(1)
    templates = [conversation(chance, 40_000) for _ in range(8)]
    laid = lay_out(world.projects, world.work, count=PROJECTS, sessions=PROJECTS, templates=templates)
    world.start()
    world.wait_until_read(sum(one.path.stat().st_size for one in laid))
    time.sleep(1.0)
    return laid


def _measure(world: World, laid: list[Laid], progress: ProgressBar, rounds: int) -> Samples:
    samples, chance = Samples(), random.Random(2)
    size = (laid[0].project / ".flow-guardian" / "handoff.yaml").stat().st_size
    floor = Floor(world, size)
    for number in range(PROJECTS):  # flowd, too, has written each file once before
        floor.sample_ms(number, b"x\n")
    connection = sqlite3.connect(f"file:{world.database}?mode=ro", uri=True, isolation_level=None)
    try:
        for number in range(rounds):
            progress.step("latency", number, rounds)
            # Neighbours in the list are far apart in time, so the pause per project never enters.
            one, other = laid[(2 * number) % len(laid)], laid[(2 * number + 1) % len(laid)]
            text = line(chance)
            samples.floor.append(floor.sample_ms(number, text))
            samples.handoff.append(_until_moved(one.path, one.project / ".flow-guardian", _own(text, one)))
            samples.store.append(_until_stored(connection, world, other, _own(text, other)))
    finally:
        connection.close()
        floor.close()
    return samples


def _own(text: bytes, laid: Laid) -> bytes:
    return made_out_to(text, laid.session_id, laid.project)


def _until_moved(append_to: Path, directory: Path, text: bytes) -> float:
    with Inotify() as watched:
        watched.watch(directory, IN_MOVED_TO)
        started = _append(append_to, text)
        if not watched.wait(LOST_MS):
            raise RuntimeError(f"nothing appeared in {directory} within {LOST_MS:g} ms")
        ended = time.perf_counter()
    time.sleep(REST_S)
    return (ended - started) * 1000


def _until_stored(connection: sqlite3.Connection, world: World, laid: Laid, text: bytes) -> float:
    """Sleep on the write-ahead log; look only when it grew, so that looking takes nothing from the daemon."""
    query = ("select records from flow_sources where session_id = ? and is_subagent = 0", (laid.session_id,))
    before = connection.execute(*query).fetchone()
    with Inotify() as watched:
        watched.watch(f"{world.database}-wal", IN_MODIFY)
        started = _append(laid.path, text)
        deadline = started + LOST_MS / 1000
        # The log is written before its index is: a look that comes between is repeated shortly after.
        while connection.execute(*query).fetchone() == before:
            watched.wait(1)
            if time.perf_counter() > deadline:
                raise RuntimeError(f"{laid.path} was not read within {LOST_MS:g} ms")
        ended = time.perf_counter()
    time.sleep(REST_S)
    return (ended - started) * 1000


def _append(path: Path, text: bytes) -> float:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        started = time.perf_counter()
        os.write(descriptor, text)
    finally:
        with suppress(OSError):
            os.close(descriptor)
    return started
