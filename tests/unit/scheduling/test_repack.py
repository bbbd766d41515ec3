"""Two clusters filled anew: what must change places at once does, for a gain alone, and nobody pays for it."""

from dataclasses import replace
from decimal import Decimal

import pytest

from automation.scheduling import repack
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Deployment, Options, Quota, Snapshot, Strategy
from automation.scheduling.verdict import Code
from tests.laws.test_scheduling_optimum import mixed_fleet
from tests.unit.scheduling.builder import cluster, deployment, engine, evaluate, live, member, plan, pool, where

SMALL, LARGE = cluster("a", pool(nodes=2)), cluster("b", pool(nodes=5))


def whole(name: str, copies: int, replicas: int = 1, priority: int = 0) -> Deployment:
    """Make a deployment that wants so many whole nodes per replica."""
    return deployment(name, replicas, engine("main", member(8), copies=copies), priority=priority)


ONE, TWO, FOUR = whole("d", 1), whole("f", 2), whole("e", 4)


def test_two_change_places_for_a_third() -> None:
    """One node and two nodes are in the way of four; neither finds a place before the other has left its own."""
    made = plan([SMALL, LARGE], [ONE, TWO, FOUR])
    assert where(made) == ["d@b/0", "e@b/0", "f@a/0"]
    assert not made.shortfalls


def test_a_few_looks_are_all_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any the answer of the step before stands; their number bounds the search, not the time."""
    monkeypatch.setattr(repack, "LOOKS", 0)
    assert where(plan([SMALL, LARGE], [ONE, TWO, FOUR])) == ["d@a/0", "f@b/0"]


def test_nothing_changes_places_when_nothing_is_gained() -> None:
    """What is as good as before is taken back."""
    rows = [SMALL, cluster("b", pool(nodes=4))]
    made = plan(rows, [ONE, TWO, whole("e", 4, 2)])
    assert where(made) == where(plan(rows, [ONE, TWO])) == ["d@a/0", "f@b/0"]
    assert [each.deployment for each in made.shortfalls] == ["e"]


def test_a_live_replica_does_not_change_places() -> None:
    """It was there first, and the third has no room."""
    made = plan([SMALL, LARGE], [ONE, TWO, FOUR], [live(ONE, "a")])
    assert where(made) == ["d@a/0", "f@b/0"]


def test_one_of_a_higher_priority_is_not_given_up_for_several() -> None:
    """Five nodes are one that comes first, or two and three that do not."""
    first = whole("z", 5, priority=1)
    made = plan([cluster("a", pool(nodes=5))], [first, whole("b", 3), whole("c", 2)])
    assert where(made) == ["z@a/0"]


def test_one_of_a_higher_priority_is_placed_by_giving_up_another() -> None:
    """Where either has room, it is the one that comes first."""
    rows = [SMALL, LARGE]
    made = plan(rows, [replace(ONE, priority=2), replace(TWO, priority=2), replace(FOUR, priority=1), whole("g", 3)])
    assert where(made) == ["d@b/0", "e@b/0", "f@a/0"]
    assert [each.deployment for each in made.shortfalls] == ["g"]


def test_the_predecessors_strategy_does_not_repack() -> None:
    """One deployment after the other, by name; what is there stays."""
    assert where(plan([SMALL, LARGE], [ONE, TWO, FOUR], strategy=Strategy.COMPATIBLE)) == ["d@a/0", "e@b/0"]


def test_quotas_hold_while_places_change() -> None:
    """The third would fit, and its namespace may not have that much."""
    gpus = cluster("b", pool("gpus", nodes=5))
    fleet = Snapshot((SMALL, gpus), (ONE, TWO, FOUR))
    kind = fleet.clusters[0].pools[0].devices[0]
    named = tuple(
        replace(each, pools=tuple(replace(one, devices=(replace(kind, accelerator="h100"),)) for one in each.pools))
        for each in fleet.clusters
    )
    for most, places in ((56, 3), (55, 2)):
        quotas = {ONE.namespace: Quota({"h100": most})}
        made = schedule(replace(fleet, clusters=named, quotas=quotas), evaluate=evaluate)
        assert len(made.placements) == places


def test_what_changed_places_is_spread_again() -> None:
    """Nobody is left with two replicas on one cluster while another one has room and none."""
    nodes = {"c0": 4, "c1": 4, "c2": 3, "c3": 2}
    rows = [cluster(name, pool(nodes=each), region="w" if name < "c2" else "e") for name, each in nodes.items()]
    sizes = {"d0": (3, 2, 1), "d1": (1, 4, 4), "d2": (2, 1, 1), "d3": (1, 2, 1), "d4": (2, 8, 4), "d5": (2, 1, 1)}
    wanted = [
        deployment(name, replicas, engine("main", member(devices), copies=copies))
        for name, (replicas, devices, copies) in (*sizes.items(), ("d6", (3, 8, 1)))
    ]
    made = plan(rows, wanted)
    for trace in made.trace.values():
        most = max((verdict.taken for verdict in trace.verdicts), default=0)
        assert most < 2 or not any(verdict.code is Code.FITS for verdict in trace.verdicts), trace.deployment


def test_what_has_no_part_in_a_gain_stays() -> None:
    """Clusters of another selector are as they would be without the one that gains."""

    def fleet(*more: Deployment) -> list[str]:
        two, five = (cluster(f"r{each}", pool(nodes=each), labels={"t": "r"}) for each in (2, 5))
        others = [cluster(f"s{each}", pool(nodes=2, price=Decimal(10 + each)), labels={"t": "s"}) for each in range(6)]
        wanted = [replace(each, selector={"t": "r"}) for each in (ONE, TWO, *more)]
        ones = [replace(whole(f"p{each:02}", 1), selector={"t": "s"}) for each in range(14)]
        return where(plan([two, five, *others], [*wanted, *ones]))

    without, with_it = fleet(), fleet(FOUR)
    assert [each for each in with_it if each[0] in "def"] == ["d@r5/0", "e@r5/0", "f@r2/0"]
    assert [each for each in with_it if each[0] == "p"] == [each for each in without if each[0] == "p"]


def test_equal_replicas_do_not_try_to_change_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing would be gained however often they did."""
    monkeypatch.setattr(repack.Repacker, "_try", lambda _: pytest.fail("it tried"))
    made = plan([cluster("a", pool(nodes=4)), cluster("b", pool(nodes=5))], [whole("d", 1, 6), whole("e", 1, 4)])
    assert len(made.placements) == 9


def test_those_whose_limits_end_do_not_try_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they lack is not room."""
    monkeypatch.setattr(repack.Repacker, "_try", lambda _: pytest.fail("it tried"))
    gpus = cluster("b", pool("gpus", replace(LARGE.pools[0].devices[0], accelerator="h100"), nodes=9))
    fleet = Snapshot((gpus,), (ONE, TWO, whole("e", 1, 3)), quotas={ONE.namespace: Quota({"h100": 32})})
    assert len(schedule(fleet, evaluate=evaluate).placements) == 4


def test_priorities_share_the_looks_of_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where those of a higher one may have others go, they are placed one after the other."""
    given: list[int] = []
    run = repack.Repacker.run

    def watched(self: repack.Repacker) -> bool:
        given.append(self._looks)
        return run(self)

    monkeypatch.setattr(repack.Repacker, "run", watched)
    monkeypatch.setattr(repack, "LOOKS", 500)
    wanted = [whole(f"{name}{level}", copies, 3, level) for level in (0, 1) for name, copies in (("d", 1), ("e", 3))]
    rows = [cluster("a", pool(nodes=5)), cluster("b", pool(nodes=4))]
    fleet = Snapshot(tuple(rows), tuple(wanted), options=Options(preemption=True))
    schedule(fleet, evaluate=evaluate)
    assert given[0] == 500
    assert given[1] < 500


LEAST = 6_000
"""Looks in which the fleet below gains; more would only take longer."""


def crowded() -> Snapshot:
    """Make a fleet in which repacking finds room that nothing else finds, and which leaves some clusters unused."""
    fleet = mixed_fleet(10, 10, 0.5)
    return replace(fleet, options=replace(fleet.options, strategy=Strategy.PACK))


def test_l6_a_cluster_that_nobody_chose_takes_no_part_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """More is placed than without repacking, and each unused cluster may be missing."""
    monkeypatch.setattr(repack, "LOOKS", 0)
    without = schedule(crowded(), evaluate=evaluate)
    monkeypatch.setattr(repack, "LOOKS", LEAST)
    made = schedule(crowded(), evaluate=evaluate)
    assert len(made.placements) > len(without.placements)
    used = {each.id.cluster for each in made.placements}
    unused = [each.name for each in crowded().clusters if each.name not in used]
    assert len(unused) >= 3
    for name in unused:
        fewer = replace(crowded(), clusters=tuple(each for each in crowded().clusters if each.name != name))
        assert schedule(fewer, evaluate=evaluate).placements == made.placements


def test_l3_the_order_of_the_input_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor for what looks like chance."""
    monkeypatch.setattr(repack, "LOOKS", LEAST)
    fleet = crowded()
    turned = replace(fleet, clusters=fleet.clusters[::-1], deployments=fleet.deployments[::-1])
    assert schedule(turned, evaluate=evaluate).placements == schedule(fleet, evaluate=evaluate).placements
