"""Redaction of plain data: the key above a value is part of the evidence."""

import pytest

from flowd.redaction.data import redact_data
from flowd.redaction.redactor import redact
from tests.redaction.samples.keys import key_lines
from tests.redaction.samples.template import fill

BLOCK = "\n".join(key_lines("EC "))
FRAME = "-----{} PRIVATE " + "KEY-----"
TOKEN = "ghp" + "_" + "a1B2" * 9


def test_two_keys_and_the_words_between_them() -> None:
    masked = "[redacted:private-key]"
    assert redact(f"{BLOCK}\nand\n{BLOCK}\nend") == f"{masked}\nand\n{masked}\nend"


def test_a_key_cut_off_in_the_middle_does_not_swallow_what_follows() -> None:
    cut = "\n".join(key_lines("RSA ")[:4])
    assert (
        redact(f"before\n{cut}\n\nThen we went on.") == "before\n[redacted:private-key]\n\nThen we went on."
    )


def test_the_end_of_a_key_without_its_beginning_is_masked_and_the_words_before_it_stay() -> None:
    cut = "\n".join(key_lines("RSA ")[3:])
    assert redact(f"It ends like this:\n{cut}\nend") == "It ends like this:\n[redacted:private-key]\nend"


@pytest.mark.parametrize(
    "text",
    [
        f"START = '{FRAME.format('BEGIN')}'\nEND = '{FRAME.format('END')}'",
        f"look for {FRAME.format('BEGIN')} in the file",
        "-----BEGIN CERTIFICATE-----\n" + fill("MIID{S60}\n{S64}") + "\n-----END CERTIFICATE-----",
        "ssh-keygen writes BEGIN OPENSSH PRIVATE KEY into the file",
    ],
)
def test_a_frame_without_a_key_stays(text: str) -> None:
    assert redact(text) == text


def test_a_key_longer_than_a_piece_of_text_is_masked_whole() -> None:
    body = "\n".join(fill("{S64}", str(number)) for number in range(200))
    text = f"{FRAME.format('BEGIN')}\n{body}\n{FRAME.format('END')}\n"
    assert redact("x\n" * 3000 + text) == "x\n" * 3000 + "[redacted:private-key]\n"


def test_a_body_without_a_frame_is_masked_across_pieces_of_text() -> None:
    body = "MIIEpAIBAAKCAQEA" + "\n".join(fill("{S64}", str(number)) for number in range(26))
    for lines in range(4080, 4100):
        assert redact("x\n" * lines + body + "\nend\n") == "x\n" * lines + "[redacted:private-key]\nend\n"


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
