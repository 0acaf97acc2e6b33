"""Every rule of the specification, broken once; what is broken says field, value, rule and line."""

import json
from pathlib import Path

import pytest

from flowd.handoff.block import fields as block_yaml
from flowd.handoff.block.parse import check_body

GOOD = """\
outcome: completed
files_created:
  - path: src/queue/worker.py
    purpose: Takes jobs off the queue
    lines: 1-80
files_modified:
  - path: src/queue/settings.py
    lines: 12
    change_type: modify
    description: The number of workers is a setting
patterns_discovered:
  - pattern: Acknowledge a job only after its result is stored
    location: src/queue/worker.py
    applies_to: [queue, job-handling]
gotchas:
  - issue: The broker drops idle connections after 60 s
    discovered_in: Soak test
    mitigation: Send a heartbeat every 20 s
    severity: high
dependencies_for_next:
  - file: src/queue/worker.py
    reason: The retry loop goes here
open_questions:
  - question: Are jobs retried by the broker as well?
    context: Retries would multiply
    recommendation: Switch the broker's off
    blocking: true
suggested_next_steps:
  - step: Add retries
    priority: high
    depends_on: [worker.py]
blockers: []
"""
BLOCKER = "blockers:\n  - blocker: No staging broker\n"


def test_a_good_block_is_typed_and_complete() -> None:
    checked = check_body(GOOD, 1)
    assert checked.violations == ()
    assert checked.block is not None
    assert checked.block.files_modified[0].lines == "12-12"
    assert checked.block.open_questions[0].blocking is True
    assert checked.block.suggested_next_steps[0].depends_on == ("worker.py",)
    assert (checked.completeness, checked.missing) == (100, ())


BROKEN = [
    ("files_created: [{path: a}]", "outcome", "", "is always required", 1),
    ("outcome: finished", "outcome", "finished", "must be completed/partial/failed/blocked", 1),
    ("outcome: completed\noutcome: completed", "outcome", "outcome", "is given twice", 2),
    (
        f"outcome: partial\n{BLOCKER}",
        "suggested_next_steps",
        "",
        "is required when outcome is partial",
        1,
    ),
    (
        "outcome: partial\nsuggested_next_steps: [{step: go on}]",
        "blockers",
        "",
        "is required when outcome is partial",
        1,
    ),
    ("gotchas: []\noutcome: failed", "blockers", "", "is required when outcome is failed", 2),
    (
        f"outcome: failed\n{BLOCKER}",
        "blockers[0].suggested_resolution",
        "",
        "is required when outcome is failed",
        1,
    ),
    ("outcome: blocked", "blockers", "", "is required when outcome is blocked", 1),
    (
        f"outcome: blocked\n{BLOCKER}",
        "blockers[0].blocking_tasks",
        "",
        "is required when outcome is blocked",
        1,
    ),
    ("outcome: completed\ngotchas: many", "gotchas", "many", "must be a list", 2),
    (
        "outcome: completed\ngotchas:\n- it broke",
        "gotchas[0]",
        "it broke",
        "must be a mapping with `issue`",
        3,
    ),
    ("outcome: completed\ngotchas:\n- severity: low", "gotchas[0].issue", "", "is required", 3),
    ("outcome: completed\ngotchas:\n- issue: ''", "gotchas[0].issue", "", "must not be empty", 3),
    (
        "outcome: completed\ngotchas:\n- issue: a\n  severity: urgent",
        "gotchas[0].severity",
        "urgent",
        "must be high/medium/low",
        4,
    ),
    (
        "outcome: completed\nsuggested_next_steps:\n- step: a\n  priority: P1",
        "suggested_next_steps[0].priority",
        "P1",
        "must be high/medium/low",
        4,
    ),
    (
        "outcome: completed\nfiles_modified:\n- path: a\n  change_type: tweak",
        "files_modified[0].change_type",
        "tweak",
        "must be add/modify/delete/refactor",
        4,
    ),
    (
        "outcome: completed\npatterns_discovered:\n- pattern: a\n  applies_to: [fine, User_State]",
        "patterns_discovered[0].applies_to",
        "User_State",
        "tags must be lowercase, hyphenated",
        4,
    ),
    (
        "outcome: completed\npatterns_discovered:\n- pattern: a\n  applies_to: auth",
        "patterns_discovered[0].applies_to",
        "auth",
        "must be a list",
        4,
    ),
    (
        "outcome: completed\nopen_questions:\n- question: a\n  blocking: perhaps",
        "open_questions[0].blocking",
        "perhaps",
        "must be true or false",
        4,
    ),
    (
        "outcome: completed\nfiles_created:\n- path: [path]",
        "files_created[0].path",
        "[path]",
        "must be text, not a list or a mapping",
        3,
    ),
    ("- outcome: completed", "(block)", "[{outcome}]", "must be fields with values", 1),
    ("outcome: completed\nx: &a [1]\ny: *a", "(block)", "", "more aliases than the 0 that flowd reads", 3),
    ("outcome: completed\n---\na: 1", "(block)", "", "a second document starts here", 2),
    ("outcome: completed\n? [a]\n: b", "(block)", "", "a list or mapping cannot be a key", 2),
]


@pytest.mark.parametrize(("body", "field", "value", "rule", "line"), BROKEN)
def test_a_broken_rule_is_the_only_violation_and_says_where(
    body: str, field: str, value: str, rule: str, line: int
) -> None:
    checked = check_body(body, 1)
    assert checked.block is None
    (violation,) = checked.violations
    assert (violation.field, violation.value, violation.rule, violation.line) == (field, value, rule, line)


PATHS = [
    "/etc/hosts",
    "~/notes.md",
    "../up.py",
    "src/../../x",
    "C:\\x",
    "\\\\host\\x",
    "file:///x",
    "src\\..\\x",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("field", "item"),
    [
        ("files_created", "path"),
        ("files_modified", "path"),
        ("dependencies_for_next", "file"),
        ("patterns_discovered", "location"),
    ],
)
def test_a_path_that_leaves_the_project_is_refused(field: str, item: str, path: str) -> None:
    main = "pattern: a\n  " if field == "patterns_discovered" else ""
    (violation,) = check_body(f"outcome: completed\n{field}:\n- {main}{item}: '{path}'", 1).violations
    assert (violation.field, violation.value) == (f"{field}[0].{item}", path)
    assert violation.rule == "must be relative to the project root"


@pytest.mark.parametrize("path", ["src/a.py", "a..b/c", "./a", "docs/x y.md", "src/**/*.ts"])
def test_a_path_below_the_project_is_taken(path: str) -> None:
    assert check_body(f"outcome: completed\nfiles_created:\n- path: '{path}'", 1).block


@pytest.mark.parametrize(("given", "kept"), [("45", "45-45"), ("1-150", "1-150"), ("all", "all"), ("", "")])
def test_line_ranges_are_taken(given: str, kept: str) -> None:
    block = check_body(f"outcome: completed\nfiles_created:\n- path: a\n  lines: {given}", 1).block
    assert block is not None
    assert block.files_created[0].lines == kept


@pytest.mark.parametrize("given", ["1–5", "5-1", "0-4", "0", "12:40", "1-5, 8-9", "many", "-3", "²"])
def test_anything_else_is_no_line_range(given: str) -> None:
    (violation,) = check_body(
        f"outcome: completed\nfiles_created:\n- path: a\n  lines: '{given}'", 1
    ).violations
    assert (violation.value, violation.rule) == (given, 'must be "N-M" or "all"')


@pytest.mark.parametrize(
    "outcome",
    [
        "[completed | partial | failed | blocked]",
        "completed | partial | failed | blocked",
        "'completed | partial'",
        "{{outcome}}",
        "<outcome>",
        "${outcome}",
        "",
    ],
)
def test_a_template_is_no_block_and_no_violation(outcome: str) -> None:
    checked = check_body(f"outcome: {outcome}\nfiles_created:\n", 1)
    assert checked.is_template
    assert (checked.block, checked.violations) == (None, ())


def test_an_id_is_made_from_the_meaning_and_a_placeholder_is_no_id() -> None:
    def pattern_id(line: str, text: str = "Retry 3 times, always.") -> str:
        block = check_body(f"outcome: completed\npatterns_discovered:\n- pattern: {text}\n{line}", 1).block
        assert block is not None
        return block.patterns_discovered[0].id

    made = pattern_id("")
    assert made.startswith("pattern-")
    assert pattern_id("  id: pattern-XXX  # Auto-generated") == made
    assert pattern_id("", text="retry 5 times always") == made
    assert pattern_id("", text="never retry") != made
    assert pattern_id("  id: pattern-007") == "pattern-007"


def test_completeness_counts_silence_and_takes_an_empty_list_for_an_answer() -> None:
    silent = check_body("outcome: completed", 1)
    assert silent.completeness == 17
    assert silent.missing == (
        "files_created/files_modified",
        "patterns_discovered",
        "gotchas",
        "dependencies_for_next",
        "suggested_next_steps",
    )
    answered = check_body("outcome: completed\ngotchas: []\nfiles_created: [{path: a}]", 1)
    assert answered.completeness == 50


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("a: b\n" * 4000, "longer than 16 KB"),
        ("a: [" + "b," * 3000 + "]", "too many values"),
        ("a: " + "[" * 5000, "nested deeper than 12 levels"),
        ("a: [&x " + "1", "invalid YAML"),
        ("a: \ud800", "invalid YAML"),
        ("a: b: c", "invalid YAML"),
    ],
)
def test_yaml_that_no_honest_block_contains_is_a_violation(body: str, rule: str) -> None:
    (violation,) = check_body(body, 1).violations
    assert rule in violation.rule


SCHEMA = Path(block_yaml.__file__).with_name("block.schema.json")


@pytest.mark.parametrize("body", [GOOD, *(case[0] for case in BROKEN[3:21])])
def test_the_published_schema_and_the_rules_agree(body: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert validator.is_valid(yaml.safe_load(body)) is (check_body(body, 1).block is not None)


def test_one_wrong_field_costs_that_field_and_nothing_else() -> None:
    """What is valid is kept beside the violations."""
    text = GOOD.replace("change_type: modify", "change_type: edit").replace(
        "severity: high", "severity: urgent"
    )
    checked = check_body(text, 1)
    assert [violation.field for violation in checked.violations] == [
        "files_modified[0].change_type",
        "gotchas[0].severity",
    ]
    assert checked.block is None
    assert checked.usable is not None
    assert checked.usable.files_modified[0].path == "src/queue/settings.py"
    assert checked.usable.files_modified[0].change_type is None
    assert checked.usable.gotchas[0].issue == "The broker drops idle connections after 60 s"
    assert checked.usable.gotchas[0].severity == "medium"
    assert checked.usable.patterns_discovered


def test_an_item_without_its_main_field_costs_the_item() -> None:
    checked = check_body("outcome: completed\ngotchas:\n  - severity: high\n  - issue: Wet paint\n", 1)
    assert checked.usable is not None
    assert [gotcha.issue for gotcha in checked.usable.gotchas] == ["Wet paint"]


@pytest.mark.parametrize("text", ["outcome: finished\ngotchas: [{issue: x}]\n", "gotchas: [{issue: x}]\n"])
def test_without_an_outcome_nothing_of_a_block_is_usable(text: str) -> None:
    assert check_body(text, 1).usable is None
