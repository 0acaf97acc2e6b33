"""Two hundred sessions that write at once: flowd's processor time beside a bare loop that only parses."""

import os
import random
import subprocess
import sys
import time

from bench.measure import spread, usage_of
from bench.table import Row, ratio_row
from bench.transcripts import Laid, conversation, lay_out, line, made_out_to
from bench.world import World
from flowd.system.progress import ProgressBar

SESSIONS, LINES_A_SECOND = 200, 20
WINDOW_S, QUICK_WINDOW_S = 5, 3
ROUNDS, QUICK_ROUNDS = 4, 2
FLOOR = "raw inotify + read + decode of the same lines in one loop, nothing kept"

# Started as `python -c`: every change is read to the end of its file and decoded, and that is all.
_FLOOR_PROGRAM = """
import os, sys
from bench.inotify import IN_MODIFY, Inotify
from flowd.extractors.transcript.records import decode_lines
watched, directories, offsets = Inotify(), {}, {}
buffer = bytearray(1 << 20)
for directory, _, files in os.walk(sys.argv[1]):
    directories[watched.watch(directory, IN_MODIFY)] = os.fsencode(directory)
    for name in files:
        offsets[os.fsencode(f"{directory}/{name}")] = os.stat(f"{directory}/{name}").st_size
os.write(1, b"ready")
while True:
    for path in {directories[watch] + b"/" + name for watch, name in watched.read()}:
        descriptor = os.open(path, os.O_RDONLY)
        filled = os.preadv(descriptor, [buffer], offsets[path])
        os.close(descriptor)
        end = buffer.rfind(b"\\n", 0, filled) + 1
        decode_lines(bytes(memoryview(buffer)[:end]), 1)
        offsets[path] += end
"""


def rows(progress: ProgressBar, *, quick: bool) -> list[Row]:
    """Let the same lines be written where flowd reads and where the floor reads, in turns."""
    rounds, window_s = (QUICK_ROUNDS, QUICK_WINDOW_S) if quick else (ROUNDS, WINDOW_S)
    flowd, floor = [], []
    with World() as world, World() as bare:
        laid, bare_laid = _laid(world), _laid(bare)
        world.start()
        size = world.wait_until_read(sum(one.path.stat().st_size for one in laid))["counts"]["bytes"]
        process = _start_floor(bare)
        try:
            for number in range(rounds):
                progress.step("live sessions", number, rounds)
                before_s = usage_of(process.pid).cpu_s
                _write(bare_laid, window_s)
                floor.append(100 * (usage_of(process.pid).cpu_s - before_s) / window_s)
                before_s = usage_of(world.pid).cpu_s
                size += _write(laid, window_s)
                # What was held back to be done together belongs to the bill.
                world.wait_until_read(size, look_s=0.5)
                flowd.append(100 * (usage_of(world.pid).cpu_s - before_s) / window_s)
        finally:
            process.kill()
            process.communicate()
    name = f"{SESSIONS} sessions x {LINES_A_SECOND} lines/s, CPU"
    return [ratio_row(name, "%", spread(flowd), spread(floor), FLOOR, 2)]


def _laid(world: World) -> list[Laid]:
    templates = [conversation(random.Random(6), 20_000)]
    return lay_out(world.projects, world.work, count=SESSIONS, sessions=SESSIONS, templates=templates)


def _start_floor(world: World) -> "subprocess.Popen[bytes]":
    environment = world.environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        [sys.executable, "-c", _FLOOR_PROGRAM, str(world.projects)], env=environment, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.read(5)
    return process


def _write(laid: list[Laid], window_s: int) -> int:
    """Append one line to one session after the other, evenly over the window."""
    chance = random.Random(7)
    lines = [line(chance) for _ in range(200)]
    descriptors = [os.open(one.path, os.O_WRONLY | os.O_APPEND) for one in laid]
    texts = [
        [made_out_to(text, one.session_id, one.project) for text in chance.sample(lines, 4)] for one in laid
    ]
    total, count = 0, SESSIONS * LINES_A_SECOND * window_s
    started = time.perf_counter()
    for number in range(count):
        which = number % SESSIONS
        total += os.write(descriptors[which], texts[which][number // SESSIONS % 4])
        ahead_s = started + number / (SESSIONS * LINES_A_SECOND) - time.perf_counter()
        if ahead_s > 0.0002:
            time.sleep(ahead_s)
    for descriptor in descriptors:
        os.close(descriptor)
    return total
