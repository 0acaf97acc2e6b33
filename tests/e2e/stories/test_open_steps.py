"""Open steps stay until something closes them, whoever named them."""

from tests.e2e.fake_message import Say
from tests.e2e.story import Story, bash, write

PLAN = """# Orders export

## Steps
1. Write exporter.py with the columns of an order
2. Add a VAT column with the rate of the country
3. Document the format in docs/export.md
"""


def test_the_rest_of_a_plan_and_of_what_is_left_is_carried_until_it_is_done(story: Story) -> None:
    story.day(7)
    first = story.open("--permission-mode", "plan")
    first.approve_plan("Plan an export of the orders", PLAN)
    first.leave()

    story.day(5)
    second = story.open()
    second.ask("Hello", Say("Hello!"))
    second.leave()

    story.day(4)
    third = story.open()
    third.ask(
        "Go on with step 1",
        write(story.project / "exporter.py"),
        Say("exporter.py is written. Step 1 is done.\n\nWhat is left: the quoting of names with commas"),
    )
    third.ask("Which encoding is used?", Say("UTF-8."))
    third.leave()

    story.day(2)
    fourth = story.open()
    fourth.ask(
        "Now the VAT column",
        write(story.project / "exporter.py", "VAT = 19\n"),
        bash("git add -A && git commit -q -m 'Add a VAT column with the rate of the country'"),
        Say("The VAT column is added and committed."),
    )
    fourth.leave()

    story.day(0)
    fifth = story.open()
    fifth.ask("Hello", Say("Hello!"))
    fifth.leave()
    story.show(second, third, fourth, fifth)
    assert [sum(word in step for step in second.told_steps) for word in ("exporter.py", "VAT", "docs")] == [
        1,
        1,
        1,
    ]
    assert second.told_field("Status") == "in_progress"
    assert not any("Write exporter.py" in step for step in fourth.told_steps)
    assert any("VAT" in step for step in fourth.told_steps)
    assert any("quoting" in step for step in fourth.told_steps)
    assert not any(step.startswith("Add a VAT") for step in fifth.told_steps)
    assert any("docs/export.md" in step for step in fifth.told_steps)
    assert fifth.told_field("Status") == "in_progress"


def test_a_person_adds_finishes_and_drops_steps(story: Story) -> None:
    story.day(6)
    first = story.open()
    first.ask(
        "Build a CSV exporter for the orders in exporter.py",
        write(story.project / "exporter.py"),
        Say(
            "exporter.py is written.\n\n"
            "Next steps:\n1. Add the VAT column\n2. Write tests\n3. Add a dark mode"
        ),
    )
    first.leave()
    story.flow("next", "add", "Ask Eva about rounding")
    print(story.flow("next"))
    numbers = story.numbers()
    print(story.flow("drop", str(numbers["Add a dark mode"])))

    story.day(4)
    second = story.open()
    second.ask("Hello", Say("Hello!"))
    second.leave()

    story.day(3)
    print(story.flow("done", str(story.numbers()["Ask Eva about rounding"])))
    third = story.open()
    third.ask("Hello", Say("Hello!"))
    third.leave()

    story.day(1)
    fourth = story.open()
    fourth.ask(
        "Write the tests now", write(story.project / "test_exporter.py"), Say("The tests are written.")
    )
    fourth.leave()

    story.day(0)
    fifth = story.open()
    fifth.ask("Hello", Say("Hello!"))
    fifth.leave()
    story.show(second, third, fourth, fifth)
    assert set(second.told_steps) >= {"Ask Eva about rounding", "Add the VAT column", "Write tests"}
    assert not any("dark mode" in step for each in (second, third, fourth, fifth) for step in each.told_steps)
    assert not any("Eva" in step for each in (third, fourth, fifth) for step in each.told_steps)
    assert "Add the VAT column" in fifth.told_steps
    assert "Write tests" not in fifth.told_steps
