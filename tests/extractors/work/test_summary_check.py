"""Of a model's answer only what the digest speaks of is accepted."""

import json
from typing import Any

import pytest

from flowd.extractors.work.summary_check import MalformedAnswerError, answer_schema, check_answer

DIGEST = """\
title: CSV exporter
goal (by rules): Write a CSV exporter for the orders in exporter.py
branch: fix-vat
pull requests and issues: #41
files: src/exporter.py, docs/export.md
commit 5e1f0a2: exporter: add the VAT column
last check: pytest -q: passed
- reply: All 12 tests pass with v0.3.0, see `write_rows`."""
ANSWER: dict[str, Any] = {"goal": "A CSV exporter", "status": "completed", "now": "Done", "next": []}


def check(**fields: Any) -> tuple[Any, ...]:
    checked = check_answer({**ANSWER, **fields}, DIGEST)
    return checked.summary, checked.refused


@pytest.mark.parametrize(
    "now",
    [
        "src/exporter.py is written, 12 tests pass",
        "exporter.py has the VAT column (5e1f0a2), #41 is open.",
        "PR 41 on branch fix-vat, released as v0.3.0",
        "`write_rows` is tested, e.g. by pytest; docs/export.md is next",
        "A well-known follow-up: nothing is left",
        "The exporter/docs are written",
    ],
)
def test_what_the_digest_names_is_accepted(now: str) -> None:
    assert check(now=now)[0].now == now


@pytest.mark.parametrize(
    ("now", "invented"),
    [
        ("src/importer.py is written", "src/importer.py"),
        ("importer.py is written", "importer.py"),
        ("13 tests pass", "13"),
        ("PR #42 is merged", "#42"),
        ("It is on branch fix-tax", "fix-tax"),
        ("The fix-tax branch is pushed", "fix-tax"),
        ("`read_rows` is tested", "read_rows"),
        ("readRows is tested", "readRows"),
        ("Committed as 5e1f0a3", "5e1f0a3"),
        ("Released as v0.3.1", "v0.3.1"),
        ("feature/vat is merged", "feature/vat"),
        ("docs/rows.md is written", "docs/rows.md"),
    ],
)
def test_a_field_with_something_invented_is_refused(now: str, invented: str) -> None:
    summary, refused = check(now=now)
    assert summary.now == ""
    assert refused == (f"now: {invented} is not in the digest",)
    assert summary.goal == "A CSV exporter"


def test_of_the_steps_only_the_one_with_something_invented_is_refused() -> None:
    summary, refused = check(next=["Document docs/export.md", "Mend lexer.go", "Document docs/export.md"])
    assert summary.next == ("Document docs/export.md",)
    assert len(refused) == 1


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "text",
        [],
        {},
        {**ANSWER, "status": "great"},
        {**ANSWER, "goal": 3},
        {**ANSWER, "goal": "x" * 201},
        {**ANSWER, "next": ["step"] * 6},
        {**ANSWER, "more": "field"},
        {name: value for name, value in ANSWER.items() if name != "now"},
    ],
)
def test_another_shape_is_malformed(answer: object) -> None:
    with pytest.raises(MalformedAnswerError):
        check_answer(answer, DIGEST)


def test_what_a_terminal_would_obey_is_shown_instead() -> None:
    assert check(goal="A CSV\n exporter\u202e")[0].goal == "A CSV exporter\\u202e"


def test_the_schema_has_every_field_and_no_reference() -> None:
    schema = json.loads(answer_schema())
    assert sorted(schema["properties"]) == sorted(schema["required"]) == sorted(ANSWER)
    assert "$ref" not in json.dumps(schema)
