"""What subagents report."""

from flowd.extractors.conversation.reports import edited_in, notified


def test_listed_and_mentioned_edits_are_found() -> None:
    """A path that is only pointed at is no edit."""
    report = "## Files touched\n\n- `src/a.py` (new)\n- `src/b.py`\n\nFixed `src/c.py:10`. See `docs/d.md`."
    assert edited_in(report) == ["src/a.py", "src/b.py", "src/c.py"]


def test_a_report_is_taken_out_of_its_notification() -> None:
    """Also when its end is cut off."""
    assert notified("<task-notification>\n<result>Done.</result>") == "Done."
    assert notified("<task-notification>\n<result>Done") == "Done"
    assert notified("<task-notification>\n<summary>x</summary>") == ""
    assert notified("<result>Done.</result>") == ""
