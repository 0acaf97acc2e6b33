"""Where blocks are found, and what only looks like one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.handoff.block.find import MAX_BODIES, blocks_in_markdown, may_hold_block
from flowd.handoff.block.from_notes.migrate import HEADING, block_yaml
from flowd.model.block import FoundBlock, TaskRef
from flowd.system.markdown import outline_of
from tests.support.repository import DATA, SHARED, present

# Documents that explain blocks: a schema and a template, but no block.
EXPLANATIONS = present(DATA / "blocks" / "explained.md", SHARED / "specs" / "structured-handoff-block.md")
YAML = "outcome: completed\ngotchas:\n  - issue: The cache lies\n"
LAYOUTS = {
    "heading and fence": f"## Handoff\n\n```yaml\n{YAML}```\n",
    "heading and unnamed fence": f"## Handoff\n```\n{YAML}```\n",
    "heading and tilde fence": f"## Handoff\n~~~yml\n{YAML}~~~\n",
    "heading, prose and fence": f"## Handoff\n\nDone for today:\n\n```yaml\n{YAML}```\n",
    "heading and bare body": f"## Handoff\n\n{YAML}",
    "bare body up to a rule": f"## Handoff\n\n{YAML}\n---\n\n*Task completed: today*\n",
    "bare body up to prose": f"## Handoff\n\n{YAML}\nThat is all: really.\n",
    "bare body up to a heading": f"## Handoff\n\n{YAML}\n### Notes\noutcome: of the notes\n",
    "heading in the fence": f"```yaml\n## Handoff\n\n{YAML}```\n",
    "bare body in an unnamed fence": f"```\n## Handoff\n\n{YAML}```\nprose: after\n",
    "fence in a fence": f"```markdown\n# Task 9: Cache\n\n## Handoff\n\n```yaml\n{YAML}```\n\n---\n```\n",
    "fence in a longer fence": f"````markdown\n## Handoff\n```yaml\n{YAML}```\n````\n",
    "indented in a list": "- note\n\n  ## Handoff\n  ```yaml\n  outcome: completed\n"
    "  gotchas:\n    - issue: The cache lies\n  ```\n",
    "windows line ends": f"## Handoff\n\n{YAML}*The end*\n".replace("gotchas", "\ngotchas").replace(
        "\n", "\r\n"
    ),
    "another level": f"#### HANDOFF NOTES:\n```yaml\n{YAML}```\n",
    "never closed": f"## Handoff\n```yaml\n{YAML}",
}


@pytest.mark.parametrize("outline", LAYOUTS)
def test_a_block_is_found_in_every_outline(outline: str) -> None:
    (found,) = blocks_in_markdown(LAYOUTS[outline])
    assert found.violations == ()
    assert found.block is not None
    assert [gotcha.issue for gotcha in found.block.gotchas] == ["The cache lies"]
    assert LAYOUTS[outline].splitlines()[found.line - 1].strip() == "outcome: completed"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "outcome: completed\n",
        "## Handoff\n\nThe outcome: we made it.\n",
        f"## Handoffs in general\n\n```yaml\n{YAML}```\n",
        f"## Handoff\n\n## Other\n\n```yaml\n{YAML}```\n",
        "## Handoff\n\n```python\noutcome: str\n```\n",
        "## Handoff\n\n```yaml\noutcome: completed | partial | failed | blocked\n```\n",
        "## Handoff\n\n```yaml\noutcome: [completed | partial]\nfiles_created:\n  - path: [path]\n```\n",
        f"> ## Handoff\n> {YAML}",
    ],
)
def test_what_only_looks_like_a_block_is_none(text: str) -> None:
    assert blocks_in_markdown(text) == []


def test_a_shorter_fence_inside_a_fence_does_not_close_it() -> None:
    outline = outline_of("````\n```\n# inside\n```\n# outer\n````\n# outside\n")
    assert [(heading.title, heading.fence) for heading in outline.headings] == [
        ("inside", 1),
        ("outer", 0),
        ("outside", -1),
    ]


def test_an_invalid_block_is_kept_as_written_with_its_violations() -> None:
    (found,) = blocks_in_markdown("intro\n\n## Handoff\n```yaml\noutcome: done\n```\n")
    assert (found.block, found.text) == (None, "outcome: done")
    assert str(found.violations[0]) == "line 5: outcome 'done': must be completed/partial/failed/blocked"


@pytest.mark.parametrize(
    ("text", "path", "task"),
    [
        ("# Task 004: Sessions\n", "", TaskRef(id="004", name="Sessions")),
        ("# Task task-7 - Sessions\n", "", TaskRef(id="task-7", name="Sessions")),
        ("# Task 1: One\n## Handoff\n\n# Task 2: Two\n", "", TaskRef(id="2", name="Two")),
        ("# Task [ID]: [Name]\n", "x/task-012-token-store.md", TaskRef(id="012", name="token store")),
        ("# Notes\n", "tasks/task-3.md", TaskRef(id="3", name="Notes")),
        ("", "tasks/notes.md", TaskRef()),
    ],
)
def test_the_task_is_told_by_the_nearest_heading_or_the_file(text: str, path: str, task: TaskRef) -> None:
    (found,) = blocks_in_markdown(f"{text}## Handoff\n{YAML}", path)
    assert found.task == task


def test_the_digest_follows_what_is_said_and_not_how_it_is_laid_out() -> None:
    digests = {blocks_in_markdown(text)[0].digest for text in LAYOUTS.values()}
    assert len(digests) == 1
    other = blocks_in_markdown("## Handoff\noutcome: completed\n")[0].digest
    assert other not in digests


def test_a_file_of_nothing_but_blocks_is_read_up_to_a_limit() -> None:
    found = blocks_in_markdown("## Handoff\n```yaml\noutcome: completed\n```\n" * 500)
    assert len(found) == MAX_BODIES


def test_what_is_parsed_of_one_file_is_limited_and_the_rest_says_so() -> None:
    long = "outcome: completed\n" + f"note: {'x' * 12_000}\n"
    found = blocks_in_markdown(f"## Handoff\n```yaml\n{long}```\n" * 4)
    assert [bool(each.block) for each in found] == [True, True, False]
    assert "longer than 32 KB" in found[-1].violations[0].rule


def test_the_cheap_look_agrees_with_the_careful_one() -> None:
    assert all(may_hold_block(text) for text in LAYOUTS.values())


def test_a_block_written_out_is_found_again() -> None:
    (found,) = blocks_in_markdown(LAYOUTS["heading and fence"])
    assert found.block is not None
    (again,) = blocks_in_markdown(f"{HEADING}\n\n```yaml\n{block_yaml(found.block)}```\n")
    assert again.block == found.block


@pytest.mark.parametrize("file", EXPLANATIONS, ids=lambda file: file.name)
def test_the_specification_itself_holds_only_a_schema_and_a_template(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count("## Handoff\n") == 2
    assert blocks_in_markdown(text) == []


def with_a_choice_made(file: Path) -> FoundBlock:
    """Return the example of an explanation with the first of each choice taken."""
    text = file.read_text(encoding="utf-8")
    for choices in ("completed | partial | failed | blocked", "add | modify | delete | refactor"):
        text = text.replace(f": {choices}", f": {choices.split(' | ')[0]}")
    (found,) = blocks_in_markdown(text.replace("severity: high | medium | low", "severity: high"))
    return found


@pytest.mark.parametrize("file", EXPLANATIONS, ids=lambda file: file.name)
def test_the_specifications_example_with_a_choice_made_is_valid_and_complete(file: Path) -> None:
    found = with_a_choice_made(file)
    assert (found.violations, found.completeness) == ((), 100)


_LINES = st.sampled_from(
    [
        "## Handoff",
        "# Task 1: x",
        "```yaml",
        "```",
        "~~~",
        "````markdown",
        "outcome: completed",
        "outcome: [a | b]",
        "outcome: partial",
        "gotchas:",
        "  - issue: x",
        "    severity: high",
        "files_created:",
        "- path: /x",
        "blockers: {a: [1, {b: c}]}",
        "x: &a [*a]",
        "\t- y",
        "---",
        "? !!python/object:os.system",
        "%YAML 9.9",
        "\ufeffoutcome: failed",
        "\x00",
        "",
    ]
)


@given(st.lists(st.one_of(_LINES, st.text(max_size=12)), max_size=40))
def test_no_markdown_makes_the_finder_raise(lines: list[str]) -> None:
    for found in blocks_in_markdown("\n".join(lines)):
        assert (found.block is None) is bool(found.violations)


@given(st.text(max_size=300))
def test_no_yaml_makes_the_finder_raise(body: str) -> None:
    for found in blocks_in_markdown(f"## Handoff\n```yaml\noutcome: completed\n{body}\n```\n"):
        assert (found.block is None) is bool(found.violations)
