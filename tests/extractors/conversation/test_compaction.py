"""The client's own summary of a compacted conversation."""

from flowd.extractors.conversation.compaction import read
from tests.support.transcript import Transcript

SUMMARY = """This session is being continued from a previous conversation that ran out of context.

Summary:
1. Primary Request and Intent:
   The user wants **vouchers** imported from the old shop.

2. Key Technical Concepts:
   - CSV

4. Errors and fixes:
   - The importer failed on empty lines: they are skipped now.

7. Pending Tasks:
   - Import expired vouchers
   - None

8. Current Work:
   Writing the importer's tests.

9. Optional Next Step:
   Run the importer on the real file.

Please continue the conversation from where we left it off."""


def test_the_numbered_sections_are_read() -> None:
    """Plain, without the request to go on."""
    summary = read(SUMMARY, 7)
    assert summary.request == "The user wants vouchers imported from the old shop."
    assert summary.current == "Writing the importer's tests."
    assert summary.next_step == "Run the importer on the real file."
    assert summary.pending == ["Import expired vouchers"]
    assert summary.fixes == ["The importer failed on empty lines: they are skipped now."]
    assert summary.at == 7


def test_bold_headings_are_read_alike() -> None:
    """Clients differ."""
    assert read("**1. Primary Request and Intent:**\nSort carts.", 1).request == "Sort carts."
    assert read("1. **Primary Request and Intent**: Sort carts.", 1).request == "Sort carts."


def test_a_summary_gives_goal_next_steps_and_learnings() -> None:
    """It is all that is left of the conversation before it."""
    session = Transcript().person("Do it like the last time, will you").assistant("Ok.")
    session.person(SUMMARY, isCompactSummary=True)
    state = session.state
    assert state.goal == "The user wants vouchers imported from the old shop."
    assert state.next[:2] == ("Run the importer on the real file.", "Import expired vouchers")
    assert state.learnings == ("The importer failed on empty lines: they are skipped now.",)


def test_pending_tasks_outlive_the_next_request() -> None:
    """They come after what that asks for."""
    session = (
        Transcript().person(SUMMARY, isCompactSummary=True).person("First rename the importer to intake")
    )
    assert "Import expired vouchers" in session.state.next
