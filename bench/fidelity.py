"""``python -m bench.fidelity``: how true the extracted state is, in one table; needs ../shared/corpus.

Three measures, each with a tuning part and a held-out part, beside the naive and the random baseline:
``gold`` (a session's state against labels), ``compaction`` (against the summary that the client's model
wrote of the same session) and ``stories`` (what each next session of a series needed to be told).
"""

import argparse
import gzip
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

CORPUS = Path(os.environ.get("FLOWD_CORPUS") or Path(__file__).resolve().parents[2] / "shared" / "corpus")
BIN = Path(sys.executable).parent
DRAWS = 5
# Fixed before their labels were looked at; rules are tuned on the others only.
HELD_OUT = {
    "gold": frozenset(f"dev-{number:02}" for number in range(2, 18, 3)),
    "compaction": frozenset(f"compact-{number:02}" for number in range(0, 40, 4)),
    "stories": frozenset({"cli-chunking", "omp-languages"}),
}
STORY_FIGURES = ("total", "needed", "direct", "carried", "past", "stale", "recall", "precision")
STATE_FIGURES = ("total", "goal", "now", "files", "insights", "next")

State = dict[str, Any]
Scores = dict[str, dict[str, float]]


class Part(NamedTuple):
    """The mean figures of one program on one part of a measure."""

    measure: str
    part: str
    program: str
    figures: dict[str, float]


def gold() -> list[Part]:
    """Score states against the gold labels; naive and random take their words from the same lines."""
    scorer, csr = _module(CORPUS / "score.py"), _module(CORPUS / "compaction" / "csr.py")
    labels = {path.stem: json.loads(path.read_text()) for path in sorted((CORPUS / "gold").glob("*.json"))}
    cuts = {
        name: int(cut)
        for name, cut in re.findall(r"^\| ([\w-]+) \|(?:[^|]*\|){4} (\d+) \|", _sources(), re.MULTILINE)
    }
    lines = {name: (CORPUS / "transcripts" / f"{name}.jsonl").read_text().splitlines() for name in labels}
    sessions = {name: csr.Session(lines[name][: cuts[name]]) for name in labels}

    def scored(predict: Callable[[str], State]) -> Scores:
        return {name: scorer.score(predict(name), label) for name, label in labels.items()}

    def extracted(name: str) -> State:
        return _extract(CORPUS / "transcripts" / f"{name}.jsonl", cuts[name])

    return [
        *_parts("gold", "flowd", scored(extracted)),
        *_parts("gold", "naive", scored(lambda name: csr.naive_state(sessions[name]))),
        *_parts("gold", "random", _drawn(lambda seed: scored(lambda n: _random(csr, sessions[n], seed)))),
    ]


def compaction() -> list[Part]:
    """Score states against the summaries that the client's model wrote at the same place."""
    csr = _module(CORPUS / "compaction" / "csr.py")
    data = CORPUS / "compaction"
    summaries = csr.read_summaries(data)
    weight, sessions = csr.term_weights(summaries), csr.read_sessions(data, summaries)

    def scored(predict: Callable[[str], State]) -> Scores:
        return {name: csr.score(predict(name), summaries[name], weight) for name in sessions}

    def extracted(name: str) -> State:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"{name}.jsonl")
            path.write_bytes(gzip.decompress((data / "sessions" / f"{name}.jsonl.gz").read_bytes()))
            return _extract(path)

    return [
        *_parts("compaction", "flowd", scored(extracted)),
        *_parts("compaction", "naive", scored(lambda name: csr.naive_state(sessions[name]))),
        *_parts("compaction", "random", _drawn(lambda s: scored(lambda n: _random(csr, sessions[n], s)))),
    ]


def stories() -> list[Part]:
    """Play each series of sessions to a fresh daemon and score what each next session is told."""
    driver, scorer = CORPUS / "stories" / "run_flowd.py", _module(CORPUS / "stories" / "score_stories.py")
    series = json.loads((CORPUS / "stories" / "labels.json").read_text())["series"]
    parts: list[Part] = []
    for program, options in (("flowd", ["--bin", str(BIN)]), ("naive", ["--baseline"])):
        with tempfile.TemporaryDirectory() as told:
            subprocess.run([sys.executable, driver, *options, "--out", told], check=True, stdout=sys.stderr)
            counts = {name: scorer.score_series(name, one, Path(told))[0] for name, one in series.items()}
        parts += _parts("stories", program, {name: scorer.rates(count) for name, count in counts.items()})
    return parts


MEASURES = {"gold": gold, "compaction": compaction, "stories": stories}


def main() -> int:
    """Print the table; 1 if the corpus is not there."""
    parser = argparse.ArgumentParser(prog="python -m bench.fidelity", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(MEASURES), help="run only this measure")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    if not CORPUS.is_dir():
        print(f"no corpus at {CORPUS}: set FLOWD_CORPUS to the directory that holds it", file=sys.stderr)
        return 1
    parts = [part for name in arguments.only or MEASURES for part in MEASURES[name]()]
    if arguments.json:
        print(json.dumps([part._asdict() for part in parts], indent=2))
    else:
        print("\n".join(_table(parts)))
    return 0


def _table(parts: list[Part]) -> list[str]:
    lines: list[str] = []
    columns: tuple[str, ...] = ()
    for part in parts:
        wanted = STORY_FIGURES if part.measure == "stories" else STATE_FIGURES
        if wanted != columns:
            columns = wanted
            lines += ["", f"{'':<32}" + "".join(f"{name:>11}" for name in columns)]
        cells = (f"{part.figures[name]:>11.3f}" if name in part.figures else f"{'-':>11}" for name in columns)
        lines.append(f"{part.measure:<12}{part.part:<10}{part.program:<10}" + "".join(cells))
    return lines[1:]


def _parts(measure: str, program: str, scores: Scores) -> list[Part]:
    held_out = HELD_OUT[measure]
    split = {
        "tuning": [row for name, row in scores.items() if name not in held_out],
        "held out": [row for name, row in scores.items() if name in held_out],
    }
    return [Part(measure, part, program, _means(rows)) for part, rows in split.items()]


def _means(rows: Iterable[dict[str, float]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            if value == value:  # a figure that does not apply is no number
                values.setdefault(name, []).append(value)
    return {name: statistics.fmean(found) for name, found in values.items()}


def _drawn(scored: Callable[[int], Scores]) -> Scores:
    """Return the mean of several draws."""
    draws = [scored(seed) for seed in range(DRAWS)]
    return {name: _means(draw[name] for draw in draws) for name in draws[0]}


def _random(csr: Any, session: Any, seed: int) -> State:
    """Return a random state whose insights are random passages of the same session."""
    state: State = csr.random_state(session, seed)
    return state | {"insights": csr.random_passages(session, seed)}


def _extract(path: Path, until_line: int = 0) -> State:
    cut = ["--until-line", str(until_line)] if until_line else []
    done = subprocess.run(
        [BIN / "flow", "extract", path, *cut, "--json"], check=True, capture_output=True, text=True
    )
    state: State = json.loads(done.stdout)
    return state


def _sources() -> str:
    return (CORPUS / "SOURCES.md").read_text()


def _module(path: Path) -> Any:
    """Return the scorer at *path* as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # csr.py defines classes that look themselves up there
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
