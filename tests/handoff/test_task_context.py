"""The next agent's context: the specification's markdown, its limits, and a budget."""

import re

import pytest

from flowd.handoff.task_context import SIZES, Limits, TaskContext, render, render_learned, render_within
from flowd.model.block import Dependency, Gotcha, HandoffBlock, OpenQuestion, Pattern, TaskRef

BLOCK = HandoffBlock(
    outcome="completed",
    dependencies_for_next=(Dependency(file="src/a|b.py", reason="Holds\nthe loop"),),
    patterns_discovered=(Pattern(id="p", pattern="Close what you open", location="src/a.py"),),
    gotchas=(
        Gotcha(id="g1", issue="Ports leak", mitigation="Use port 0", severity="high"),
        Gotcha(id="g2", issue="Slow on Mondays", mitigation="Wait", severity="low"),
    ),
    open_questions=(
        OpenQuestion(question="Which port?", recommendation="0", blocking=True),
        OpenQuestion(question="Which colour?", blocking=False),
    ),
)
TEXT = """\
## From Task 7: Sockets

### Files to Review
| File | Reason |
|------|--------|
| src/a\\|b.py | Holds the loop |

### Patterns to Follow
- **Close what you open** (see: src/a.py)

### Warnings
- ⚠️ Ports leak: Use port 0

### Blocking Questions
- Which port? (suggested: 0)
"""


def context(block: HandoffBlock = BLOCK, number: int = 7) -> TaskContext:
    return TaskContext(TaskRef(id=str(number), name="Sockets"), block)


def test_low_gotchas_and_questions_that_do_not_block_are_left_out() -> None:
    assert render([context()]) == TEXT


def test_a_task_without_a_name_is_called_by_its_id() -> None:
    assert render([TaskContext(TaskRef(id="7"), BLOCK)]).startswith("## From Task 7\n")


def test_an_empty_block_keeps_the_specifications_headings() -> None:
    assert render([context(HandoffBlock(outcome="completed"))]) == (
        "## From Task 7: Sockets\n\n### Files to Review\n| File | Reason |\n|------|--------|\n"
        "\n### Patterns to Follow\n\n### Warnings\n"
    )


def test_what_a_block_does_not_say_leaves_no_empty_words_behind() -> None:
    block = HandoffBlock(
        outcome="completed",
        patterns_discovered=(Pattern(id="p", pattern="Close what you open"),),
        gotchas=(Gotcha(id="g", issue="Ports leak"),),
    )
    text = render([context(block)])
    assert "- **Close what you open**\n" in text
    assert "- ⚠️ Ports leak\n" in text


def test_tasks_follow_each_other_after_an_empty_line() -> None:
    assert render([context(), context(number=8)]).count("\n\n## From Task 8") == 1


@pytest.mark.parametrize(
    ("size", "limits"),
    [("easy", (5, 3, 2, 2)), ("normal", (10, 5, 3, 4)), ("complex", (20, 10, 5, 8))],
)
def test_each_size_tells_so_much_and_no_more(size: str, limits: tuple[int, int, int, int]) -> None:
    block = HandoffBlock(
        outcome="completed",
        dependencies_for_next=tuple(Dependency(file=f"f{n}") for n in range(30)),
        patterns_discovered=tuple(Pattern(id=f"p{n}", pattern=f"P{n}") for n in range(30)),
        gotchas=tuple(Gotcha(id=f"g{n}", issue=f"G{n}") for n in range(30)),
    )
    text = render([context(block, number) for number in range(30)], SIZES[size])
    files, patterns, gotchas, tasks = limits
    counts = text.count("| f"), text.count("- **"), text.count("- ⚠️"), text.count("## From Task")
    assert counts == (files * tasks, patterns * tasks, gotchas * tasks, tasks)


def test_severe_gotchas_are_told_before_others_in_the_order_of_the_block() -> None:
    gotchas = [Gotcha(id=f"g{n}", issue=f"G{n}", severity="high" if n > 2 else "medium") for n in range(5)]
    block = HandoffBlock(outcome="completed", gotchas=tuple(gotchas))
    text = render([context(block)], Limits(files=1, patterns=1, gotchas=3, tasks=1))
    assert re.findall(r"G\d", text) == ["G0", "G3", "G4"]


@pytest.mark.parametrize("budget", range(0, 1200, 37))
def test_a_budget_is_kept_to_the_byte(budget: int) -> None:
    text = render_within([context(number=n) for n in range(4)], budget)
    assert len(text.encode()) <= budget
    assert text == "" or text.startswith("## From Task 0")


def test_a_wide_budget_tells_all_without_empty_headings() -> None:
    assert render_within([context()], 10_000) == TEXT
    assert render_within([context(HandoffBlock(outcome="failed"))], 10_000) == "## From Task 7: Sockets\n"


def test_severe_gotchas_are_the_learned_context() -> None:
    assert render_learned(BLOCK.gotchas[:1]) == (
        "## Learned Context\n\n### Gotchas & Warnings\n- Ports leak: Use port 0\n"
    )
    assert render_learned([]) == ""
