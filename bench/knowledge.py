"""The knowledge graph at 100,000 nodes, and the finder of blocks on files made to hold it up."""

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import spread
from bench.table import Row, limit_row
from flowd.handoff.block.find import blocks_in_markdown
from flowd.model.block import FoundBlock, Gotcha, HandoffBlock, Level, Pattern, TaskRef, digest, stable_id
from flowd.store.database import Database
from flowd.store.knowledge.graph import Provenance
from flowd.store.knowledge.intake import keep_block
from flowd.store.knowledge.search import NodeQuery, search
from flowd.store.migrations import migrate
from flowd.system.progress import ProgressBar

NODES, QUICK_NODES = 100_000, 20_000
PER_BLOCK = 10
PROJECTS = 20
ROUNDS = 20
LARGEST = 1_000_000
SYLLABLES = [first + last for first in "bdfgklmnprstvz" for last in ("a", "en", "i", "or", "u")]
VOCABULARY = 40_000
LONG_BODY = "outcome: completed\ngotchas:\n" + "  - issue: The queue is slow\n    severity: high\n" * 250
HOSTILE = {
    "1 MB of empty lines": "## Handoff\n" + "\n" * LARGEST,
    "1 MB of handoff headings": "## Handoff\n" * 90_000,
    "1 MB of opening fences": "## Handoff\n```yaml\noutcome: completed\n" * 25_000,
    "1 MB of small blocks": "# Task 1: x\n## Handoff\n```yaml\noutcome: completed\n```\n" * 18_000,
    "1 MB of large blocks": f"## Handoff\n{LONG_BODY}\n" * 70,
    "30 KB of open brackets": "## Handoff\noutcome: completed\ngotchas: " + "[" * 30_000,
    "1 MB of prose": "## Handoff\n" + "the outcome: of `this` # and that\n" * 29_000,
}
QUERIES = {
    "one rare word": NodeQuery(words="zuzuvor"),
    "a word of every node": NodeQuery(words="queue"),
    "the start of many words": NodeQuery(words="be"),
    "three words": NodeQuery(words="queue slow bend"),
    "a word in one project": NodeQuery(words="queue", project="/project/7"),
    "a word, type and severity": NodeQuery(words="queue", type="gotcha", severity="high"),
    "a tag": NodeQuery(tag="tag-3"),
}


def rows(progress: ProgressBar, *, quick: bool = False) -> list[Row]:
    """Return the figures of finding, inserting, growing and searching."""
    nodes = QUICK_NODES if quick else NODES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "core.db"
        migrate(path)
        database = Database(path, durable=False)
        try:
            return [*_finding(progress), *_growing(database, path, nodes, progress), *_searching(database)]
        finally:
            database.close()


def _finding(progress: ProgressBar) -> list[Row]:
    found = []
    for done, (name, text) in enumerate(HOSTILE.items()):
        progress.step("hostile files", done, len(HOSTILE))
        times = _milliseconds(lambda text=text[:LARGEST]: blocks_in_markdown(text))  # type: ignore[misc]
        found.append(limit_row(f"blocks in {name}", "ms", spread(times), min(times), 50, "best"))
    return found


def _growing(database: Database, path: Path, nodes: int, progress: ProgressBar) -> list[Row]:
    chance = random.Random(8)
    grown = []
    blocks = nodes // PER_BLOCK
    for quarter in range(4):
        progress.step("inserting blocks", quarter, 4)
        numbers = range(quarter * blocks // 4, (quarter + 1) * blocks // 4)
        taken = spread([_insert(database, chance, number) for number in numbers])
        name = f"insert of a block, to {(quarter + 1) * nodes // 4} nodes"
        row = limit_row(name, "ms", taken, taken.median, 5, "median")
        grown.append(row._replace(note=f"core.db has then {_megabytes(path):.0f} MB"))
    return grown


def _searching(database: Database) -> list[Row]:
    found = []
    for name, query in QUERIES.items():
        times = _milliseconds(lambda query=query: search(database, query))  # type: ignore[misc]
        found.append(limit_row(f"search for {name}", "ms", spread(times), spread(times).median, 50, "median"))
    return found


def _milliseconds(work: Callable[[], object]) -> list[float]:
    return [_timed(work) for _ in range(ROUNDS)]


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def _insert(database: Database, chance: random.Random, number: int) -> float:
    found = _found(chance, number)
    place = Provenance(
        project=f"/project/{number % PROJECTS}", session_id="s", file=f"tasks/{number}.md", at=number
    )
    if database.wal_is_large:  # the daemon does it beside the work as well
        database.checkpoint_wal()
    return _timed(lambda: keep_block(database, found, place))


def _found(chance: random.Random, number: int) -> FoundBlock:
    severities: tuple[Level, ...] = ("high", "low")
    patterns = [_sentence(chance) for _ in range(PER_BLOCK // 2)]
    gotchas = [_sentence(chance) for _ in range(PER_BLOCK // 2 - 1)]
    block = HandoffBlock(
        outcome="completed",
        patterns_discovered=tuple(
            Pattern(id=stable_id("pattern", text), pattern=text, applies_to=(f"tag-{chance.randrange(300)}",))
            for text in patterns
        ),
        gotchas=tuple(
            Gotcha(
                id=stable_id("gotcha", text), issue=text, mitigation="Wait", severity=severities[number % 2]
            )
            for text in gotchas
        ),
    )
    task = TaskRef(id=str(number), name="Bench")
    return FoundBlock(line=1, digest=digest(str(number)), block=block, task=task)


def _sentence(chance: random.Random) -> str:
    return f"The queue is slow when {' '.join(_word(chance) for _ in range(8))}"


def _word(chance: random.Random) -> str:
    """Return one of some 40,000 words, the common ones often, as in a language."""
    rank = int(chance.paretovariate(0.7)) % VOCABULARY
    parts: list[str] = []
    while rank or not parts:
        rank, part = divmod(rank, len(SYLLABLES))
        parts.append(SYLLABLES[part])
    return "".join(parts)


def _megabytes(path: Path) -> float:
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*")) / 1e6
