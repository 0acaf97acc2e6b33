"""Reading handoff documents: the contract's own, those of other tools, and anything else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.handoff.markdown.document import Document, kind_of
from flowd.handoff.markdown.parse import decoded, read_document

CONTRACT = """\
# Handoff — 2026-03-01

session_id: amp:T-0b5e
purpose: Ship login: tokens first, then cookies
source: amp

## Gotchas
The test database must be empty.

## Done so far
- [x] Token parser
- [x] Expiry
  - with a sub-point
  and more of the second

## Next Steps
1. [ ] Cookies
2. [x] Docs
3. Logout

## Risks
"""
HUMANLAYER = """\
---
date: 2026-03-01T10:00:00Z
git_commit: abc1234
branch: feat/login
topic: "Login: the second half"
status: in_progress
---

# Handoff: ENG-12 login

## Task(s)
Implementing phase two.

## Recent changes
- `auth.py:10-20` validates

## Learnings
- Tokens are opaque

## Action Items & Next Steps
1. Wire the cookie
"""
CONTINUOUS = """\
---
session: login
date: 2026-03-01
status: partial
outcome: PARTIAL_PLUS
---

goal: Ship login
now: Cookies
done_this_session:
  - task: Token parser
    files: [auth.py]
  - Expiry
next:
  - Cookies
  - Logout
blockers: []
worked: [TDD]
decisions:
  - opaque_tokens: the spec asks for it
git:
  branch: feat/login
  commit: abc1234
"""


def texts(document: Document, kind: str) -> list[str]:
    return [item.text for item in document.items(kind)]  # type: ignore[arg-type]  # names as tests write them


def test_the_contracts_own_style_is_read_in_any_order() -> None:
    document = read_document(CONTRACT)
    assert (document.session_id, document.purpose) == ("amp:T-0b5e", "Ship login: tokens first, then cookies")
    assert texts(document, "done") == ["Token parser", "Expiry"]
    assert document.open_items == ["Cookies", "Logout"]
    assert texts(document, "gotchas") == ["The test database must be empty."]
    assert texts(document, "risks") == []
    assert document.progress_percent == 75
    assert not document.is_auto


def test_humanlayers_style_is_read() -> None:
    document = read_document(HUMANLAYER)
    assert (document.purpose, document.branch, document.commit) == (
        "Login: the second half",
        "feat/login",
        "abc1234",
    )
    assert texts(document, "done") == ["`auth.py:10-20` validates"]
    assert texts(document, "reflection") == ["Tokens are opaque"]
    assert document.open_items == ["Wire the cookie"]


def test_continuous_claudes_two_yaml_documents_are_read() -> None:
    document = read_document(CONTINUOUS)
    assert (document.purpose, document.branch, document.commit) == ("Ship login", "feat/login", "abc1234")
    assert texts(document, "done") == ["Token parser; files: auth.py", "Expiry"]
    assert document.open_items == ["Cookies", "Logout"]
    assert texts(document, "decisions") == ["opaque_tokens: the spec asks for it"]


def test_yaml_that_is_none_is_read_by_its_lines() -> None:
    broken = "goal: Ship: login: [\nnext:\n  - Cookies\n  - 'Log: out\ndone_this_session:\n- Parser\n"
    document = read_document(broken)
    assert texts(document, "done") == ["Parser"]
    assert document.open_items == ["Cookies", "'Log: out"]


@pytest.mark.parametrize(
    ("text", "purpose"),
    [
        ("# Handoff — 2026-03-01\n\npurpose: a: b\n", "a: b"),
        ("# Handoff — 2026-03-01\n\npurpose:\n\n## Done\n- First thing\n", "First thing"),
        ("# Handoff — 2026-03-01\n\n## Done\n" + "x" * 80, "x" * 59 + "…"),
        ("# Handoff: the till\n\nWords.\n", "the till"),
        ("# Checkpoint\n\n**Goal:** Open the shop\n**Branch:** `main`\n", "Open the shop"),
        ("# Handoff — 2026-03-01 (auto)\n", "(no summary)"),
        ("", "(no summary)"),
    ],
)
def test_a_purpose_is_stated_or_found(text: str, purpose: str) -> None:
    assert read_document(text).purpose == purpose


def test_purpose_and_session_count_only_above_the_sections() -> None:
    document = read_document("# Handoff\n\n## Done\n- x\n\npurpose: another's\nsession_id: another\n")
    assert (document.purpose, document.session_id) == ("x", "")


@pytest.mark.parametrize(
    "text",
    [
        "HUMAN REVIEW NEEDED: keys in the log",
        "# H\n\n## Done\n- fine\n\n**Human Review needed** — keys in the log",
        "---\ntopic: x\n---\n> human review needed: keys in the log.\n",
        "goal: x\nnotes: 'human review needed: keys in the log'\n",
        "```\nHUMAN REVIEW NEEDED: keys in the log\n```\n",
    ],
)
def test_the_escalation_signal_is_found_anywhere_in_any_case(text: str) -> None:
    (reason,) = read_document(text).escalations
    assert reason.startswith("keys in the log")


def test_words_like_the_signal_are_none() -> None:
    assert read_document("No review by a human is needed; human-review-needed").escalations == ()


def test_what_flowd_says_about_the_source_is_read_back() -> None:
    source = "source: flowd (idle) on a/b@abc1234 in /w/x y\n"
    document = read_document(f"# Handoff — 2026-03-01 (auto)\n\nsession_id: s\npurpose: p\n{source}")
    assert (document.trigger, document.branch, document.commit, document.project) == (
        "idle",
        "a/b",
        "abc1234",
        "/w/x y",
    )
    assert document.is_auto


def test_headings_in_code_are_code_unless_the_fence_is_never_closed() -> None:
    fenced = "## Done\n- a\n```md\n## Next\n- not this\n```\n- b\n"
    assert texts(read_document(fenced), "done") == ["a", "b"]
    assert read_document(fenced).open_items == []
    assert read_document("## Done\n- a\n```\n## Next\n- this\n").open_items == ["this"]


def test_a_section_of_the_contract_keeps_what_lies_below_it() -> None:
    document = read_document("## Done\n- a\n### Next to it\n- b\n## Next\n- c\n")
    assert texts(document, "done") == ["a", "b"]
    assert document.open_items == ["c"]


def test_the_contracts_headings_are_found_below_another() -> None:
    document = read_document("# Handoff — x\n\n## For the next Claude\n\n### Done\n- a\n\n### Risks\n- r\n")
    assert texts(document, "done") == ["a"]
    assert texts(document, "risks") == ["r"]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("## Next\n| What | Who |\n|---|---|\n| Till | Bo |\n", ["Till — Bo"]),
        ("## Next\n### Till\nwords\n### Door\nwords\n", ["Till", "Door"]),
        ("## Next\nOne thing\nover two lines.\n\nAnother.\n", ["One thing over two lines.", "Another."]),
        ("**Next steps:**\n- a\n", ["a"]),
        ("Next\n----\n- a\n", ["a"]),
        ("## 7. 🚀 What's left (today)\r\n* a\r\n", ["a"]),
    ],
)
def test_entries_are_found_in_lists_tables_headings_and_prose(text: str, items: list[str]) -> None:
    assert read_document(text).open_items == items


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("What We Accomplished", "done"),
        ("Completed This Session", "done"),
        ("Action Items & Next Steps", "next"),
        ("Next Actions", "next"),
        ("Pending", "next"),
        ("Watch Out For", "gotchas"),
        ("Known issues", "gotchas"),
        ("Open Risks", "risks"),
        ("Blockers", "blockers"),
        ("Decisions", "decisions"),
        ("Files modified", "files"),
        ("Doneness", "done"),
        ("What Was Completed in Phase 10 (1.0.0)", "done"),
        ("Post-1.0 Roadmap", "next"),
        ("How to Continue in a New Conversation", "next"),
        ("Dead Ends & Mistakes", "gotchas"),
        ("Landmines (learned the hard way, all real)", "gotchas"),
        ("Known limitations / things not yet validated", "risks"),
        ("Current Task", "context"),
        ("Progressive rollout", None),
        ("Architecture in 60 seconds", None),
        ("", None),
    ],
)
def test_headings_are_known_by_their_names(heading: str, kind: str | None) -> None:
    assert kind_of(heading) == kind


PIECES = st.sampled_from(
    [
        *(
            "# ",
            "## Done\n",
            "### Next\n",
            "- [x] a\n",
            "- ",
            "---\n",
            "```\n",
            "~~~~\n",
            "key: ",
            "purpose: ",
        ),
        *(
            "\n",
            "\r\n",
            "| a | b |\n",
            "|---|\n",
            "**Next:**\n",
            "  - b\n",
            "1. ",
            "human review needed",
            ": ",
        ),
        *("[", "{", "&a ", "*a", "!!python/x ", "\t", "\x00", "\u2028", "===\n"),
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES | st.text(max_size=8)).map("".join))
def test_no_document_raises_and_every_answer_is_whole(text: str) -> None:
    document = read_document(text)
    assert document.purpose
    assert 0 <= document.progress_percent <= 100
    assert document.ticked <= document.boxes
    assert bool(document.escalations) == ("human review needed" in text.casefold().replace("\t", " "))


@settings(deadline=None)
@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    read_document(decoded(data))
    read_document(decoded(b"\xff\xfe" + data))


HOSTILE = [
    *(
        "-",
        "- ",
        "|-",
        "# a\n",
        "# Done\n",
        "## Next\n",
        "- [x] a\n",
        "```\n",
        "1.",
        "# ",
        "# #",
        "*",
        "[",
        "{a: ",
        "> ",
    ),
    *(
        "**Next:**\n",
        "human review ",
        "key: ",
        "a: &a [*a]\n",
        "\n \n",
        "---\n",
        "handoff-",
        "| a ",
        " ",
        "\t",
        "_",
    ),
]


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("before", ["", "# Handoff", "## Next\n"])
def test_no_document_takes_for_ever(unit: str, before: str) -> None:
    """Where the cost is a square or worse of the length, this test does not come to its end."""
    assert read_document(before + unit * (50_000 // len(unit)) + "x").purpose


SECTION = st.tuples(
    st.sampled_from(["Done", "Next", "Gotchas", "Risks", "Reflection"]),
    st.lists(st.from_regex(r"[a-z][a-z ,]{0,20}[a-z]", fullmatch=True), max_size=5),
)


@settings(deadline=None)
@given(st.lists(SECTION, unique_by=lambda section: section[0]))
def test_every_section_is_found_in_any_order_to_its_end(sections: list[tuple[str, list[str]]]) -> None:
    text = "# Handoff — 2026-03-01\n\n" + "\n".join(
        f"## {name}\n" + "".join(f"- {item}\n" for item in items) for name, items in sections
    )
    document = read_document(text)
    for name, items in sections:
        assert texts(document, name.casefold()) == items


@pytest.mark.parametrize(
    "text",
    [
        "No human review needed.",
        "There is no human review needed here",
        "Human review needed: no",
        "Human review needed: none",
        "human review needed? No.",
        "HUMAN REVIEW NEEDED: none",
        "It is done without human review needed anywhere.",
        "Human review is not needed; human review needed = false",
    ],
)
def test_a_signal_that_is_denied_is_none(text: str) -> None:
    assert read_document(f"# Handoff\n\n## Risks\n- {text}\n").escalations == ()


@pytest.mark.parametrize(
    "text",
    [
        "HUMAN REVIEW NEEDED: no backup was made",
        "No backup. HUMAN REVIEW NEEDED: restore",
        "human review needed",
    ],
)
def test_a_no_that_is_about_something_else_denies_nothing(text: str) -> None:
    assert len(read_document(f"# Handoff\n\n## Risks\n- {text}\n").escalations) == 1


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("What To Do Next", "next"),
        ("What's Still Needed", "next"),
        ("What is still missing", "next"),
        ("Still To Be Done", "next"),
        ("Things left to do", "next"),
        ("Where to go from here", "next"),
        ("Open Decisions", "questions"),
        ("Undecided", "questions"),
        ("Pending decisions", "questions"),
    ],
)
def test_more_headings_that_people_use(heading: str, kind: str) -> None:
    (section,) = read_document(f"# Handoff\n\n## {heading}\n\n- Something\n").sections
    assert section.kind == kind


def test_the_title_says_more_than_a_cut_bullet_or_a_table_row() -> None:
    long = "Rewrote the importer so that it reads every one of the formats the old shop has ever exported"
    document = read_document(f"# Handoff: Import of the old shop\n\n## Done\n- {long}\n")
    assert document.purpose == "Import of the old shop"
    document = read_document("# Session Handoff - 2026-03-01\n\n## Done\n- Short thing\n")
    assert document.purpose == "Short thing"
