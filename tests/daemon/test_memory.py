"""The daemon's memory is limited without breaking what it uses."""

import ctypes
import sys

import pytest

from flowd.daemon import memory


class Library:
    """Notes the calls that the C library would get."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def mallopt(self, option: int, value: int) -> None:
        self.calls.append((option, value))


def test_on_linux_the_number_of_arenas_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    memory.limit_arenas()
    assert library.calls == [(memory.M_ARENA_MAX, memory.ARENAS)]


def test_elsewhere_nothing_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    memory.limit_arenas()
    assert library.calls == []


def test_a_c_library_without_arenas_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    memory.limit_arenas()
