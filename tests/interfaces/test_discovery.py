"""The estimates of what is left to find, on values computed by hand."""

from __future__ import annotations

import random

import pytest

from exportdiff.interfaces.reports.discovery import Discovery


def discovery(programs: int, times: dict[str, int]) -> Discovery:
    """Return what so many programs have shown, each species in so many of them."""
    found = Discovery()
    for number in range(programs):
        found.add(name for name, often in times.items() if number < often)
    return found


def test_what_was_seen_is_counted_once_for_each_program() -> None:
    found = Discovery()
    for species in (["a"], [], ["a", "b", "b"], ["c", "a"]):
        found.add(species)
    assert (found.programs, found.found) == (4, 3)
    assert dict(found.seen) == {"a": 3, "b": 1, "c": 1}
    assert found.firsts == [(1, "a"), (3, "b"), (4, "c")]
    assert (found.seen_in(1), found.seen_in(2)) == (2, 0)


def test_chao2_good_turing_and_the_extrapolation_by_hand() -> None:
    # T = 10, S = 6, Q1 = 4, Q2 = 1.
    found = discovery(10, {"a": 1, "b": 1, "c": 1, "d": 1, "e": 2, "f": 7})
    # 9 / 10 * 4 * 3 / (2 * (1 + 1)) = 2.7
    assert found.undetected == pytest.approx(2.7)
    # 4 / 10
    assert found.rate == pytest.approx(0.4)
    # 6 + 2.7 * (1 - (1 - 4 / (4 + 10 * 2.7)) ** 1) = 6 + 2.7 * 4 / 31
    assert found.expected(1) == pytest.approx(6 + 10.8 / 31)
    # (27 / 31) ** 2 = 729 / 961
    assert found.expected(2) == pytest.approx(6 + 2.7 * 232 / 961)
    assert found.expected(0) == 6
    assert found.expected(10**6) == pytest.approx(8.7)


@pytest.mark.parametrize("times", [{}, {"a": 2, "b": 5}, {"a": 1}])
def test_without_two_that_were_seen_once_nothing_more_is_expected(times: dict[str, int]) -> None:
    found = discovery(5, times)
    assert found.undetected == 0
    assert found.expected(100) == len(times)


def test_before_the_first_program_there_is_no_estimate() -> None:
    assert (Discovery().undetected, Discovery().rate, Discovery().expected(9)) == (0, 0, 0)


def test_half_of_a_campaign_predicts_the_other_half() -> None:
    """Two hundred species, from frequent to rare: the estimate is a lower bound, and the curve is close."""
    chances = [0.2 / (1 + number) for number in range(200)]
    chance = random.Random(4)
    found, truth = Discovery(), Discovery()
    for number in range(2000):
        shown = [str(species) for species, often in enumerate(chances) if chance.random() < often]
        truth.add(shown)
        if number < 1000:
            found.add(shown)
    assert found.found < found.found + found.undetected <= 200 * 1.05
    assert found.expected(1000) == pytest.approx(truth.found, rel=0.05)
