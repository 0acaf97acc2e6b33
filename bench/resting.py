"""What flowd costs while nothing happens, and how soon it is there: 10,000 known transcripts."""

import random
import subprocess
import time
from pathlib import Path

from bench.measure import Spread, rss_mb, spread, usage_of, uss_mb
from bench.table import Row, limit_row, ratio_row
from bench.transcripts import conversation, folder_of, made_out_to, make_project, session_name, set_age
from bench.world import World
from flowd.system.progress import ProgressBar

PROJECTS, SESSIONS, WITH_SUBAGENT = 200, 48, 2
IDLE_S, QUICK_IDLE_S = 20, 8
STARTS, QUICK_STARTS = 7, 3
RECONCILE_EVERY_S = 300
DAY_S = 86_400
FIND = "find projects -name '*.jsonl' -printf '%s %T@ %p\\n', the whole process"


def rows(progress: ProgressBar, *, quick: bool) -> list[Row]:
    """Have 10,000 transcripts read once, then start again and again beside ``find``, then rest."""
    with World() as world:
        size = _fill(world, progress)
        world.start()
        world.wait_until_read(size)
        time.sleep(1.0)
        after_reading = uss_mb(world.pid)
        world.stop()
        starts = _starts(world, progress, QUICK_STARTS if quick else STARTS)
        return [*starts.rows(), *_at_rest(world, progress, QUICK_IDLE_S if quick else IDLE_S, after_reading)]


class Starts:
    """Seconds of each start: until the socket answered, and until the disk had been compared."""

    def __init__(self) -> None:
        self.answering: list[float] = []
        self.scan: list[float] = []
        self.find: list[float] = []

    def rows(self) -> list[Row]:
        """Return the rows about starting."""
        scan, find, answering = spread(self.scan), spread(self.find), spread(self.answering)
        note = (
            "flowd's walk, stat and comparison of every transcript, with a watch set on every directory; "
            "without the interpreter, the imports and loading the positions from core.db"
        )
        return [
            ratio_row("start-up scan, 10,000 known", "ms", scan, find, FIND, 2, note),
            Row("process start -> socket answers", "ms", answering),
        ]


def _fill(world: World, progress: ProgressBar) -> int:
    """Lay out 200 projects with 48 sessions each, two of them with a subagent: 1,000 directories."""
    chance = random.Random(4)
    templates = [conversation(chance, 3000) for _ in range(20)]
    total = number = 0
    for project_number in range(PROJECTS):
        progress.step("laying out", project_number, PROJECTS)
        project = make_project(world.work, project_number)
        folder = folder_of(world.projects, project)
        for position in range(SESSIONS):
            number += 1
            session_id = session_name(number)
            text = made_out_to(templates[number % len(templates)], session_id, project)
            paths = [folder / f"{session_id}.jsonl"]
            if position < WITH_SUBAGENT:
                (folder / session_id / "subagents").mkdir(parents=True)
                paths.append(folder / session_id / "subagents" / f"agent-{number:08x}.jsonl")
            for path in paths:
                path.write_bytes(text)
                set_age(path, DAY_S * (1 + 80 * chance.random()))
                total += len(text)
    return total


def _starts(world: World, progress: ProgressBar, rounds: int) -> Starts:
    starts = Starts()
    for number in range(rounds):
        progress.step("starting", number, rounds)
        starts.find.append(_find_ms(world.projects))
        starts.answering.append(world.start() * 1000)
        starts.scan.append(_scan_ms(world))
        if number + 1 < rounds:
            world.stop()
    return starts


def _find_ms(projects: Path) -> float:
    started = time.perf_counter()
    subprocess.run(
        ["find", projects, "-name", "*.jsonl", "-printf", "%s %T@ %p\\n"],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return (time.perf_counter() - started) * 1000


def _scan_ms(world: World) -> float:
    deadline = time.monotonic() + 10
    while not (scan_s := world.status()["reconcile_s"]):
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing was compared within 10 s\n{world.log_tail()}")
        time.sleep(0.02)
    return float(scan_s) * 1000


def _at_rest(world: World, progress: ProgressBar, seconds: int, after_reading: float) -> list[Row]:
    time.sleep(2.0)
    scan_s = world.status()["reconcile_s"]
    before, started = usage_of(world.pid), time.monotonic()
    for second in range(seconds):
        progress.step("resting", second, seconds)
        time.sleep(1.0)
    after, window_s = usage_of(world.pid), time.monotonic() - started
    # The slow comparison of everything does not fall into so short a window: its share is added.
    cpu = 100 * ((after.cpu_s - before.cpu_s) / window_s + scan_s / RECONCILE_EVERY_S)
    wakeups = (after.wakeups - before.wakeups) / window_s
    uss, rss = uss_mb(world.pid), rss_mb(world.pid)
    note = f"over {seconds} s, the share of the comparison every {RECONCILE_EVERY_S} s added"
    return [
        limit_row("USS at rest, 10,000 known", "MB", _one(uss), uss, 40),
        limit_row("USS at rest, after reading them", "MB", _one(after_reading), after_reading, 40),
        Row("RSS at rest, 10,000 known", "MB", _one(rss)),
        limit_row("CPU at rest", "%", _one(cpu), cpu, 0.05)._replace(note=note),
        limit_row("wake-ups at rest", "/s", _one(wakeups), wakeups, 1),
    ]


def _one(value: float) -> Spread:
    return spread([value])
