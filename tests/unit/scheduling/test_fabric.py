"""What a gang needs of the network between its pods, and what pools have."""

from dataclasses import dataclass
from decimal import Decimal

import pytest

from automation.scheduling.reason import Reason
from automation.scheduling.remedy import Answer
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Accounting, FabricKind, FabricNeed, Options, Pool, Strategy
from automation.scheduling.verdict import FABRIC_LINES, Code
from components.lock import EngineShape
from tests.unit.scheduling.builder import (
    cluster,
    deployment,
    engine,
    evaluate,
    gang,
    gpu,
    live,
    member,
    plan,
    pool,
    snapshot,
)

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
    Case("nothing said, one pool with a network", None, (PLAIN, NAMED), ("named", "named")),
    Case("nothing said, one network", None, (pool("one", fabric="x"), pool("two", fabric="x")), ("one", "two")),
    Case(
        "nothing said, and there is none",
        None,
        (PLAIN,),
        refusal=f"main: the gang needs a fast network between its nodes, and they share none; {FABRIC_LINES}",
    ),
    Case("any, and the first has none", FabricNeed.ANY, (PLAIN, NAMED), ("named", "named")),
    Case("one of a kind", FabricNeed.EFA, (PLAIN, NAMED, INFINIBAND, EFA), ("efa", "efa")),
    Case("one of the other kind", FabricNeed.INFINIBAND, (EFA, INFINIBAND), ("ib", "ib")),
    Case("none at all", FabricNeed.NONE, (PLAIN,), ("plain", "plain")),
    Case("none at all, two pools", FabricNeed.NONE, (pool("one"), pool("two", fabric="x")), ("one", "two")),
    Case("any, and there is none", FabricNeed.ANY, (PLAIN,), refusal="between its nodes, and they share none"),
    Case("the wrong kind", FabricNeed.EFA, (INFINIBAND,), refusal="EFA between its nodes, and they share InfiniBand"),
    Case("an unknown kind", FabricNeed.EFA, (NAMED,), refusal="of which only the name is known (fabric rail)"),
    Case(
        "two pools apart",
        None,
        (pool("one"), pool("two", fabric="x")),
        refusal=f"pools one (no fabric) and two (x) together, which do not share a fast network; {FABRIC_LINES}",
    ),
    Case(
        "two pools of another kind",
        FabricNeed.EFA,
        (pool("one", fabric="x"), pool("two", fabric="x")),
        refusal="pools one (x) and two (x) together, which do not share EFA",
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
    assert (verdict.code is Code.NO_FABRIC, case.refusal in f"main: {verdict.message}") == (bool(case.refusal), True)


@pytest.mark.parametrize(("size", "workers"), [(8, 1), (1, 1), (1, 7)])
def test_a_gang_that_one_node_could_hold_needs_a_network_too(size: int, workers: int) -> None:
    """The scheduler of the cluster chooses the nodes, and may put its pods on several."""
    made = plan([cluster("a", PLAIN)], [deployment("d", 1, gang(size, workers))])
    assert not made.placements


@pytest.mark.parametrize(
    ("options", "need", "placed"),
    [
        (Options(), None, False),
        (Options(fabric=FabricNeed.NONE), None, True),
        (Options(fabric=FabricNeed.NONE), FabricNeed.ANY, False),
        (Options(fabric=FabricNeed.EFA), FabricNeed.NONE, True),
        (Options(accounting=Accounting.NODE), None, False),
        (Options(Strategy.COMPATIBLE, Accounting.NODE), None, True),
        (Options(Strategy.COMPATIBLE, Accounting.NODE), FabricNeed.ANY, False),
        (Options(Strategy.COMPATIBLE, Accounting.NODE, fabric=FabricNeed.ANY), None, False),
    ],
)
def test_the_environment_speaks_for_deployments_that_say_nothing(
    options: Options, need: FabricNeed | None, *, placed: bool
) -> None:
    """A deployment's own word counts more; under ``Compatible`` nothing is needed where nobody says so."""
    wanted = deployment("d", 1, gang(), fabric=need)
    made = schedule(snapshot([cluster("a", PLAIN)], [wanted], options=options), evaluate=evaluate)
    assert bool(made.placements) is placed


def test_a_gang_that_needs_no_network_is_kept_together_all_the_same() -> None:
    """Two pools that share nothing come last, also where they cost less."""
    cheap = [pool(name, nodes=1, price=Decimal(1)) for name in ("one", "two")]
    rows = [cluster("a", *cheap, pool("three", nodes=2, price=Decimal(9)))]
    (placed,) = plan(rows, [deployment("d", 1, gang(), fabric=FabricNeed.NONE)]).placements
    assert [each.pool for each in placed.placement[0].members] == ["three", "three"]


def test_the_predecessors_choices_heed_it_too() -> None:
    """It narrows the pools; two pools for one gang are still nothing that the predecessor does."""
    wanted = deployment("d", 1, gang(), fabric=FabricNeed.EFA)
    (one,) = plan([cluster("a", PLAIN, EFA)], [wanted], strategy=Strategy.COMPATIBLE).placements
    assert one.placement[0].members[0].pool == "efa"
    apart = [cluster("a", pool("one"), pool("two"))]
    free = deployment("d", 1, gang(), fabric=FabricNeed.NONE)
    assert not plan(apart, [free], strategy=Strategy.COMPATIBLE).placements


@pytest.mark.parametrize("copies", [1, 2])
def test_an_engine_of_one_pod_needs_no_network(copies: int) -> None:
    """The need is about the pods of one gang; copies of an engine are each by themselves."""
    wanted = deployment("d", 1, engine("e", member(8), copies=copies), fabric=FabricNeed.EFA)
    assert len(plan([cluster("a", PLAIN)], [wanted]).placements) == 1


def test_live_gangs_stay_where_there_is_no_network() -> None:
    """The rule is for new places: what runs is kept, and an edited shape waits and says for what."""
    wanted = deployment("d", 1, gang())
    kept = plan([cluster("a", PLAIN)], [wanted], [live(wanted, "a", pools="plain")])
    assert [(each.reason, each.id.cluster) for each in kept.placements] == [(Reason.KEPT, "a")]
    edited = plan([cluster("a", PLAIN)], [deployment("d", 1, gang(), version="v2")], [live(wanted, "a", pools="plain")])
    assert [each.reason for each in edited.placements] == [Reason.EDIT_WAITS]
    assert "between its nodes, and they share none" in edited.shortfalls[0].message


def test_a_live_gang_that_has_to_leave_finds_a_place_or_stays() -> None:
    """A drain takes it to where there is a network, and nowhere else."""
    wanted = deployment("d", 1, gang())
    drained = cluster("a", PLAIN, taints=["k=v:NoExecute"])
    stays = plan([drained, cluster("b", PLAIN)], [wanted], [live(wanted, "a", pools="plain")])
    assert [(each.reason, each.id.cluster) for each in stays.placements] == [(Reason.NOWHERE_TO_GO, "a")]
    moves = plan([drained, cluster("b", NAMED)], [wanted], [live(wanted, "a", pools="plain")])
    assert [(each.reason, each.id.cluster) for each in moves.placements] == [(Reason.MOVED, "b")]


@pytest.mark.parametrize(
    ("wanted", "code"),
    [(gang(selector="none"), Code.NO_MATCH), (gang(16), Code.POD_TOO_LARGE), (gang(8), Code.NO_FABRIC)],
)
def test_the_network_is_no_excuse_for_other_hardware(wanted: EngineShape, code: Code) -> None:
    """A pool that could not carry the gang anyway is refused for that."""
    made = plan([cluster("a", pool("other", gpu("l4", 1), nodes=2), PLAIN)], [deployment("d", 1, wanted)])
    assert made.trace["ml", "d"].verdicts[0].code is code


def test_a_line_of_yaml_is_a_change_and_not_never() -> None:
    """What one more replica would need is said with the line to write."""
    remedy = plan([cluster("a", PLAIN)], [deployment("d", 1, gang())]).trace["ml", "d"].beyond
    assert (remedy.answer, remedy.cluster) == (Answer.CHANGE, "a")
    assert FABRIC_LINES in remedy.message
    never = plan([cluster("a", PLAIN)], [deployment("d", 1, gang(selector="none"))]).trace["ml", "d"].beyond
    assert never.answer is Answer.NEVER
