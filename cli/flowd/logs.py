"""``flowd logs``: print the daemon's log, and follow it across rotations."""

import argparse
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import msgspec

from flowd.cli.output import home_relative, paint, visible
from flowd.cli.parser import add_verb, count_of
from flowd.config.paths import resolve_paths
from flowd.system.errors import FlowdError
from flowd.system.times import parse_time

EXAMPLES = """\
  flowd logs               the last 20 events
  flowd logs -f            follow it
  flowd logs -n 500 --json | jq 'select(.level == "error")'
"""
LOG_NAME = "flowd.log"
POLL_S = 0.2
# What the most frequent events are called on a terminal.
SENTENCES = {
    "started": "flowd {version} started (pid {pid})",
    "stopping": "stopping ({signal})",
    "stopped": "stopped",
    "session_seen": "session {session} appeared ({project})",
    "session_briefed": "session {session} was briefed with {bytes} bytes ({project})",
    "written": "{what} written ({project})",
    "settings_reloaded": "settings applied from {file}",
    "settings_not_reloaded": "settings not applied: {error}",
    "delivery_failed": "{sink} failed, next try in {retry_in_s} s: {error}",
    "thread_restarted": "thread {thread} restarted",
    "transcript_unreadable": "{path} cannot be read: {error}",
}
COLOURS = {"warning": "yellow", "error": "red", "critical": "red"}


def add_parser(subparsers: Any) -> None:
    """Add ``flowd logs``."""
    parser = add_verb(
        subparsers,
        "logs",
        "show the log",
        "Print the daemon's log, in your time zone.",
        run,
        examples=EXAMPLES,
        json="print JSON lines",
    )
    parser.add_argument("-f", "--follow", action="store_true", help="follow the log until Ctrl-C")
    parser.add_argument(
        "-n", "--lines", type=count_of, default=20, metavar="N", help="the last N events (default 20)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the last events, with ``--follow`` also the new ones."""
    file = resolve_paths().log_dir / LOG_NAME
    if not file.exists():
        raise FlowdError(f"no log at {file} yet", hint="run `flowd start`")
    with _open(file) as stream:
        for line in deque(chain(_previous_lines(file), stream), maxlen=arguments.lines):
            _print(line, as_json=arguments.json)
        if arguments.follow:
            for line in _new_lines(file, stream):
                _print(line, as_json=arguments.json)
    return 0


def readable(line: str) -> str:
    """Return one stored event as a line of text."""
    try:
        event = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        return visible(line.rstrip("\n"))
    at = _local(str(event.pop("timestamp", "")))
    level = str(event.pop("level", ""))
    name = str(event.pop("event", ""))
    trace = event.pop("exception", None)
    text = f"{at} {level:<7} {_sentence(name, event)}".rstrip()
    return visible(f"{text}\n{trace}" if trace else text)


def _sentence(name: str, event: dict[str, Any]) -> str:
    event = {key: home_relative(str(value)) for key, value in event.items()}
    try:
        return SENTENCES[name].format_map(event)
    except KeyError:  # another event, or one of another version
        return " ".join([name, *(f"{key}={value}" for key, value in event.items())])


def _local(timestamp: str) -> str:
    """Return the point in time in the person's zone."""
    moment = parse_time(timestamp)
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S") if moment else timestamp


def _print(line: str, *, as_json: bool) -> None:
    text = line.rstrip("\n") if as_json else readable(line)
    colour = next((name for level, name in COLOURS.items() if f'"level": "{level}"' in line), "")
    print(paint(text, colour) if colour and not as_json else text)
    sys.stdout.flush()


def _open(file: Path) -> TextIO:
    return file.open(encoding="utf-8", errors="replace")


def _previous_lines(file: Path) -> Iterator[str]:
    try:
        with _open(file.with_name(f"{file.name}.1")) as stream:
            yield from stream
    except FileNotFoundError:
        return


def _new_lines(file: Path, stream: TextIO) -> Iterator[str]:
    """Yield complete lines as they are written, without end; read a rotated file to its end first."""
    rest = ""
    while True:
        rotated = _rotated(file, stream)
        for piece in stream:
            rest += piece
            if rest.endswith("\n"):
                yield rest
                rest = ""
        if rotated:
            stream.close()
            stream, rest = _open(file), ""
        else:
            time.sleep(POLL_S)


def _rotated(file: Path, stream: TextIO) -> bool:
    try:
        return file.stat().st_ino != os.fstat(stream.fileno()).st_ino
    except FileNotFoundError:
        return False
