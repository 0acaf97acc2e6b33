"""What a reply reports as done."""

from flowd.extractors.conversation.replies import result_of


def test_what_comes_next_is_no_result() -> None:
    """It would be told as done."""
    reply = (
        "exporter.py writes the orders.\n\nNext steps:\n1. Add the VAT column\n2. Write tests\n\n"
        "## What is left\n- [ ] Document the format\n- [x] The header is written"
    )
    assert result_of(reply, 400) == "exporter.py writes the orders. The header is written."


def test_a_line_that_leads_into_a_list_is_told_with_its_first_item() -> None:
    reply = "The exporter is done.\n\nIt writes three files:\n\n- orders.csv\n- lines.csv\n"
    assert result_of(reply, 200) == "The exporter is done. It writes three files: orders.csv. lines.csv."


def test_a_line_that_leads_into_code_is_no_half_sentence() -> None:
    assert (
        result_of("The exporter is done. The output is now:\n\n```\nok\n```\n", 200)
        == "The exporter is done."
    )
