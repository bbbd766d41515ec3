"""Strategies: of the environment, and of a deployment that chooses its own."""

from dataclasses import replace
from decimal import Decimal

import pytest

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
