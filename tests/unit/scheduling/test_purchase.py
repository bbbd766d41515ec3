"""Reserved nodes first, spot ones only where they are allowed."""

from collections import Counter
from decimal import Decimal

from automation.scheduling.result import Schedule
from automation.scheduling.snapshot import Purchase, Strategy
from automation.scheduling.verdict import Code
from tests.unit.scheduling.builder import cluster, deployment, engine, live, member, plan, pool

WHOLE = engine("main", member(8))
SPOT = pool("spot", nodes=9, price=Decimal(3), purchase=Purchase.SPOT)
USUAL = pool("usual", nodes=9, price=Decimal(9))
RESERVED = pool("reserved", nodes=2, price=Decimal(8), purchase=Purchase.RESERVED)


def pools(made: Schedule) -> dict[str, int]:
    """Count the replicas by pool."""
    return dict(Counter(each.placement[0].members[0].pool for each in made.placements))


def test_reserved_nodes_are_filled_before_spot_ones() -> None:
    """Two are reserved and five are wanted: the rest goes to the cheapest, as far as that is allowed."""
    one = cluster("a", SPOT, USUAL, RESERVED)
    assert pools(plan([one], [deployment("d", 5, WHOLE, spot=True)])) == {"reserved": 2, "spot": 3}
    assert pools(plan([one], [deployment("d", 5, WHOLE)])) == {"reserved": 2, "usual": 3}


def test_a_reserved_node_without_a_price_is_still_the_cheapest() -> None:
    """It is paid for already, whatever it costs; one without a price that is not reserved comes last."""
    reserved = pool("reserved", nodes=1, purchase=Purchase.RESERVED)
    one = cluster("a", pool("unpriced", nodes=1), USUAL, reserved)
    assert pools(plan([one], [deployment("d", 2, WHOLE)], strategy=Strategy.COST)) == {"reserved": 1, "usual": 1}


def test_a_spot_pool_that_is_not_allowed_says_so() -> None:
    """The only pool with room is refused in words, and no replica is put on it."""
    wanted = deployment("d", 1, WHOLE)
    made = plan([cluster("a", SPOT)], [wanted])
    assert not made.placements
    verdict = made.trace[wanted.key].verdict("a")
    assert (verdict.code, verdict.message) == (
        Code.SPOT_ONLY,
        "its nodes are spot ones, which the deployment does not allow",
    )
    other = deployment("e", 1, engine("main", member(8, "none")))
    assert plan([cluster("a", SPOT)], [other]).trace[other.key].verdict("a").code is Code.NO_MATCH


def test_a_replica_that_runs_on_a_spot_pool_stays_there() -> None:
    """Taking the permission away moves nothing: that is no reason of the table."""
    wanted = deployment("d", 1, WHOLE)
    made = plan([cluster("a", SPOT, USUAL)], [wanted], [live(wanted, "a", pools="spot")])
    assert [each.kept for each in made.placements] == [True]
