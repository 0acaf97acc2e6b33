"""``python -m bench``: one table, flowd beside its floor in the same run."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial

from bench import catch_up, extraction, hooks, knowledge, latency, live_sessions, resting, status_round_trip
from bench.table import Row, render
from flowd.system.progress import ProgressBar

Measure = Callable[..., list[Row]]

GROUPS: dict[str, Measure] = {
    "latency": latency.rows,
    "status": status_round_trip.rows,
    "hooks": hooks.rows,
    "resting": resting.rows,
    "catch-up": catch_up.rows,
    "live-sessions": live_sessions.rows,
    "extraction": extraction.rows,
    "knowledge": knowledge.rows,
}


def main() -> int:
    """Measure what was asked for and print the table; 1 when a goal is missed."""
    arguments = _arguments()
    progress, rows, started = ProgressBar(), [], time.monotonic()
    try:
        for name in arguments.only or GROUPS:
            rows += GROUPS[name](progress, quick=arguments.quick)
    except KeyboardInterrupt:
        return 130
    finally:
        progress.clear()
    show = partial(json.dumps, indent=2) if arguments.json else None
    print(show([_plain(row) for row in rows]) if show else render(rows))
    if not arguments.json:
        print(f"\nmeasured in {time.monotonic() - started:.0f} s")
    return int(any(row.met is False for row in rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(GROUPS), help="measure only this group")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--quick", action="store_true", help="fewer samples, in under a minute")
    return parser.parse_args()


def _plain(row: Row) -> dict[str, object]:
    plain = row._asdict() | {"flowd": row.flowd._asdict(), "ratio": row.ratio}
    return plain | {"floor": row.floor._asdict() if row.floor else None}


if __name__ == "__main__":
    sys.exit(main())
