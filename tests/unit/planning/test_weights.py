"""Weights of a service's endpoints: whole numbers in the proportion of the groups."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.frontdoor.weights import LIMIT, weights

Groups = list[tuple[int, list[str]]]


def groups(*sizes: tuple[int, int]) -> Groups:
    """Make groups of a weight and a number of endpoints."""
    return [(weight, [f"{number}-{each}" for each in range(count)]) for number, (weight, count) in enumerate(sizes)]


TABLE: list[tuple[Groups, list[int]]] = [
    (groups((80, 3), (20, 1)), [27, 27, 26, 20]),
    (groups((1, 2), (3, 1)), [1, 1, 6]),
    (groups((2, 1), (2, 1)), [1, 1]),
    (groups((1, 5)), [1, 1, 1, 1, 1]),
    (groups((1, 3), (1, 2)), [1, 1, 1, 2, 1]),
    (groups((95, 2), (5, 1)), [48, 47, 5]),
    (groups((1_000_000, 1), (1, 2)), [1_000_000, 1, 1]),
    (groups((80, 0), (20, 2)), [1, 1]),
    (groups(), []),
    (groups((1, 0)), []),
]


@pytest.mark.parametrize(("given_groups", "want"), TABLE, ids=str)
def test_weights_follow_the_table(given_groups: Groups, want: list[int]) -> None:
    """The predecessor's own results, and groups that are empty."""
    assert [weight for _, weight in weights(given_groups)] == want


def test_an_endpoint_of_two_groups_belongs_to_the_first() -> None:
    """And is named once, also within a group."""
    assert weights([(3, ["a", "a"]), (1, ["a", "b"])]) == [("a", 3), ("b", 1)]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, LIMIT), st.integers(0, 6)), max_size=4))
def test_nobody_rounds_to_nothing_and_shares_hold(sizes: list[tuple[int, int]]) -> None:
    """Every endpoint has a weight within bounds, endpoints of a group differ by one, and groups keep their shares."""
    found = weights(groups(*sizes))
    assert len(found) == sum(count for _, count in sizes)
    assert all(1 <= weight <= LIMIT for _, weight in found)
    if max((weight for _, weight in found), default=0) == LIMIT:
        return  # cut to the gateway's limit: proportions are only near
    total, wanted = sum(weight for _, weight in found), sum(weight for weight, count in sizes if count)
    for number, (weight, count) in enumerate(sizes):
        own = [share for name, share in found if name.startswith(f"{number}-")]
        if count:
            assert max(own) - min(own) <= 1
            assert Fraction(sum(own), total) == Fraction(weight, wanted)
