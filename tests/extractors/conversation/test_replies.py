"""What a reply reports as done."""

from flowd.extractors.conversation.replies import result_of


def test_what_comes_next_is_no_result() -> None:
    """It would be told as done."""
    reply = (
        "exporter.py writes the orders.\n\nNext steps:\n1. Add the VAT column\n2. Write tests\n\n"
        "## What is left\n- [ ] Document the format\n- [x] The header is written"
    )
    assert result_of(reply, 400) == "exporter.py writes the orders. The header is written."
