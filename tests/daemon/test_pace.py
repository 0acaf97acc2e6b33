"""Recurring work for many keys stays within a share of one core."""

import pytest

from flowd.daemon.pace import Pace


def test_without_any_cost_a_key_rests_only_the_minimum() -> None:
    assert Pace(share=0.1, max_rest_s=5.0).rest_s(0.2, keys=1000) == 0.2


def test_the_rest_grows_with_the_cost_and_the_number_of_keys() -> None:
    pace = Pace(share=0.1, max_rest_s=100.0)
    for _ in range(100):  # until the smoothed cost is the real one
        pace.spent(0.02, turns=2)
    assert pace.rest_s(0.0, keys=10) == pytest.approx(0.01 * 10 / 0.1)
    assert pace.rest_s(0.0, keys=20) == pytest.approx(2 * pace.rest_s(0.0, keys=10))


def test_no_key_rests_longer_than_the_maximum() -> None:
    pace = Pace(share=0.01, max_rest_s=3.0)
    pace.spent(10.0, turns=1)
    assert pace.rest_s(0.2, keys=100) == 3.0


def test_one_expensive_turn_does_not_set_the_pace_for_good() -> None:
    pace = Pace(share=0.5, max_rest_s=100.0)
    pace.spent(1.0, turns=1)
    slow = pace.rest_s(0.0, keys=1)
    for _ in range(50):
        pace.spent(0.0, turns=1)
    assert pace.rest_s(0.0, keys=1) < slow / 100
