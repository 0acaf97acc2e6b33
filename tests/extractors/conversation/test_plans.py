"""Plans and what they want to be verified by."""

from flowd.extractors.conversation.plans import is_plan, plan_checks, plan_title

PLAN = """# Implementation Plan: Sort carts by price

## Context

Carts are unsorted.

## Verification

1. `make test`
2. Open the cart page

## Risks

None.
"""


def test_a_plan_is_known_by_its_preface() -> None:
    """As the client writes it when a plan goes to a new session."""
    assert is_plan("Implement the following plan:\n\n" + PLAN)
    assert not is_plan("Implement vouchers for the cart")


def test_a_plans_title_is_told_without_saying_that_it_is_one() -> None:
    """Or its first line where it has none."""
    assert plan_title("Implement the following plan:\n\n" + PLAN) == "Sort carts by price"
    assert plan_title("Sort carts\n\nText") == "Sort carts"


def test_the_steps_of_verification_are_listed() -> None:
    """Only those."""
    assert plan_checks(PLAN) == ["make test", "Open the cart page"]
