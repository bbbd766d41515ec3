"""How long the scheduler takes, how much memory, and how good its answers are.

One deployment, a cold pass, a steady pass, their growth, the trace, the snapshot; what limits and preemption cost
beside the same pass without them; then what is placed of what could be, by fleets. Run by hand or by ``make bench``.
Times are CPU seconds of one process, the best of a few runs; the growth figures and what limits cost are ratios within
the same run, so they hold on any machine. A busy or slow machine shows in the yardstick, a fixed piece of plain Python
that is timed before and after; passes are given in yardsticks too. Nothing is asserted.
"""

import json
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from math import log
from statistics import mean, median

from automation.scheduling.build import build_snapshot
from automation.scheduling.changes import NO_CHANGES
from automation.scheduling.existing import Existing, ExistingCluster, ExistingReplica
from automation.scheduling.matching import cel_evaluate
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import Pass, schedule
from automation.scheduling.snapshot import (
    Accounting,
    Budget,
    Cluster,
    Deployment,
    Device,
    Options,
    Pool,
    Quota,
    Snapshot,
    Strategy,
)
from components.api.fleet import Fleet
from components.api.load import load_fleet
from components.lock import EngineShape, MemberShape, Phase, ReplicaEntry, ReplicaShape, RequestShape, shape_digest
from tests.bench.bench_load import manifests
from tests.laws.test_scheduling_optimum import LOADS, mixed_fleet, small_fleet
from tests.unit.scheduling.builder import evaluate
from tests.unit.scheduling.optimum import most_placed
from tests.unit.scheduling.relaxation import at_most

REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1", "ap-south-1")
CLASSES = (("l4", 1, 23), ("l40s", 4, 45), ("a100", 8, 80), ("h100", 8, 80), ("h200", 8, 140), ("b200", 8, 180))
PRICES = {"l4": "0.8", "l40s": "4.1", "a100": "20", "h100": "40.5", "h200": "55", "b200": "70"}
"""USD per hour of a node."""
MEMORY = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{}Gi')) >= 0"


def device(name: str, count: int, memory: int) -> Device:
    """Make a GPU kind."""
    return Device(
        name=name,
        driver="gpu.nvidia.com",
        count=count,
        device_class="gpu.nvidia.com",
        attributes=(("productName", "string", name),),
        capacity=(("memory", f"{memory}Gi"),),
    )


def fleet(clusters: int, dice: random.Random) -> tuple[Cluster, ...]:
    """Make clusters of one to four pools of one to sixteen nodes, over a few regions and hardware classes."""
    hardware = {name: (device(name, count, memory),) for name, count, memory in CLASSES}
    made = []
    for number in range(clusters):
        pools = tuple(
            Pool(name, name, hardware[name], realised=nodes, maximum=nodes)
            for name in dice.sample(sorted(hardware), dice.randint(1, 4))
            if (nodes := dice.randint(1, 16))
        )
        region = dice.choice(REGIONS)
        labels = {"region": region, "tier": dice.choice(("gold", "silver"))}
        made.append(Cluster(f"cluster-{number:05}", region=region, labels=labels, pools=pools))
    return tuple(made)


def deployments(number: int, replicas: int, dice: random.Random) -> tuple[Deployment, ...]:
    """Make deployments of one to eight devices per pod, some with a second engine, some bound to a tier."""
    made = []
    for each in range(number):
        engines = []
        for engine in range(dice.choice((1, 1, 1, 2))):
            count = dice.choice((1, 1, 2, 4, 8))
            memory = dice.choice((20, 40, 70, 130))
            request = RequestShape(name="gpu", count=count, selectors=(MEMORY.format(memory),))
            member = MemberShape(role="Standalone", requests=(request,), template={"image": f"model:{each}"})
            engines.append(EngineShape(name=f"engine-{engine}", copies=dice.choice((1, 1, 2)), members=(member,)))
        shape = ReplicaShape(engines=tuple(engines))
        selector = {"tier": dice.choice(("gold", "silver"))} if dice.random() < 0.3 else None
        made.append(
            Deployment(f"team-{each % 50}", f"model-{each}", replicas, shape, shape_digest(shape), selector=selector)
        )
    return tuple(made)


def live(made: Schedule) -> tuple[ExistingReplica, ...]:
    """Return what exists once a schedule has been applied."""
    return tuple(
        ExistingReplica(
            each.id,
            ReplicaEntry(
                deployment=each.id.deployment,
                cluster=each.id.cluster,
                index=each.id.index,
                name=each.name,
                phase=Phase.SERVING,
                shape=each.digest,
                labels=each.labels,
                placement=each.placement,
            ),
            each.shape,
        )
        for each in made.placements
    )


def best(times: int, what: Callable[[], object]) -> float:
    """Return the shortest of some runs, in CPU seconds."""
    taken = []
    for _ in range(times):
        begin = time.process_time()
        what()
        taken.append(time.process_time() - begin)
    return min(taken)


def yardstick() -> float:
    """Return how long a fixed piece of plain Python takes: dictionaries, tuples and whole numbers, as a pass does."""

    def work() -> None:
        counts: dict[tuple[int, int], int] = {}
        for number in range(400_000):
            key = (number % 1_024, number & 7)
            counts[key] = counts.get(key, 0) + number

    return best(5, work)


def input_of(clusters: int, number: int, options: Options) -> Snapshot:
    """Make a fleet on which nothing runs."""
    dice = random.Random(7)  # noqa: S311 (a fixed fleet, not a secret)
    return Snapshot(fleet(clusters, dice), deployments(number, 10, dice), options=options)


def measure(options: Options) -> dict[str, object]:
    """Take the figures of one strategy and accounting."""
    cold = input_of(5_000, 1_000, options)
    made = schedule(cold)
    before = yardstick()
    seconds = best(2, partial(schedule, cold))
    steady = replace(cold, replicas=live(made))
    again = best(2, partial(schedule, steady))
    unit = (before + yardstick()) / 2
    alone = sorted(map(partial(one, cold), cold.deployments[:25]))
    fewer = best(2, partial(schedule, input_of(5_000, 250, options)))
    smaller = best(2, partial(schedule, input_of(1_250, 1_000, options)))
    return {
        "cold pass, 1,000 x 10 on 5,000 clusters, s": round(seconds, 2),
        "placed": len(made.placements),
        "not placed": sum(each.wanted - each.placed for each in made.shortfalls),
        "steady pass, same size, s": round(again, 2),
        "yardstick, s": round(unit, 3),
        "cold pass, yardsticks": round(seconds / unit, 1),
        "steady pass, yardsticks": round(again / unit, 1),
        "trace of all of it, s": round(traces(cold), 2),
        "every verdict of one deployment, ms": round(verdicts(made) * 1e3, 1),
        "index of 5,000 clusters, ms": round(best(3, partial(Pass, cold, cel_evaluate())) * 1e3, 1),
        "one deployment x 10 on the index, ms": round(median(alone) * 1e3, 1),
        "the slowest of 25, ms": round(alone[-1] * 1e3, 1),
        "growth exponent, 1,250 to 5,000 clusters": round(log(seconds / smaller, 4), 2),
        "growth exponent, 250 to 1,000 deployments": round(log(seconds / fewer, 4), 2),
    }


def one(cold: Snapshot, deployment: Deployment) -> float:
    """Return how long one deployment takes on an index that nobody has used."""
    return best(1, Pass(replace(cold, deployments=(deployment,)), cel_evaluate()).run)


def traces(snapshot: Snapshot) -> float:
    """Return how long the records of all deployments take: summary, scores, and a verdict for whoever looks."""
    made = schedule(snapshot)
    return best(1, lambda: dict(made.trace))


def verdicts(made: Schedule) -> float:
    """Return how long it takes to look at every verdict of one deployment."""
    return best(1, lambda: list(made.trace[next(iter(made.trace))].verdicts))


def priced(snapshot: Snapshot) -> Snapshot:
    """Let pools cost something, name their accelerators, and let half of their nodes come when they are needed."""
    hardware = {name: (replace(device(name, count, memory), accelerator=name),) for name, count, memory in CLASSES}
    clusters = tuple(
        replace(
            cluster,
            pools=tuple(
                replace(
                    pool,
                    devices=hardware[pool.name],
                    price=Decimal(PRICES[pool.name]),
                    realised=pool.maximum // 2,
                    scales=True,
                )
                for pool in cluster.pools
            ),
        )
        for cluster in snapshot.clusters
    )
    return replace(snapshot, clusters=clusters)


def limits() -> dict[str, object]:
    """Compare passes with limits that end, and with preemption, to the same pass without."""
    cold = priced(input_of(1_000, 200, Options()))
    idle = sum(Decimal(PRICES[pool.name]) * pool.realised for each in cold.clusters for pool in each.pools)
    namespaces = sorted({each.namespace for each in cold.deployments})
    few = dict.fromkeys(PRICES, 10)
    dear = tuple(replace(each, max_cost_per_hour=Decimal(60)) for each in cold.deployments)
    crowded = input_of(60, 200, Options())
    ranked = tuple(replace(each, priority=number % 3) for number, each in enumerate(crowded.deployments))
    steady = replace(crowded, replicas=live(schedule(crowded)), deployments=ranked)
    cases = {
        "quota on every namespace": (cold, replace(cold, quotas={each: Quota(few) for each in namespaces})),
        "maxCostPerHour on every deployment": (cold, replace(cold, deployments=dear)),
        "budget, for little more than what is idle": (cold, replace(cold, budget=Budget(idle * Decimal("1.001")))),
        "preemption, steady pass of a full fleet": (steady, replace(steady, options=Options(preemption=True))),
    }
    return {
        name: round(best(2, partial(schedule, limited)) / best(2, partial(schedule, free)), 2)
        for name, (free, limited) in cases.items()
    }


def environment(clusters: int, number: int) -> tuple[Fleet, Existing]:
    """Make the manifests of a fleet, and the state once all of it runs."""
    loaded = load_fleet(manifests(number), name="bench").raise_if_errors()
    (one,) = loaded.clusters.values()
    names = [f"cluster-{each:05}" for each in range(clusters)]
    fleet = replace(
        loaded,
        clusters={
            name: one.model_copy(update={"metadata": one.metadata.model_copy(update={"name": name})}) for name in names
        },
    )
    existing = Existing(clusters={name: ExistingCluster(name, gateway_address=f"{name}.example.com") for name in names})
    made = schedule(built(fleet, existing))
    return fleet, replace(existing, replicas={each.id: each for each in live(made)})


def built(fleet: Fleet, existing: Existing) -> Snapshot:
    """Build the snapshot of an environment."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return build_snapshot(fleet, existing, changes=NO_CHANGES, observation=None, now=now)


def gap(fleets: Iterable[Snapshot], most: Callable[[Snapshot], int]) -> dict[str, object]:
    """Compare with the most that could be placed, under the same accounting."""
    known = [(len(schedule(each, evaluate=evaluate).placements), most(each)) for each in fleets]
    ratios = sorted(placed / limit for placed, limit in known if limit)
    return {
        "fleets": len(ratios),
        "mean": round(mean(ratios), 4),
        "tenth percentile": round(ratios[len(ratios) // 10], 4),
        "worst": round(ratios[0], 4),
        "all that could be": sum(ratio == 1 for ratio in ratios),
    }


def quality() -> dict[str, object]:
    """Compare with trying everything on small fleets, and with an integer program's bound on larger ones."""
    small: dict[str, object] = {
        f"3 clusters, {each.value}": gap((small_fleet(seed, each) for seed in range(200)), most_placed)
        for each in (Accounting.NODE, Accounting.DEVICE)
    }
    larger = {
        f"10 clusters, Node, {load} of the nodes wanted": gap(
            (mixed_fleet(seed, 10, load) for seed in range(40)), at_most
        )
        for load in LOADS
    }
    largest = {
        f"30 clusters, Node, {load} of the nodes wanted": gap(
            (mixed_fleet(seed, 30, load) for seed in range(5)), at_most
        )
        for load in LOADS
    }
    return small | larger | largest


def main() -> None:
    """Print the figures as one JSON object."""
    figures: dict[str, object] = {
        "Spread, Device": measure(Options()),
        "Compatible, Node": measure(Options(Strategy.COMPATIBLE, Accounting.NODE)),
    }
    fleet, existing = environment(5_000, 1_000)
    figures["snapshot of 5,000 clusters and what runs, from manifests and state, with its index, s"] = round(
        best(2, lambda: Pass(built(fleet, existing), cel_evaluate())), 2
    )
    figures["CPU time with limits, without is 1; 200 x 10 on 1,000 clusters, preemption on 60"] = limits()
    figures["placed of what could be placed"] = quality()
    tracemalloc.start()
    schedule(input_of(5_000, 1_000, Options()))
    _, peak = tracemalloc.get_traced_memory()
    figures["peak memory of a cold pass and its input, MiB"] = round(peak / 2**20)
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
