"""Freeform notes into blocks: headings people use, the specification's cues, and what stays in doubt."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.handoff.block.find import blocks_in_markdown
from flowd.handoff.block.from_notes.migrate import Migrated, migrate
from flowd.handoff.block.from_notes.words import mentioned_paths
from flowd.model.block import HandoffBlock
from tests.support.repository import HANDOFFS

NOTES = """\
# Session handoff

**Status:** Done, all merged

## What Was Accomplished
- [x] Created `src/pool.py` with the connection pool
- Made the timeout a setting in src/settings.py:12-20
- [ ] Write the migration guide

## Key Decisions
| Decision | Reasoning |
|----------|-----------|
| One pool per host | Sockets are cheap |

## Gotchas
1. **The proxy closes idle sockets.** Ping every 20 s.
2. Never share a cursor between threads
3. None

## Next Steps (in order)
1. Ship `docs/pool.md` (critical)
2. Optional: measure again

## Open Questions
- Do we need a limit per user?

## Relevant files
- `src/pool.py:30` - the retry loop

## How to verify
Run the tests. Be careful with the staging database.

## Story
It was a long day with many small steps, and this paragraph says nothing that fits a field of a block.
"""


def block_of(text: str) -> HandoffBlock:
    migrated = migrated_from(text)
    return migrated.block


def migrated_from(text: str) -> Migrated:
    migrated = migrate(text)
    assert migrated is not None
    return migrated


def test_headings_people_use_lead_to_the_fields_they_mean() -> None:
    block = block_of(NOTES)
    assert block.outcome == "completed"
    assert [(file.path, file.purpose) for file in block.files_created] == [
        ("src/pool.py", "Created with the connection pool")
    ]
    assert [(file.path, file.lines, file.change_type) for file in block.files_modified] == [
        ("src/settings.py", "12-20", "modify")
    ]
    assert [pattern.pattern for pattern in block.patterns_discovered] == [
        "One pool per host (Sockets are cheap)"
    ]
    assert [(gotcha.issue, gotcha.mitigation, gotcha.severity) for gotcha in block.gotchas] == [
        ("The proxy closes idle sockets", "Ping every 20 s.", "medium"),
        ("Never share a cursor between threads", "", "high"),
        ("Be careful with the staging database.", "", "medium"),
    ]
    assert [(step.step, step.priority) for step in block.suggested_next_steps] == [
        ("Write the migration guide", "medium"),
        ("Ship docs/pool.md (critical)", "high"),
        ("Optional: measure again", "low"),
    ]
    assert block.suggested_next_steps[1].depends_on == ("docs/pool.md",)
    assert [question.question for question in block.open_questions] == ["Do we need a limit per user?"]
    assert [(file.file, file.reason) for file in block.dependencies_for_next] == [
        ("src/pool.py", "the retry loop")
    ]


def test_what_fits_no_field_is_asked_about_in_the_specifications_words() -> None:
    migrated = migrated_from(NOTES)
    assert [doubt[:17] for doubt in migrated.doubts] == ["It was a long day"]
    start = migrated.document.index("<!--\nPlease structure this handoff note:\nIt was a long day")
    assert migrated.document.index("\n\nInto this format:\noutcome: [completed | partial") > start


def test_the_new_document_keeps_every_word_and_holds_the_block() -> None:
    migrated = migrated_from(NOTES)
    assert migrated.document.startswith(NOTES)
    (found,) = blocks_in_markdown(migrated.document)
    assert (found.block, found.violations) == (migrated.block, ())
    assert migrate(migrated.document) is None


def test_a_template_gives_way_to_the_block() -> None:
    template = "## Handoff\n\n```yaml\noutcome: [completed | partial]\n```\n"
    document = migrated_from(f"# Task 3: Pool\n\nAlways use the pool.\n\n{template}\nend\n").document
    assert "[completed | partial]\n```" not in document
    (found,) = blocks_in_markdown(document)
    assert found.task.id == "3"
    assert document.endswith("\nend\n")


def test_notes_below_an_own_heading_get_the_block_above_them() -> None:
    document = migrated_from("# Task 3: Pool\n\n## Handoff Notes\nWatch out for the cache.\n").document
    assert document.index("## Handoff Notes\n\n```yaml") < document.index("Watch out for the cache.\n")
    assert len(blocks_in_markdown(document)) == 1


@pytest.mark.parametrize(
    ("sentence", "field"),
    [
        ("Watch out for the second cache.", "gotchas"),
        ("Be careful with tabs.", "gotchas"),
        ("Pattern: repositories return values.", "patterns_discovered"),
        ("Always use the pool.", "patterns_discovered"),
        ("Next, wire the socket.", "suggested_next_steps"),
        ("Then remove the flag.", "suggested_next_steps"),
        ("The next agent should read the log.", "suggested_next_steps"),
        ("Question: who owns the key?", "open_questions"),
        ("It is unclear who owns the key.", "open_questions"),
    ],
)
def test_each_cue_of_the_specification_finds_its_field(sentence: str, field: str) -> None:
    block = block_of(f"# Notes\n\nSome words first. {sentence}\n")
    assert [name for name in HandoffBlock.__struct_fields__[3:] if getattr(block, name)] == [field]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("status: complete\n", "completed"),
        (
            "**Status:** Complete, review needed\n## Blockers\n- No key\n## Next\n- go\n",
            "partial",
        ),
        ("---\nstatus: complete\noutcome: PARTIAL_PLUS\n---\nnotes\n", "partial"),
        ("Outcome: FAILED\n", "failed"),
        ("Status: blocked by review\n", "blocked"),
        ("## Blockers\n- No key\n\n## Next\n- Ask for one\n", "partial"),
        ("## Next\n- Ask for one\n", "completed"),
    ],
)
def test_the_outcome_is_what_the_notes_state_or_what_fits(text: str, outcome: str) -> None:
    assert block_of(text).outcome == outcome


def test_an_outcome_that_is_not_stated_is_a_guess_and_a_doubt() -> None:
    guessed = migrated_from("## Next\n- Ask\n")
    assert not guessed.is_outcome_stated
    assert guessed.doubts == ("outcome: the notes state none; this one is a guess",)
    stated = migrated_from("Status: done\n")
    assert (stated.is_outcome_stated, stated.doubts) == (True, ())


def test_a_persons_word_on_the_outcome_counts_more_than_the_notes() -> None:
    migrated = migrate("Status: done\n## Blockers\n- No key for the service. Ask for one.\n", "failed")
    assert migrated is not None
    assert (migrated.block.outcome, migrated.is_outcome_stated, migrated.violations) == ("failed", True, ())


def test_a_stated_outcome_that_lacks_what_it_demands_is_a_violation() -> None:
    (violation,) = migrated_from("Status: partial\n## Next\n- Ask\n").violations
    assert (violation.field, violation.rule) == ("blockers", "is required when outcome is partial")


def test_continuity_yaml_with_front_matter_is_read_as_yaml() -> None:
    block = block_of(
        "---\nsession: x\noutcome: SUCCEEDED\n---\n\ngoal: pool\nnow: rest\n"
        "done_this_session:\n  - task: Made it\n    files: [src/pool.py]\nblockers: []\n"
        "decisions:\n  - one_pool: per host\nfindings: {idle: the proxy closes sockets}\n"
        "failed:\n  - Sharing a cursor\nnext:\n  - Measure\nquestions:\n  - Per user?\n"
        "files:\n  created: [src/pool.py]\n  modified: ['`src/a.py` (3 lines)']\n"
    )
    assert block.outcome == "completed"
    assert [file.path for file in block.files_created] == ["src/pool.py"]
    assert [file.path for file in block.files_modified] == ["src/a.py"]
    assert [pattern.pattern for pattern in block.patterns_discovered] == [
        "one pool: per host",
        "idle: the proxy closes sockets",
    ]
    assert [gotcha.issue for gotcha in block.gotchas] == ["Sharing a cursor"]
    assert [step.step for step in block.suggested_next_steps] == ["Measure"]


def test_a_secret_of_the_notes_is_not_said_again_in_the_block() -> None:
    secret = "sk-ant-api03-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY" * 2
    migrated = migrated_from(f"Status: done\n## Gotchas\n- {secret}\n## Next\n- Revoke {secret} today\n")
    assert secret not in migrated.section
    (found,) = blocks_in_markdown(migrated.section)
    assert found.block == migrated.block


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see `src/a.py` and docs/b.md.", ["src/a.py", "docs/b.md"]),
        ("/etc/a.conf ~/b.md $HOME/c.ts ../d.py https://x.org/e.html", []),
        ("v0.3.0 and example.com and 1.5", []),
        ("./src/a.py:3-9 then src/a.py", ["src/a.py"]),
        (".claude/settings.json", [".claude/settings.json"]),
    ],
)
def test_only_paths_below_the_project_are_taken(text: str, paths: list[str]) -> None:
    assert [mentioned.path for mentioned in mentioned_paths(text)] == paths


@given(st.text(max_size=400))
def test_no_notes_make_the_migration_raise(text: str) -> None:
    migrated = migrate(f"## Next\n- {text}\n## Gotchas\n{text}\n")
    assert migrated is None or blocks_in_markdown(migrated.section)


@pytest.mark.parametrize("file", HANDOFFS, ids=lambda file: file.name)
def test_every_document_of_the_corpus_becomes_a_block_that_is_found_again(file: Path) -> None:
    migrated = migrated_from(file.read_text(encoding="utf-8"))
    (found,) = blocks_in_markdown(migrated.section)
    assert found.block == migrated.block or migrated.violations


def test_what_was_done_to_files_is_never_something_to_read() -> None:
    """The specification's first cue: paths become files_created and files_modified."""
    block = block_of(
        "Created src/x.ts with the token rotation and its tests.\n\n"
        "Modified `src/y.ts` lines 45-67 to call it.\n\nDeleted `src/z.ts`, nobody used it."
    )
    assert block.dependencies_for_next == ()
    assert [(file.path, file.purpose) for file in block.files_created] == [
        ("src/x.ts", "Created src/x.ts with the token rotation and its tests.")
    ]
    assert [(file.path, file.lines, file.change_type, file.description) for file in block.files_modified] == [
        ("src/y.ts", "45-67", "modify", "Modified src/y.ts lines 45-67 to call it."),
        ("src/z.ts", "", "delete", "Deleted src/z.ts, nobody used it."),
    ]


def test_a_paragraph_about_two_files_keeps_both_and_its_words() -> None:
    block = block_of("Created `src/x.ts` for rotation and modified `src/y.ts:12-20` so that it is used.")
    assert [file.path for file in block.files_created] == ["src/x.ts"]
    assert [(file.path, file.lines) for file in block.files_modified] == [("src/y.ts", "12-20")]
    for file in block.files_modified:
        assert "modified src/y.ts" in file.description


@pytest.mark.parametrize(
    "sentence", ["Retries should be added to the client.", "The cache should expire after an hour."]
)
def test_what_should_be_is_a_next_step(sentence: str) -> None:
    assert [step.step for step in block_of(f"It was a long day.\n\n{sentence}").suggested_next_steps] == [
        sentence
    ]


def test_a_file_that_is_only_mentioned_is_something_to_read() -> None:
    block = block_of("The retry loop lives in `src/pool.py` and explains the rest of it in its docstring.")
    assert [found.file for found in block.dependencies_for_next] == ["src/pool.py"]
