"""Private keys: whole, cut off, and in every layout."""

import pytest

from flowd.redaction.redactor import redact
from tests.redaction.samples.keys import key_lines
from tests.redaction.samples.template import fill

BLOCK = "\n".join(key_lines("EC "))
FRAME = "-----{} PRIVATE " + "KEY-----"


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
