"""What extraction adds to decoding: ``python -m bench.extraction [FILE...]`` for real transcripts."""

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.measure import spread
from bench.table import Row, ratio_row, render
from bench.transcripts import conversation
from flowd.extractors.transcript.protocol import ProjectPlace
from flowd.extractors.transcript.records import Decoded, Record, decode_lines
from flowd.extractors.transcript.session import SessionMemory
from flowd.system.progress import ProgressBar

ROUNDS, QUICK_ROUNDS = 15, 5
SESSIONS, SESSION_BYTES = 12, 1_000_000
MOST = 1.5
TYPED = "records.decode_lines on the same files"
PLAIN = "msgspec.json.decode of the same lines into plain objects"

WHOLE = "every line of the same transcripts decoded into records"
MAX_SKIPPING = 0.7

_plain = msgspec.json.Decoder()
_typed = msgspec.json.Decoder(Record)


def rows(progress: ProgressBar, *, quick: bool = False) -> list[Row]:
    """Return what extraction adds, beside both ways to decode made-up transcripts."""
    progress.step("extraction", 0, 1)
    chance, rounds = random.Random(4), QUICK_ROUNDS if quick else ROUNDS
    transcripts = [conversation(chance, SESSION_BYTES) for _ in range(SESSIONS)]
    return [*measured(transcripts, rounds), _skipping([_as_newest(each) for each in transcripts], rounds)]


def measured(transcripts: Sequence[bytes], rounds: int) -> list[Row]:
    """Return the rows for *transcripts*: decoding and extraction take turns, file by file."""
    samples = [_round(transcripts) for _ in range(rounds)]
    typed, plain, added, described = (spread(column) for column in zip(*samples, strict=True))
    return [
        ratio_row("extraction adds", "ms", added, typed, TYPED, MOST),
        ratio_row("extraction adds, beside plain decoding", "ms", added, plain, PLAIN, MOST),
        Row("describe and save, each session", "ms", described),
    ]


def _round(transcripts: Sequence[bytes]) -> tuple[float, float, float, float]:
    """Return the milliseconds of processor time that each took for all transcripts."""
    typed = plain = added = described = 0.0
    for data in transcripts:
        start = time.process_time()
        decoded = decode_lines(data, 1)
        middle = time.process_time()
        memory = _fed(decoded)
        end = time.process_time()
        memory.state("session", ProjectPlace())
        memory.saved()
        after = time.process_time()
        _decode_plainly(data)
        typed, added, described = typed + middle - start, added + end - middle, described + after - end
        plain += time.process_time() - after
    return typed * 1e3, plain * 1e3, added * 1e3, described * 1e3 / len(transcripts)


def _as_newest(transcript: bytes) -> bytes:
    """Return *transcript* with copies of requests in between, four fifths of all bytes."""
    lines = transcript.split(b"\n")[:-1]
    return b"".join(line + b"\n" + _request(4 * len(line)) for line in lines)


def _request(size: int) -> bytes:
    tool = {"name": "Read", "description": "Reads a file " * 10, "input_schema": {"type": "object"}}
    tools = [tool] * (1 + size // len(msgspec.json.encode(tool)))
    shape = {"type": "api-request-shape", "sessionId": "s", "shape": {"tools": tools}}
    return msgspec.json.encode(shape) + b"\n"


def _skipping(transcripts: Sequence[bytes], rounds: int) -> Row:
    """Return how long decoding takes when lines that carry nothing are skipped, beside decoding all."""
    samples = [_skipping_round(transcripts) for _ in range(rounds)]
    skipping, whole = (spread(column) for column in zip(*samples, strict=True))
    return ratio_row("decode, client 2.1.327", "ms", skipping, whole, WHOLE, MAX_SKIPPING)


def _skipping_round(transcripts: Sequence[bytes]) -> tuple[float, float]:
    start = time.process_time()
    for data in transcripts:
        decode_lines(data, 1)
    middle = time.process_time()
    for data in transcripts:
        _typed.decode_lines(data)
    return (middle - start) * 1e3, (time.process_time() - middle) * 1e3


def _fed(decoded: Decoded) -> SessionMemory:
    memory = SessionMemory()
    memory.feed_all(decoded.records, decoded.line_numbers)
    return memory


def _decode_plainly(data: bytes) -> None:
    for line in data.split(b"\n"):
        try:
            _plain.decode(line)
        except msgspec.DecodeError:
            continue


if __name__ == "__main__":
    files = [Path(name).read_bytes() for name in sys.argv[1:]]
    print(render(measured(files, ROUNDS) if files else rows(ProgressBar())))
