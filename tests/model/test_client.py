"""Versions of clients, and what follows from them."""

import pytest

from flowd.model.client import keeps_what_it_was_told, parse_version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1.327 (Claude Code)\n", (2, 1, 327)),
        ("1.0.128 (Claude Code)", (1, 0, 128)),
        ("3.0.0-beta.1 (Claude Code)", (3, 0, 0)),
        ("claude 2", None),
        ("9999999999999.1.1", None),
        ("", None),
    ],
)
def test_a_version_is_read_from_its_beginning(text: str, version: tuple[int, int, int] | None) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("client", "keeps"), [("2.0.77", False), ("2.1.119", False), ("2.1.121", True), ("", True)]
)
def test_old_clients_forget_what_they_were_told(client: str, keeps: bool) -> None:
    assert keeps_what_it_was_told(client) is keeps
