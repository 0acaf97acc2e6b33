"""Select the lines of a transcript that are worth decoding, by their first and last bytes.

Serves the bench row "decode, client 2.1.327": four fifths of what that client writes are copies of its own
requests and prompts, of which nothing is read. Whatever is not recognised here is decoded like any other,
and so is a line with a second record behind one of these: a client may lose the newline between two.
"""

from typing import NamedTuple

# The type is the first field of these; an api-request-blob repeats a message that has a separate record.
_REQUEST = b'{"type":"api-request'
# Nearly every other record has this near its end; these have it near their start.
_SESSION = b'"sessionId":"'
_PROMPT = b'"attachment":{"type":"prompt_snapshot"'
_PROMPT_END = b',"type":"attachment","uuid":"'
_NEXT = b'}{"'
_HEAD_BYTES, _TAIL_BYTES = 200, 800


class SelectedLines(NamedTuple):
    """The lines to decode, the number of each, and how many there were in all."""

    data: bytes
    numbers: list[int]
    lines: int


def select_lines(data: bytes, first_line: int) -> SelectedLines:
    """Return the lines of *data* but those that carry nothing; *first_line* is the number of the first."""
    skipped, lines = _find_skipped(data)
    numbers = list(range(first_line, first_line + lines))
    if not skipped:
        return SelectedLines(data, numbers, lines)
    kept, position = [], 0
    for index, start, end in skipped:
        kept.append(data[position:start])
        position = end
        numbers[index] = 0
    kept.append(data[position:])
    return SelectedLines(b"".join(kept), [number for number in numbers if number], lines)


def _find_skipped(data: bytes) -> tuple[list[tuple[int, int, int]], int]:
    """Return index, start and end of each line to skip, and the number of all lines."""
    # Lines are long: going from one end to the next is three times faster than counting byte by byte.
    skipped: list[tuple[int, int, int]] = []
    lines = start = 0
    find, startswith = data.find, data.startswith
    while end := find(b"\n", start) + 1:
        if startswith(_REQUEST, start):
            if _is_one_request(data, start, end):
                skipped.append((lines, start, end))
        elif find(_PROMPT, start, start + _HEAD_BYTES) >= 0 and _is_one_prompt(data, start, end):
            skipped.append((lines, start, end))
        lines += 1
        start = end
    return skipped, lines


def _is_one_request(data: bytes, start: int, end: int) -> bool:
    return data.find(_SESSION, max(start + _HEAD_BYTES, end - _TAIL_BYTES), end) < 0


def _is_one_prompt(data: bytes, start: int, end: int) -> bool:
    envelope = data.find(_PROMPT_END, max(start, end - _TAIL_BYTES), end)
    return envelope >= 0 and data.find(_NEXT, envelope, end) < 0
