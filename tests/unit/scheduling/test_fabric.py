"""What a gang needs of the network between its pods, and what pools have."""

from dataclasses import dataclass

import pytest

from automation.scheduling.snapshot import FabricKind, FabricNeed, Pool, Strategy
from automation.scheduling.verdict import Code
from tests.unit.scheduling.builder import cluster, deployment, engine, gang, member, plan, pool

EFA = pool("efa", nodes=2, fabric="EFA a", fabric_kind=FabricKind.EFA)
INFINIBAND = pool("ib", nodes=2, fabric="InfiniBand f", fabric_kind=FabricKind.INFINIBAND)
NAMED = pool("named", nodes=2, fabric="fabric rail")
PLAIN = pool("plain", nodes=2)


@dataclass(frozen=True)
class Case:
    """What a gang of two whole nodes needs, and the pools of its pods, or why there are none."""

    name: str
    need: FabricNeed | None
    pools: tuple[Pool, ...]
    want: tuple[str, ...] = ()
    refusal: str = ""


CASES = [
    Case("nothing said, one pool", None, (PLAIN,), ("plain", "plain")),
    Case("any, and the first has none", FabricNeed.ANY, (PLAIN, NAMED), ("named", "named")),
    Case("one of a kind", FabricNeed.EFA, (PLAIN, NAMED, INFINIBAND, EFA), ("efa", "efa")),
    Case("one of the other kind", FabricNeed.INFINIBAND, (EFA, INFINIBAND), ("ib", "ib")),
    Case("none at all", FabricNeed.NONE, (pool("one"), pool("two", fabric="x")), ("one", "two")),
    Case("any, and there is none", FabricNeed.ANY, (PLAIN,), refusal="needs a fast network, and its nodes share none"),
    Case("the wrong kind", FabricNeed.EFA, (INFINIBAND,), refusal="needs EFA, and its nodes share InfiniBand"),
    Case("an unknown kind", FabricNeed.EFA, (NAMED,), refusal="of which only the name is known (fabric rail)"),
    Case(
        "two pools apart",
        None,
        (pool("one"), pool("two", fabric="x")),
        refusal="one (no fabric) and two (x) together, which share no fabric",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_gang_is_where_its_network_is(case: Case) -> None:
    """A refusal says what is needed and what is there."""
    made = plan([cluster("a", *case.pools)], [deployment("d", 1, gang(), fabric=case.need)])
    assert [tuple(each.pool for each in one.placement[0].members) for one in made.placements] == (
        [case.want] if case.want else []
    )
    verdict = made.trace["ml", "d"].verdicts[0]
    assert (verdict.code is Code.NO_FABRIC, case.refusal in verdict.message) == (bool(case.refusal), True)


def test_the_predecessors_choices_heed_it_too() -> None:
    """It narrows the pools; two pools for one gang are still nothing that the predecessor does."""
    wanted = deployment("d", 1, gang(), fabric=FabricNeed.EFA)
    (one,) = plan([cluster("a", PLAIN, EFA)], [wanted], strategy=Strategy.COMPATIBLE).placements
    assert one.placement[0].members[0].pool == "efa"
    apart = [cluster("a", pool("one"), pool("two"))]
    free = deployment("d", 1, gang(), fabric=FabricNeed.NONE)
    assert not plan(apart, [free], strategy=Strategy.COMPATIBLE).placements


def test_an_engine_of_one_pod_needs_no_network() -> None:
    """The need is about the nodes of a gang."""
    made = plan([cluster("a", PLAIN)], [deployment("d", 1, engine("e", member(8)), fabric=FabricNeed.EFA)])
    assert len(made.placements) == 1
