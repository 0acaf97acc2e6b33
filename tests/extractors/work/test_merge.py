"""Open steps live until something closes them, across turns and sessions."""

import msgspec
import pytest

from flowd.extractors.work.likeness import is_same_step, says_little
from flowd.model.work import DocumentSteps
from tests.support.story import DayOfWork, Story, exporter


def test_numbered_steps_outlive_the_next_turn() -> None:
    session = exporter()
    session.person("How large can such a file get?").assistant("About 2 MB.")
    assert [step.text for step in session.state.evidence.steps] == [
        "Add the VAT column to exporter.py",
        "Document the exporter in docs/export.md",
    ]


def test_a_finished_request_closes_the_step_it_names() -> None:
    session = exporter()
    session.person("Add the VAT column").edit("src/exporter.py").assistant("It has VAT now.")
    assert [step.text for step in session.state.evidence.steps] == ["Document the exporter in docs/export.md"]


def test_work_with_an_open_step_is_not_completed() -> None:
    story = Story()
    story.play(exporter())
    assert story.current().status == "in_progress"


def test_uncommitted_edits_do_not_keep_work_from_being_completed() -> None:
    story = Story()
    session = DayOfWork("s", 1).person("Round the totals").edit("src/cart.py").edit("src/sum.py")
    story.play(session.assistant("Totals are rounded."))
    assert story.current().status == "completed"
    assert [step.source for step in story.current().steps] == ["state"]


def test_a_list_that_is_worked_off_is_carried_through_sessions() -> None:
    story = Story()
    review = DayOfWork("review", 1, "chunks").person("Review the changes in this branch please")
    review.assistant(
        "Both agents want changes.\n\n### Recommendations\n\n1. Fix the panic in `id.Generate()`\n"
        "2. Log failures of `marshalMessage` in gemini.go\n3. Extract the agent name to a constant"
    )
    story.play(review)
    fix = (
        DayOfWork("fix", 2, "chunks")
        .person("Log failures of marshalMessage in gemini.go")
        .edit("src/gemini.go")
    )
    story.play(fix.assistant("Failures are logged."))
    other = DayOfWork("tests", 3, "chunks").person("Add some tests for chunk sizes").edit("src/chunk_test.go")
    story.play(other.assistant("Twelve tests pass."))
    assert story.steps("chunks") == [
        "Fix the panic in id.Generate()",
        "Extract the agent name to a constant",
    ]


def test_a_proposal_that_the_next_session_passes_over_is_dropped() -> None:
    story = Story()
    story.play(exporter())
    other = DayOfWork("tuesday", 2).person("Quote the fields in the exporter").edit("src/exporter.py")
    story.play(other.assistant("Fields are quoted."))
    assert story.steps() == []


def test_the_rest_of_a_plan_is_open_when_only_its_first_step_is_done() -> None:
    steps = ("Step 1: Write exporter.py", "Step 2: Stream the rows", "Step 3: Add a progress bar")
    plan = "# Export\n\n" + "".join(f"## {step}\n" for step in steps)
    session = DayOfWork("plan", 1).person(f"Implement the following plan:\n\n{plan}").edit("src/exporter.py")
    session.assistant("Step 1 is done: exporter.py writes the file.")
    assert [(step.text, step.source) for step in session.state.evidence.steps] == [
        ("Stream the rows", "plan"),
        ("Add a progress bar", "plan"),
    ]


def test_a_stopped_check_is_still_to_be_run() -> None:
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    session = DayOfWork("s", 1).person("Change the parser").edit("src/parser.py")
    session.call("Bash", command="mise run test:ci").result(refusal, is_error=True)
    session.person("commit").commit("Change the parser").assistant("Committed.")
    assert [step.text for step in session.state.evidence.steps] == [
        "Run mise run test:ci: the last run was interrupted"
    ]


def test_the_reply_that_names_a_problem_does_not_close_its_fix() -> None:
    session = DayOfWork("s", 1).person("Review this branch")
    session.assistant(
        "- `GetSessionLog` was removed from the interface\n\n## Recommendations\n\n"
        "1. Document the `GetSessionLog` interface change"
    )
    assert [step.text for step in session.state.evidence.steps] == [
        "Document the GetSessionLog interface change"
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Add error handling for Gemini message marshaling failures",
            "Added error handling for marshaling failures of Gemini messages",
        ),
        ('Extract "Gemini CLI" to a constant', "Make the string Gemini CLI a constant"),
        ("Handle lines over MaxChunkSize", "Handled single lines that exceed MaxChunkSize in chunking.go:84"),
    ],
)
def test_the_same_step_in_other_words_is_the_same(one: str, other: str) -> None:
    assert is_same_step(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Add tests for the parser", "Add tests for the exporter"),
        ('Extract "Gemini CLI" to a constant', "Add some tests to the chunking logic for gemini"),
        ("Push the release branch", "Run the release again"),
    ],
)
def test_steps_that_share_only_common_words_differ(one: str, other: str) -> None:
    assert not is_same_step(one, other)


def test_a_step_that_names_nothing_says_little() -> None:
    assert says_little("Run the tests")
    assert not says_little("Run the tests of exporter.py")


BLOCK = """## Handoff

```yaml
outcome: partial
files_modified:
  - path: src/exporter.py
    description: Rows are written
blockers:
  - blocker: No fixture for quotes
suggested_next_steps:
  - step: Quote the fields in exporter.py
```
"""


def test_the_next_steps_of_a_structured_block_are_open_until_they_are_done() -> None:
    story = Story()
    session = DayOfWork("block", 1)
    session.person("Write a CSV exporter for the orders in exporter.py").edit("src/exporter.py")
    session.assistant(BLOCK)
    story.play(session)
    assert ("Quote the fields in exporter.py", "block") in [
        (step.text, step.source) for step in story.current().steps
    ]
    session.person("Then do that").edit("src/exporter.py")
    story.play(session.assistant("Quoted the fields in exporter.py."))
    assert "Quote the fields in exporter.py" not in story.steps()


def test_the_open_items_of_a_handoff_document_are_steps_of_its_work() -> None:
    story = Story()
    story.play(exporter())
    written = DocumentSteps(("Ask Eva how vouchers are rounded",), 2e9, "monday")
    story.works.document = written
    assert ("Ask Eva how vouchers are rounded", "handoff") in [
        (step.text, step.source) for step in story.current().steps
    ]
    later = msgspec.structs.replace(written, at=0.0, texts=("Write a CSV exporter in exporter.py",))
    story.works.document = later
    assert "Write a CSV exporter in exporter.py" not in story.steps()


def test_a_later_session_closes_a_step_of_the_plan_by_its_number() -> None:
    plan = (
        "Implement the following plan:\n\n# Orders export\n\n## Steps\n1. Write exporter.py whole\n"
        "2. Add a VAT column with the rate of the country\n3. Document the format in docs/export.md\n"
    )
    story = Story()
    story.play(DayOfWork("monday", 1).person(plan).assistant("The plan is clear.", "end_turn"))
    before = story.steps()
    going_on = DayOfWork("tuesday", 2).person("Go on with step 1").edit("exporter.py")
    story.play(going_on.assistant("exporter.py is written. Step 1 is done.", "end_turn"))
    assert [step for step in before if step not in story.steps()] == ["Write exporter.py whole"]
