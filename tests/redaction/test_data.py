"""Redaction of plain data: the key above a value is part of the evidence."""

from flowd.redaction.data import redact_data
from flowd.redaction.redactor import redact
from tests.redaction.samples.keys import key_lines

TOKEN = "ghp" + "_" + "a1B2" * 9


def test_a_bare_word_under_a_name_that_means_a_secret_is_masked() -> None:
    data = {
        "user": "bob",
        "db": {"password": "swordfish", "hosts": ["a", "b"]},
        "note": "swordfish is a film",
    }
    masked = {**data, "db": {"password": "[redacted:password]", "hosts": ["a", "b"]}}
    assert redact_data(data, redact) == masked


def test_a_number_under_such_a_name_is_masked_and_other_numbers_stay() -> None:
    data = {"password": 84629173, "tokens": 84629173, "port": 5432, "is_on": True, "ratio": 0.5, "none": None}
    assert redact_data(data, redact) == {**data, "password": "[redacted:password]"}


def test_keys_of_mappings_are_texts_too() -> None:
    assert redact_data({TOKEN: 1, 2: TOKEN}, redact) == {
        "[redacted:github-token]": 1,
        2: "[redacted:github-token]",
    }


def test_a_private_key_spread_over_the_items_of_a_list_is_masked() -> None:
    lines = key_lines("RSA ")
    masked = redact_data({"next": ["Install the key", *lines, "Restart"]}, redact)
    assert masked == {"next": ["Install the key", *["[redacted:private-key]"] * len(lines), "Restart"]}


def test_a_key_in_a_list_leaves_the_words_around_it_and_the_other_items() -> None:
    lines = key_lines("EC ")
    masked = redact_data([1, f"key: {lines[0]}", *lines[1:-1], f"{lines[-1]} (end)", None], redact)
    assert masked[0] == 1
    assert masked[1].startswith("key: [redacted:")
    assert masked[-2:] == ["[redacted:private-key] (end)", None]
    assert not any(line in str(masked) for line in lines)


def test_a_tuple_stays_a_tuple() -> None:
    assert redact_data((TOKEN, "a"), redact) == ("[redacted:github-token]", "a")
