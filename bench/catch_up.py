"""How fast flowd reads what was written while it was away, and in how much memory."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench.measure import peak_mb, run_measured, spread
from bench.table import Row
from bench.transcripts import conversation, lay_out
from bench.world import World
from flowd.system.progress import ProgressBar

MEGABYTES, QUICK_MEGABYTES = 300, 60
ROUNDS, QUICK_ROUNDS = 3, 2
PROJECTS = 40
FLOOR = "reading and decoding the same records alone (records.decode_lines), a whole process"
PEER = "ccusage daily --offline --json (native, all cores), a whole process"
# The newest whose native program was there for every platform when this was written.
PEER_PACKAGE = "ccusage@20.0.24"
INSTALL_DEADLINE_S = 60

# Started as `python -c`: what must be done at the least to know what the lines say.
_FLOOR_PROGRAM = """
import os, sys
from flowd.daemon.reading.tailer import LineReader
from flowd.extractors.transcript.records import decode_lines
from flowd.store.sources import Source
reader = LineReader()
for directory, _, files in os.walk(sys.argv[1]):
    for name in files:
        descriptor = os.open(directory + "/" + name, os.O_RDONLY)
        source = Source(device=0, inode=0, fingerprint="", path=name)
        for chunk in reader.chunks(descriptor, source):
            decode_lines(chunk.data, 1)
            source.offset = chunk.next_offset
        os.close(descriptor)
"""


class Samples:
    """Megabytes a second and peak megabytes, for each who read."""

    def __init__(self) -> None:
        self.speed: dict[str, list[float]] = {}
        self.memory: dict[str, list[float]] = {}

    def add(self, who: str, megabytes: float, seconds: float, peak: float) -> None:
        """Note one reading of everything."""
        self.speed.setdefault(who, []).append(megabytes / seconds)
        self.memory.setdefault(who, []).append(peak)

    def rows(self) -> list[Row]:
        """Return the rows; the goals are those against the peer, where it could be had."""
        speed = {who: spread(values) for who, values in self.speed.items()}
        memory = {who: spread(values) for who, values in self.memory.items()}
        found = [
            Row("catch-up", "MB/s", speed["flowd"], speed["floor"], FLOOR),
            Row("catch-up, peak memory", "MB", memory["flowd"], memory["floor"], FLOOR),
        ]
        if "peer" in speed:
            fast = speed["flowd"].median >= speed["peer"].median
            small = memory["flowd"].median <= memory["peer"].median / 2
            found += [
                Row("catch-up / ccusage", "MB/s", speed["flowd"], speed["peer"], PEER, ">= 1 x", fast),
                Row("peak memory / ccusage", "MB", memory["flowd"], memory["peer"], PEER, "<= 0.5 x", small),
            ]
        return found


def rows(progress: ProgressBar, *, quick: bool) -> list[Row]:
    """Read everything several times: floor, flowd and, where it can be had, ccusage in turns."""
    samples = Samples()
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with World() as world:
        size = _fill(world, QUICK_MEGABYTES if quick else MEGABYTES)
        peer = None if quick else _install_peer(world.root / "npm", progress)
        for number in range(rounds):
            progress.step("catching up", number, rounds)
            floor = run_measured(
                [sys.executable, "-c", _FLOOR_PROGRAM, str(world.projects)], _with_path(world)
            )
            samples.add("floor", size / 1e6, floor.wall_s, floor.peak_mb)
            samples.add("flowd", size / 1e6, *_flowd(world, size))
            if peer:
                done = run_measured([str(peer), "daily", "--offline", "--json"], world.environment)
                samples.add("peer", size / 1e6, done.wall_s, done.peak_mb)
    return samples.rows()


def _fill(world: World, megabytes: int) -> int:
    chance = random.Random(5)
    templates = [
        conversation(chance, size) for size in (60_000, 200_000, 400_000, 700_000, 1_400_000, 3_000_000)
    ]
    average = sum(map(len, templates)) / len(templates)
    sessions = round(megabytes * 1e6 / average)
    laid = lay_out(world.projects, world.work, count=PROJECTS, sessions=sessions, templates=templates)
    return sum(one.path.stat().st_size for one in laid)


def _with_path(world: World) -> dict[str, str]:
    return world.environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _flowd(world: World, size: int) -> tuple[float, float]:
    """Return the seconds from the start of the process to the last fact delivered, and the peak memory."""
    _forget(world)
    started = time.perf_counter()
    world.start()
    world.wait_until_read(size, look_s=0.05)
    wall_s = time.perf_counter() - started
    peak = peak_mb(world.pid)
    world.stop()
    return wall_s, peak


def _forget(world: World) -> None:
    """Leave an empty core.db and no handoff, as after a first start on a machine without transcripts."""
    shutil.rmtree(world.database.parent)
    world.database.parent.mkdir()
    for folder in world.work.glob("*/.flow-guardian"):
        shutil.rmtree(folder)
    subprocess.run(
        [sys.executable, "-m", "flowd.store.migrations", str(world.database)],
        env=world.environment,
        check=True,
        capture_output=True,
    )


def _install_peer(directory: Path, progress: ProgressBar) -> Path | None:
    """Install ccusage from npm; None without npm, without network, or when it does not run here."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    progress.step("installing ccusage", 0, 1)
    program = directory / "node_modules" / ".bin" / "ccusage"
    install = [
        npm,
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--prefix",
        str(directory),
        PEER_PACKAGE,
    ]
    try:
        for command in (install, [str(program), "--version"]):
            subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_DEADLINE_S)
    except (subprocess.SubprocessError, OSError):
        return None
    return program
