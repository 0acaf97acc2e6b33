"""What a hook costs the person who waits for it, beside an interpreter that does nothing."""

import json
import random
import subprocess
import sys
import time

from bench.measure import Spread, spread
from bench.table import Row, limit_row, ratio_row
from bench.transcripts import Laid, conversation, lay_out
from bench.world import World
from flowd.hooks.command import hook_program
from flowd.system.progress import ProgressBar

ROUNDS, QUICK_ROUNDS = 50, 20
TRANSCRIPT_BYTES = 200_000
FLOOR = "python -c pass of the same environment, run in turns with the hook"
GOALS = {"PreCompact": 1.0, "Stop": 1.0}
BUDGETS_MS = {"SessionStart": 1000.0, "PreCompact": 300.0}


def rows(progress: ProgressBar, *, quick: bool) -> list[Row]:
    """Measure with the daemon up, against the floor; then without it, against the budget."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with World() as world:
        templates = [conversation(random.Random(5), TRANSCRIPT_BYTES)]
        (laid,) = lay_out(world.projects, world.work, count=1, sessions=1, templates=templates)
        world.start()
        world.wait_until_read(laid.path.stat().st_size)
        beside = [_beside_floor(world, laid, event, progress, rounds) for event in GOALS]
        world.stop()
        return beside + [_within_budget(world, laid, event, progress, rounds) for event in BUDGETS_MS]


def _beside_floor(world: World, laid: Laid, event: str, progress: ProgressBar, rounds: int) -> Row:
    hooks, floors = [], []
    for number in range(rounds):
        progress.step(f"hook {event}", number, rounds)
        hooks.append(_hook_ms(world, laid, event))
        floors.append(_wall_ms([sys.executable, "-c", "pass"], world, b""))
    return ratio_row(f"hook {event}", "ms", spread(hooks), spread(floors), FLOOR, GOALS[event])


def _within_budget(world: World, laid: Laid, event: str, progress: ProgressBar, rounds: int) -> Row:
    samples = []
    for number in range(rounds):
        progress.step("hook, no daemon", number, rounds)
        samples.append(_hook_ms(world, laid, event))
    taken: Spread = spread(samples)
    return limit_row(f"hook {event}, no daemon", "ms", taken, taken.p99, BUDGETS_MS[event], "p99")


def _hook_ms(world: World, laid: Laid, event: str) -> float:
    command = [sys.executable, "-I", "-S", "-E", str(hook_program())]
    command += [str(world.socket), str(world.root / "state" / "spool"), event]
    told = {
        "hook_event_name": event,
        "session_id": laid.session_id,
        "transcript_path": str(laid.path),
        "cwd": str(laid.project),
        "trigger": "auto",
        "source": "startup",
        "last_assistant_message": "The tests pass now.",
    }
    return _wall_ms(command, world, json.dumps(told).encode())


def _wall_ms(command: list[str], world: World, given: bytes) -> float:
    started = time.perf_counter()
    subprocess.run(command, input=given, env=world.environment, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - started) * 1000
