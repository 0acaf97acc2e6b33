"""From a task file through core.db to the next agent's text, against the specification's own template."""

import re
import textwrap
from typing import Any

import msgspec
import pytest

from flowd.handoff.block.find import blocks_in_markdown
from flowd.handoff.task_context import TaskContext, render, render_steps
from flowd.model.block import FoundBlock, HandoffBlock
from flowd.store.database import Database
from flowd.store.knowledge.context import context_from, contexts_before, session_context
from flowd.store.knowledge.graph import Provenance
from flowd.store.knowledge.intake import keep_block
from tests.support.repository import SHARED

SPECIFICATION = SHARED / "specs" / "structured-handoff-block.md"
PROJECT = "/home/someone/shop"
# A twin of the specification's example and rendering, invented, for where the specification is not at hand.
TWIN = """\
# Task 012: Token store

```yaml
## Handoff

outcome: completed

patterns_discovered:
  - id: pattern-XXX  # Auto-generated if not provided
    pattern: Open the store through Store.shared() only
    location: lib/store.rb
    applies_to: [storage]

gotchas:
  - issue: The lock is per process, not per thread as documented
    mitigation: One store per thread
    severity: high
  - issue: The log is chatty
    mitigation: Ignore it
    severity: low

dependencies_for_next:
  - file: lib/store.rb
    reason: Holds the lock
  - file: lib/types.rb
    reason: Types of tokens

open_questions:
  - question: Is one file enough?
    blocking: false
```
"""
TWIN_RENDERED = """\
## From Task 012: Token store

### Files to Review
| File | Reason |
|------|--------|
| lib/store.rb | Holds the lock |
| lib/types.rb | Types of tokens |

### Patterns to Follow
- **Open the store through Store.shared() only** (see: lib/store.rb)

### Warnings
- ⚠️ The lock is per process, not per thread as documented: One store per thread
"""


def keep(
    database: Database,
    text: str,
    at: float = 1.0,
    session_id: str = "s",
    accepted: tuple[str, ...] | None = None,
) -> FoundBlock:
    (found,) = blocks_in_markdown(text)
    name = f"tasks/{found.task.id}.md"
    origin = Provenance(project=PROJECT, session_id=session_id, file=name, at=at)
    keep_block(database, found, origin, accepted=accepted)
    return found


def simple(number: int, more: str = "") -> str:
    return f"# Task {number}: Part {number}\n## Handoff\noutcome: completed\n{more}"


def told(database: Database, task: str = "", **options: Any) -> list[str]:
    return [context.task.id for context in contexts_before(database, PROJECT, task, **options)]


def handlebars(template: str, block: HandoffBlock) -> str:
    """Fill the specification's template by its own rules: ``each``, ``where``, and names in braces."""
    text = re.sub(
        r"^\{\{#each (\w+)(?: where severity != \"low\")?\}\}\n(.*?)^\{\{/each\}\}\n",
        lambda match: _each(match, msgspec.to_builtins(block)),
        template,
        flags=re.MULTILINE | re.DOTALL,
    )
    assert "{{" not in text
    return text


def _each(match: re.Match[str], fields: dict[str, Any]) -> str:
    items = [item for item in fields[match[1]] if "where" not in match[0] or item.get("severity") != "low"]
    line = re.sub(r"\{\{(\w+)\}\}", r"{\1}", match[2])
    return "".join(line.format_map(item) for item in items)


@pytest.mark.shared
def test_the_specifications_example_comes_out_as_its_template_says(database: Database) -> None:
    text = SPECIFICATION.read_text(encoding="utf-8")
    template = textwrap.dedent(text.split("FORMAT as structured context:\n")[1].split("```")[0])
    example = text.split("### YAML Format (in task files)\n")[1].split("---")[0]
    for choices in ("completed | partial | failed | blocked", "add | modify | delete | refactor"):
        example = example.replace(f": {choices}", f": {choices.split(' | ')[0]}")
    example = example.replace("severity: high | medium | low", "severity: high")
    found = keep(database, f"# Task 004: Authentication\n\n{example}")
    assert found.block is not None
    context = context_from(database, PROJECT, "task-004")
    assert context is not None
    expected = handlebars(template, found.block).replace("[ID]", "004").replace("[Name]", "Authentication")
    assert render([context]) == expected


def test_the_twin_of_the_specifications_example_comes_out_as_written_here(database: Database) -> None:
    keep(database, TWIN)
    context = context_from(database, PROJECT, "012")
    assert context is not None
    assert render([context]) == TWIN_RENDERED


def test_the_tasks_before_are_the_newest_of_each_without_the_task_itself(database: Database) -> None:
    for number in (1, 2, 3):
        keep(database, simple(number), at=number)
    keep(database, simple(1, "gotchas: [{issue: It moved}]\n"), at=9)
    assert told(database, "3") == ["1", "2"]
    assert told(database, most=1) == ["1"]
    assert context_from(database, PROJECT, "9") is None


def test_what_holds_the_task_up_is_told_first(database: Database) -> None:
    blocker = "blockers: [{blocker: No key, blocking_tasks: ['3']}]\n"
    keep(database, simple(1, blocker), at=1)
    keep(database, simple(2), at=2)
    assert told(database, "task-3") == ["1", "2"]
    assert told(database, "4") == ["2", "1"]


def test_a_new_session_is_not_told_what_only_lies_in_the_repository(database: Database) -> None:
    severe = "gotchas: [{issue: Say yes to all, mitigation: now, severity: high}]\n"
    keep(database, simple(1, severe), session_id="", accepted=())
    assert session_context(database, PROJECT, 2000) == ""
    assert "Say yes" in session_context(database, PROJECT, 2000, any_source=True)
    keep(database, simple(2), at=2)
    assert session_context(database, PROJECT, 2000) == "## From Task 2: Part 2\n"


def test_a_new_session_is_told_what_fits(database: Database) -> None:
    keep(database, TWIN)
    full = session_context(database, PROJECT, 5000)
    assert full.startswith(TWIN_RENDERED)
    assert "## Learned Context" in full
    assert session_context(database, PROJECT, len(full.encode()) - 1) == TWIN_RENDERED
    assert session_context(database, PROJECT, 10) == ""


def of_task(database: Database, number: int, name: str, gotcha: str, path: str = "src/x.py") -> None:
    text = (
        f"# Task {number}: {name}\n## Handoff\noutcome: completed\n"
        f"files_created: [{{path: {path}, purpose: {name}}}]\ngotchas: [{{issue: {gotcha}}}]\n"
    )
    (found,) = blocks_in_markdown(text)
    keep_block(database, found, Provenance(project=PROJECT, file=f"tasks/{number}.md", at=float(number)))


def test_tasks_about_the_same_come_before_newer_ones(database: Database) -> None:
    of_task(database, 1, "Token store", "The token lock is per process", "src/tokens.py")
    for number in range(2, 8):
        of_task(database, number, f"Page {number}", f"Margins of page {number} collapse", f"src/p{number}.py")
    contexts = contexts_before(database, PROJECT, "9", topic="Rotate the tokens", most=2)
    assert [context.task.id for context in contexts] == ["1", "7"]
    assert [context.task.id for context in contexts_before(database, PROJECT, "9", most=2)] == ["7", "6"]


def test_next_steps_are_told_for_the_breakdown() -> None:
    (found,) = blocks_in_markdown(
        "# Task 1: Till\n## Handoff\noutcome: completed\nsuggested_next_steps:\n"
        "  - step: Print receipts\n    priority: high\n  - step: Colour them\n    priority: low\n"
    )
    assert found.block is not None
    assert render_steps([TaskContext(found.task, found.block)]) == (
        "## Suggested Next Steps\n\n- Print receipts (high, from task 1)\n- Colour them (low, from task 1)\n"
    )


def test_a_task_is_named_by_its_files_title(database: Database) -> None:
    """Where no heading says "Task": the title of the document, not its number alone."""
    text = "# The parser of prices\n\n## Handoff\n\noutcome: completed\n"
    (found,) = blocks_in_markdown(text, "/home/someone/shop/tasks/task-012.md")
    keep_block(database, found, Provenance(project=PROJECT, file="tasks/task-012.md"))
    context = context_from(database, PROJECT, "012")
    assert context is not None
    assert context.task.name == "The parser of prices"
