"""The table: flowd beside its floor, with the goal and whether it is met."""

from collections.abc import Iterable
from typing import NamedTuple

from bench.measure import Spread


class Row(NamedTuple):
    """One figure. ``goal`` says what is wanted, ``met`` whether it is; None where nothing is wanted."""

    name: str
    unit: str
    flowd: Spread
    floor: Spread | None = None
    floor_name: str = ""
    goal: str = ""
    met: bool | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times the floor flowd takes."""
        return self.flowd.median / self.floor.median if self.floor and self.floor.median else None


def ratio_row(
    name: str, unit: str, flowd: Spread, floor: Spread, floor_name: str, most: float, note: str = ""
) -> Row:
    """Return a row whose goal is at most *most* times the floor, by the medians."""
    met = flowd.median <= most * floor.median
    return Row(name, unit, flowd, floor, floor_name, f"<= {most:g} x", met, note)


def limit_row(name: str, unit: str, flowd: Spread, value: float, most: float, what: str = "") -> Row:
    """Return a row whose goal is that *value*, taken of *flowd*, is at most *most*."""
    goal = f"{what} <= {most:g} {unit}".strip()
    return Row(name, unit, flowd, goal=goal, met=value <= most)


HEADINGS = ("what", "flowd", "p10 .. p90", "p99", "floor", "p10 .. p90", "ratio", "goal", "")


def render(rows: Iterable[Row]) -> str:
    """Return the table as text; notes and the floors' names stand below it."""
    rows = list(rows)
    cells = [HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADINGS))]
    lines = [_line(line, widths) for line in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    lines += ["", *_legend(rows)]
    return "\n".join(lines)


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    first = cells[0].ljust(widths[0])
    middle = [cell.rjust(width) for cell, width in zip(cells[1:7], widths[1:7], strict=True)]
    last = [cell.ljust(width) for cell, width in zip(cells[7:], widths[7:], strict=True)]
    return "  ".join([first, *middle, *last]).rstrip()


def _cells(row: Row) -> tuple[str, ...]:
    floor = row.floor
    return (
        row.name,
        f"{_figure(row.flowd.median)} {row.unit}",
        _range(row.flowd),
        _figure(row.flowd.p99) if row.flowd.size >= 100 else "",
        f"{_figure(floor.median)} {row.unit}" if floor else "",
        _range(floor) if floor else "",
        f"{row.ratio:.2f} x" if row.ratio else "",
        row.goal,
        "" if row.met is None else "pass" if row.met else "MISS",
    )


def _range(values: Spread) -> str:
    return f"{_figure(values.low)} .. {_figure(values.high)}" if values.size > 1 else ""


def _figure(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def _legend(rows: list[Row]) -> list[str]:
    texts: dict[str, list[str]] = {}
    for row in rows:
        for text in (f"floor: {row.floor_name}" if row.floor_name else "", row.note):
            if text:
                texts.setdefault(text, []).append(row.name)
    return [f"{', '.join(names)}: {text}" for text, names in texts.items()]
