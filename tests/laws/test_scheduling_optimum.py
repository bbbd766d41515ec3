"""How good the schedule is: compared with trying everything on small fleets, with an integer program on larger ones.

The gap is bounded, not hidden: the benchmark prints its distribution. No replica is left out that could still be placed
as things are (law L8 says so for every cluster).
"""

import random
from statistics import mean

import pytest

from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Accounting, Deployment, Options, Snapshot
from tests.support.effort import few
from tests.unit.scheduling.builder import cluster, deployment, engine, evaluate, gpu, member, pool
from tests.unit.scheduling.optimum import most_placed
from tests.unit.scheduling.relaxation import at_most, ways

HARDWARE = (gpu("h100", 8, 80), gpu("a100", 8, 40), gpu("l4", 8, 24))


def small_fleet(seed: int, accounting: Accounting) -> Snapshot:
    """Make three clusters of one or two pools, and deployments that want about what there is."""
    dice = random.Random(seed)  # noqa: S311 (a fixed fleet, not a secret)
    clusters = [
        cluster(
            f"c{number}",
            *(pool(f"p{each}", dice.choice(HARDWARE), nodes=dice.randint(1, 4)) for each in range(dice.randint(1, 2))),
        )
        for number in range(3)
    ]
    sizes = (8,) if accounting is Accounting.NODE else (1, 2, 4, 8)
    wanted = [
        deployment(
            f"d{number}",
            dice.randint(1, 3),
            *(
                engine(
                    f"e{each}",
                    member(dice.choice(sizes), dice.choice(("24", "40", "80"))),
                    copies=dice.choice((1, 1, 2)),
                )
                for each in range(dice.choice((1, 1, 2)))
            ),
        )
        for number in range(dice.randint(2, 4))
    ]
    return Snapshot(tuple(clusters), tuple(wanted), options=Options(accounting=accounting))


@pytest.mark.parametrize(
    ("accounting", "least", "tenth"), [(Accounting.NODE, 0.98, 0.95), (Accounting.DEVICE, 0.98, 0.95)]
)
def test_nearly_all_that_could_be_placed_is(accounting: Accounting, least: float, tenth: float) -> None:
    """On average, and in the worst tenth of the fleets."""
    ratios = []
    for seed in range(few(40)):
        snapshot = small_fleet(seed, accounting)
        best = most_placed(snapshot)
        placed = len(schedule(snapshot, evaluate=evaluate).placements)
        assert placed <= best
        if best:
            ratios.append(placed / best)
    assert mean(ratios) >= least
    assert sorted(ratios)[len(ratios) // 10] >= tenth


def mixed_fleet(seed: int, clusters: int, load: float) -> Snapshot:
    """Make clusters of one to four pools of one to sixteen nodes, and deployments that want ``load`` of all nodes.

    Engines take one to eight whole nodes and accept one to three of four kinds of hardware; every fourth replica has
    two engines.
    """
    dice = random.Random(seed)  # noqa: S311 (a fixed fleet, not a secret)
    kinds = (gpu("b200", 8, 180), gpu("h200", 8, 140), gpu("h100", 8, 80), gpu("a100", 8, 40))
    made = [
        cluster(
            f"c{number:03}",
            *(pool(kind.name, kind, nodes=dice.randint(1, 16)) for kind in dice.sample(kinds, dice.randint(1, 4))),
        )
        for number in range(clusters)
    ]
    nodes = sum(each.nodes for one in made for each in one.pools)
    wanted: list[Deployment] = []
    asked = 0
    while asked < load * nodes:
        engines = [
            engine(
                f"e{each}",
                member(8, f"name={'|'.join(kind.name for kind in dice.sample(kinds, dice.randint(1, 3)))}"),
                copies=dice.randint(1, 8),
            )
            for each in range(2 if dice.random() < 0.25 else 1)
        ]
        wanted.append(deployment(f"d{len(wanted):03}", dice.randint(1, 10), *engines))
        asked += wanted[-1].replicas * sum(each.copies for each in engines)
    return Snapshot(tuple(made), tuple(wanted), options=Options(accounting=Accounting.NODE))


LOADS = (0.5, 0.8, 1.0, 1.3)
"""Nodes that are asked for, of those that there are."""


def test_nearly_all_that_could_be_placed_on_larger_fleets_is() -> None:
    """Of what the relaxed program allows at most, on average and in the worst tenth of the fleets."""
    ratios = []
    for snapshot in (mixed_fleet(seed, 10, load) for load in LOADS for seed in range(few(8))):
        placed, most = len(schedule(snapshot, evaluate=evaluate).placements), at_most(snapshot)
        assert placed <= most
        ratios.append(placed / most)
    assert mean(ratios) >= 0.98
    assert sorted(ratios)[len(ratios) // 10] >= 0.95


@pytest.mark.parametrize("load", LOADS)
def test_nothing_is_refused_that_would_still_fit(load: float) -> None:
    """After the pass no cluster has the nodes for one more replica of a deployment that lacks some, in any way."""
    for seed in range(few(4)):
        snapshot = mixed_fleet(seed, 10, load)
        made = schedule(snapshot, evaluate=evaluate)
        free = {
            (position, each.name): each.nodes for position, one in enumerate(snapshot.clusters) for each in one.pools
        }
        positions = {one.name: position for position, one in enumerate(snapshot.clusters)}
        for placed in made.placements:
            for each, place in zip(placed.shape.engines, placed.placement, strict=True):
                free[positions[placed.id.cluster], place.members[0].pool] -= each.copies
        assert min(free.values()) >= 0
        short = {each.deployment for each in made.shortfalls}
        for wanted in (each for each in snapshot.deployments if each.name in short):
            for position in positions.values():
                for way in ways(wanted, position, snapshot):
                    assert any(nodes > free[key] for key, nodes in way.items())


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_is_never_below_the_optimum(seed: int) -> None:
    """On fleets that are small enough to try everything; where it is above, then by little."""
    snapshot = small_fleet(seed, Accounting.NODE)
    best = most_placed(snapshot)
    assert best <= at_most(snapshot) <= best + 1
