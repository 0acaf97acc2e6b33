"""Issues made and closed with bd are steps with an id."""

import json

import pytest

from flowd.extractors.conversation.issues import closed_in, made_in
from tests.support.story import DayOfWork, Story
from tests.support.transcript import Transcript


@pytest.mark.parametrize(
    ("command", "title"),
    [
        ('bd create "Round VAT per line" --json', "Round VAT per line"),
        ("cd shop && bd create -t bug -p 1 'Mend the till' --description=long", "Mend the till"),
        ("bd create --title 'Count the stock' --type task", "Count the stock"),
        ("bd list --json", ""),
        ("echo bd create nothing", ""),
    ],
)
def test_the_title_of_a_new_issue_is_read_from_the_command(command: str, title: str) -> None:
    assert made_in(command) == title


def test_all_ids_that_a_command_closes_are_read() -> None:
    assert closed_in("bd close shop-1 shop-a2b.3 --reason='all done' 2>&1") == ["shop-1", "shop-a2b.3"]
    assert closed_in("bd show shop-1") == []


def steps(session: Transcript) -> list[tuple[str, str]]:
    return [(step.text, step.source) for step in session.state.evidence.steps]


@pytest.mark.parametrize("output", [json.dumps({"id": "shop-4f", "title": "x"}), "✓ Created issue: shop-4f"])
def test_a_new_issue_is_an_open_step_until_it_is_closed(output: str) -> None:
    session = Transcript().person("Look at the till").edit("src/till.py")
    session.run('bd create "Round VAT per line"', output).assistant("The till is mended.")
    assert ("Round VAT per line (shop-4f)", "bead") in steps(session)
    session.person("Close that issue").run("bd close shop-4f", "✓ Closed shop-4f").assistant("It is closed.")
    assert "bead" not in dict(steps(session)).values()


def test_a_later_session_closes_the_issue_of_an_earlier_one() -> None:
    story = Story()
    first = DayOfWork("monday", 1)
    first.person("Look at the till").edit("src/till.py")
    first.run('bd create "Round VAT per line" --json', '{"id": "shop-4f"}').assistant("The till is mended.")
    story.play(first)
    assert "Round VAT per line (shop-4f)" in story.steps()
    second = DayOfWork("tuesday", 2)
    second.person("Please continue").edit("src/till.py").run("bd close shop-4f", "✓ Closed shop-4f")
    story.play(second.assistant("Rounded."))
    assert "Round VAT per line (shop-4f)" not in story.steps()
