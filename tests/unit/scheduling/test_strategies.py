"""Strategies: of the environment, and of a deployment that chooses its own."""

from dataclasses import replace
from decimal import Decimal

import pytest

from automation.scheduling.order import Standing, key_of, order_of
from automation.scheduling.snapshot import Deployment, Strategy
from components.errors import SchedulingError
from tests.unit.scheduling.builder import cluster, deployment, engine, live, member, plan, pool, where

WHOLE = engine("main", member(8))
DEAR = cluster("a", pool("gpus", nodes=9, price=Decimal(90)), region="east")
CHEAP = cluster("b", pool("gpus", nodes=2, price=Decimal(10)), region="east")
OTHER = cluster("c", pool("gpus", nodes=9, price=Decimal(50)), region="west")
FLEET = [DEAR, CHEAP, OTHER]

CASES = [
    (Strategy.SPREAD, ["d@a/0", "d@b/0", "d@c/0"]),
    (Strategy.PACK, ["d@b/0", "d@b/1", "d@c/0"]),
    (Strategy.COST, ["d@b/0", "d@b/1", "d@c/0"]),
    (Strategy.COMPATIBLE, ["d@a/0", "d@b/0", "d@c/0"]),
]


def three(strategy: Strategy | None = None) -> Deployment:
    """Make a deployment of three whole nodes."""
    return deployment("d", 3, WHOLE, strategy=strategy)


@pytest.mark.parametrize(("strategy", "places"), CASES, ids=[each.value for each, _ in CASES])
def test_three_replicas_go_where_the_strategy_says(strategy: Strategy, places: list[str]) -> None:
    """Spread: one on each cluster. Pack and Cost: the cheapest while it lasts, for different reasons."""
    assert where(plan(FLEET, [three()], strategy=strategy)) == places


@pytest.mark.parametrize("strategy", Strategy, ids=lambda each: each.value)
def test_what_compares_equal_goes_by_name(strategy: Strategy) -> None:
    """Of the cluster, and never of its region."""
    alike = [cluster("b", region="east"), cluster("a", region="west")]
    assert where(plan(alike, [replace(three(), replicas=1)], strategy=strategy)) == ["d@a/0"]


@pytest.mark.parametrize(
    ("strategy", "place"),
    [(each, "d@a/0" if each is Strategy.COMPATIBLE else "d@b/0") for each in Strategy],
    ids=str,
)
def test_pods_of_one_size_stay_together_and_the_cheaper_is_taken(strategy: Strategy, place: str) -> None:
    """By all strategies but the predecessor's, which looks at names alone; each goal is asked by itself."""
    other = deployment("o", 1, WHOLE)
    small = deployment("d", 1, engine("main", member(1)))
    mixed = plan([cluster("a", pool(nodes=3)), cluster("b")], [other, small], [live(other, "a")], strategy=strategy)
    assert place in where(mixed)
    assert where(plan(FLEET[:2], [replace(three(), replicas=1)], strategy=strategy)) == [place]


@pytest.mark.parametrize("strategy", Strategy, ids=lambda each: each.value)
def test_the_order_of_goals_is_told_as_it_is(strategy: Strategy) -> None:
    """One word for each part of the key, what counts first before the rest."""
    first = {"Spread": "fewest own replicas", "Compatible": "fewest own replicas", "Pack": "most own replicas"}
    told = order_of(strategy)
    assert told[0] == first.get(strategy, "a known price")
    assert len(told) == len(key_of(strategy)(Standing(0, 0, mixes=False, rank=(False, Decimal(0), 0), position=0)))


@pytest.mark.parametrize("strategy", [Strategy.SPREAD, Strategy.PACK, Strategy.COST], ids=lambda each: each.value)
@pytest.mark.parametrize("beside", [Strategy.SPREAD, Strategy.PACK, Strategy.COST], ids=lambda each: each.value)
def test_a_deployment_chooses_for_itself_alone(strategy: Strategy, beside: Strategy) -> None:
    """It is placed as where its strategy is the environment's, whatever is placed beside it."""
    alone = where(plan(FLEET, [three()], strategy=strategy))
    both = plan(FLEET, [three(strategy), replace(three(), namespace="other", replicas=1)], strategy=beside)
    assert [f"d@{each.id.cluster}/{each.id.index}" for each in both.placements if each.id.namespace == "ml"] == alone


def test_pack_stays_where_it_has_most_and_cost_does_not_look() -> None:
    """Which tells them apart."""
    running = [live(three(), "a")]
    two = replace(three(), replicas=2)
    assert where(plan(FLEET, [replace(two, strategy=Strategy.PACK)], running)) == ["d@a/0", "d@a/1"]
    assert where(plan(FLEET, [replace(two, strategy=Strategy.COST)], running)) == ["d@a/0", "d@b/0"]


def test_spread_looks_at_the_region_before_the_price() -> None:
    """A second replica goes west, where none is, and not to the cheaper cluster beside the first."""
    running = [live(three(), "a")]
    assert where(plan(FLEET, [replace(three(), replicas=2)], running)) == ["d@a/0", "d@c/0"]


def test_compatible_holds_for_the_whole_environment() -> None:
    """With it no deployment has its own; and none can choose it where the environment does not."""
    assert where(plan(FLEET, [three(Strategy.COST)], strategy=Strategy.COMPATIBLE)) == CASES[3][1]
    with pytest.raises(SchedulingError, match="ml/d: strategy Compatible is for a whole fleet"):
        plan(FLEET, [three(Strategy.COMPATIBLE)])
