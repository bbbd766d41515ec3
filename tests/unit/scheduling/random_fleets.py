"""Random small fleets for the laws: fresh ones, and ones in which something runs and something was edited since."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import (
    Accounting,
    Budget,
    Cluster,
    ClusterState,
    Deployment,
    FabricKind,
    FabricNeed,
    Options,
    Pool,
    PoolBefore,
    Purchase,
    Quota,
    Refusal,
    Snapshot,
    Strategy,
    Version,
    Versions,
)
from components.lock import EngineShape, Phase, shape_digest
from tests.unit.scheduling.builder import after, cluster, deployment, engine, evaluate, gpu, member, pool, shape, taint

HARDWARE = ((gpu("h100", 8, 80),), (gpu("a100", 4, 40),), (gpu("l4", 1, 24),), (gpu("h100", 4, 80), gpu("a100", 4, 40)))
SELECTORS = ("any", "40", "80", "name=a100", "40@1.35", "none")
VERSIONS = (Versions(), Versions(api_server=Version("v1.35.1")))
LABELS = ("gold", "silver")
OPTIONS = (
    Options(),
    Options(accounting=Accounting.NODE),
    Options(accounting=Accounting.BEST_FIT),
    Options(Strategy.COMPATIBLE, Accounting.NODE),
    Options(Strategy.PACK, fabric=FabricNeed.NONE),
    Options(repin_dwell=timedelta(minutes=30)),
    Options(max_surge=1),
    Options(max_surge_per_cluster=1),
)
LONG_AGO = datetime(1969, 12, 31, tzinfo=UTC)
"""Longer before the time of a snapshot than any dwell time."""
LATER = datetime(1970, 1, 2, tzinfo=UTC)


@st.composite
def pools(draw: st.DrawFn, name: str) -> Pool:
    """Draw a pool."""
    devices = draw(st.sampled_from(HARDWARE))
    nodes = draw(st.integers(0, 3))
    extra = draw(st.integers(0, 2))
    return pool(
        name,
        *devices,
        nodes=nodes,
        maximum=nodes + extra,
        scales=draw(st.booleans()),
        fabric=draw(st.sampled_from(["", "x"])),
        fabric_kind=draw(st.sampled_from(list(FabricKind))),
        purchase=draw(st.sampled_from([Purchase.ON_DEMAND, Purchase.ON_DEMAND, Purchase.RESERVED, Purchase.SPOT])),
    )


@st.composite
def clusters(draw: st.DrawFn) -> list[Cluster]:
    """Draw clusters in the states that take replicas, mostly."""
    made = []
    for number in range(draw(st.integers(1, 4))):
        rows = [draw(pools(f"pool-{each}")) for each in range(draw(st.integers(1, 3)))]
        state = draw(st.sampled_from(["ready", "ready", "ready", "planned", "not ready", "going away", "lost"]))
        taints = draw(st.sampled_from([[], [], [], ["k=v:NoSchedule"], ["k=v:NoExecute"]]))
        labels = {"tier": draw(st.sampled_from(LABELS))}
        region = draw(st.sampled_from(["", "east", "west"]))
        versions = draw(st.sampled_from(VERSIONS))
        made.append(
            cluster(f"c{number}", *rows, state=state, taints=taints, labels=labels, region=region, versions=versions)
        )
    return made


@st.composite
def engines(draw: st.DrawFn, name: str) -> EngineShape:
    """Draw an engine of one pod or a gang."""
    count, selector = draw(st.sampled_from([1, 1, 2, 4, 8])), draw(st.sampled_from(SELECTORS[:5]))
    if draw(st.integers(0, 3)) == 0:
        workers = member(count, selector, role="Worker", pods=draw(st.integers(1, 2)))
        return engine(name, member(draw(st.sampled_from([0, count])), selector, role="Leader"), workers)
    return engine(name, member(count, selector), copies=draw(st.sampled_from([1, 1, 2])))


@st.composite
def deployments(draw: st.DrawFn) -> list[Deployment]:
    """Draw deployments; two namespaces may hold the same name."""
    made = []
    for number in range(draw(st.integers(0, 4))):
        parts = [draw(engines(f"e{each}")) for each in range(draw(st.sampled_from([1, 1, 2])))]
        made.append(
            deployment(
                f"d{number % 3}",
                draw(st.integers(0, 3)),
                *parts,
                namespace=f"n{number // 3}",
                tolerations=draw(st.sampled_from([[], [], ["k"], ["k=v:NoSchedule"]])),
                selector=draw(st.sampled_from([None, None, {"tier": "gold"}])),
                allow_gap=draw(st.booleans()),
                max_surge=draw(st.sampled_from([None, None, 1])),
                spot=draw(st.booleans()),
                fabric=draw(st.sampled_from([None, None, *FabricNeed])),
                labels=draw(st.sampled_from([{}, {"app": "a"}])),
            )
        )
    return made


@st.composite
def fresh(draw: st.DrawFn, options: Any = None, *, limited: bool = False) -> Snapshot:
    """Draw a fleet on which nothing runs; ``limited`` gives it quotas, prices, priorities and the like."""
    chosen = draw(st.sampled_from(OPTIONS)) if options is None else options
    made = Snapshot(tuple(draw(clusters())), tuple(draw(deployments())), options=chosen)
    return draw(limits(made)) if limited else made


@st.composite
def limits(draw: st.DrawFn, plain: Snapshot) -> Snapshot:
    """Draw what a fleet may take, and what its nodes cost."""

    def priced(one: Pool) -> Pool:
        devices = tuple(replace(each, accelerator=each.name) for each in one.devices)
        price = draw(st.sampled_from([Decimal(10), Decimal(10), Decimal(25), None]))
        refused = draw(st.sampled_from([None, None, None, Refusal(LATER), Refusal(LONG_AGO)]))
        return replace(one, devices=devices, price=price, refused=refused)

    return replace(
        plain,
        clusters=tuple(replace(each, pools=tuple(map(priced, each.pools))) for each in plain.clusters),
        deployments=tuple(
            replace(
                each,
                priority=draw(st.integers(0, 2)),
                strategy=draw(st.sampled_from([None, None, Strategy.SPREAD, Strategy.PACK, Strategy.COST])),
                max_cost_per_hour=draw(st.sampled_from([None, None, Decimal(10), Decimal("27.5")])),
            )
            for each in plain.deployments
        ),
        options=replace(plain.options, preemption=draw(st.booleans())),
        quotas=draw(st.dictionaries(st.sampled_from(["n0", "n1"]), quotas())),
        budget=draw(st.sampled_from([None, None, Budget(Decimal(60)), Budget(Decimal(20)), Budget(Decimal(0), True)])),
    )


@st.composite
def quotas(draw: st.DrawFn) -> Quota:
    """Draw the quota of a namespace."""
    return Quota(
        draw(st.dictionaries(st.sampled_from(["h100", "a100"]), st.integers(0, 16), max_size=2)),
        draw(st.sampled_from([None, None, 0, 1, 2, 4])),
        draw(st.sampled_from([None, None, Decimal(15), Decimal(40)])),
    )


@dataclass(frozen=True)
class Story:
    """A fleet as it ran, undisturbed, and the same one after edits."""

    before: Snapshot
    after: Snapshot


@st.composite
def stories(draw: st.DrawFn, options: Any = None, *, limited: bool = False) -> Story:
    """Draw a fleet in which everything placed serves, and edits of deployments and clusters since then."""
    calm = draw(fresh(options, limited=limited))
    healthy = [replace(each, state=ClusterState.READY, taints=()) for each in calm.clusters]
    calm = replace(calm, clusters=tuple(healthy))
    made = schedule(calm, evaluate=evaluate)
    calm = replace(calm, replicas=tuple(after(made, (), phase=Phase.SERVING)))
    edited = tuple(draw(edits(each)) for each in calm.deployments if draw(st.integers(0, 9)))
    upset = tuple(draw(upsets(each)) for each in calm.clusters if draw(st.integers(0, 9)))
    live = tuple(draw(mishaps(each)) for each in calm.replicas)
    upsetting = replace(calm, deployments=edited, clusters=upset, replicas=live)
    if limited and draw(st.booleans()):
        upsetting = replace(upsetting, clusters=tuple(draw(refusals(each)) for each in upsetting.clusters))
    if limited and draw(st.booleans()):
        upsetting = replace(upsetting, quotas=draw(st.dictionaries(st.sampled_from(["n0", "n1"]), quotas())))
    return Story(calm, upsetting)


@st.composite
def refusals(draw: st.DrawFn, one: Cluster) -> Cluster:
    """Draw which pools of a cluster get no more nodes now."""
    refused = st.sampled_from([None, Refusal(LATER)])
    return replace(one, pools=tuple(replace(each, refused=draw(refused)) for each in one.pools))


@st.composite
def crowded(draw: st.DrawFn) -> Story:
    """Draw a small full fleet whose deployments then ask for more, some of them at a higher priority."""
    sizes = st.sampled_from([1, 2, 4, 8])
    rows = [cluster(f"c{each}", pool("gpus", nodes=draw(st.integers(1, 2)))) for each in range(draw(st.integers(1, 2)))]
    wanted = [
        deployment(
            f"d{each}",
            draw(st.integers(0, 4)),
            engine("main", member(draw(sizes))),
            namespace=f"n{each % 2}",
            priority=draw(st.integers(0, 2)),
        )
        for each in range(draw(st.integers(2, 4)))
    ]
    options = Options(preemption=True, accounting=draw(st.sampled_from(list(Accounting))))
    calm = Snapshot(tuple(rows), tuple(wanted), options=options)
    calm = replace(calm, replicas=tuple(after(schedule(calm, evaluate=evaluate), (), phase=Phase.SERVING)))
    more = [
        replace(each, replicas=each.replicas + draw(st.integers(0, 2)), priority=draw(st.integers(0, 3)))
        for each in wanted
    ]
    edited = tuple(draw(edits(each)) if draw(st.integers(0, 4)) == 0 else each for each in more)
    return Story(calm, replace(calm, deployments=edited, replicas=tuple(map(draw, map(mishaps, calm.replicas)))))


@st.composite
def edits(draw: st.DrawFn, wanted: Deployment) -> Deployment:
    """Draw an edit of a deployment, or none."""
    kind = draw(st.sampled_from(["none", "none", "image", "count", "labels", "size", "selector"]))
    if kind == "image":
        what = shape(*wanted.shape.engines, version="v2")
        return replace(wanted, shape=what, digest=shape_digest(what))
    if kind == "count":
        return replace(wanted, replicas=draw(st.integers(0, 4)))
    if kind == "labels":
        return replace(wanted, labels={"app": "b"})
    if kind == "size":
        what = shape(*(draw(engines(each.name)) for each in wanted.shape.engines), version="v3")
        return replace(wanted, shape=what, digest=shape_digest(what))
    if kind == "selector":
        return replace(wanted, selector={"tier": "silver"})
    return wanted


@st.composite
def upsets(draw: st.DrawFn, one: Cluster) -> Cluster:  # noqa: PLR0911 (one way for each kind)
    """Draw something that happens to a cluster, or nothing."""
    kinds = ["none", "none", "none", "state", "taint", "grow", "shrink", "pool leaves", "other devices", "version"]
    kind = draw(st.sampled_from(kinds))
    if kind == "state":
        state = draw(st.sampled_from(list(ClusterState)))
        return replace(one, state=state, not_ready_since=draw(st.sampled_from([None, LONG_AGO])))
    if kind == "taint":
        return replace(one, taints=(taint(draw(st.sampled_from(["k=v:NoSchedule", "k=v:NoExecute"]))),))
    if kind == "grow":
        grown = tuple(replace(each, realised=each.realised + 1, maximum=each.maximum + 1) for each in one.pools)
        return replace(one, pools=grown)
    if kind == "shrink":
        return replace(one, pools=tuple(draw(shrunk(each)) for each in one.pools))
    if kind == "other devices":
        other = replace(one.pools[0], devices=draw(st.sampled_from(HARDWARE)))
        if draw(st.booleans()):
            other = replace(other, before=PoolBefore(other.maximum, other.class_name))
        return replace(one, pools=(other, *one.pools[1:]))
    if kind == "version":
        return replace(one, versions=draw(st.sampled_from(VERSIONS)))
    if kind == "pool leaves":
        return replace(one, pools=(replace(one.pools[0], leaving="gone"), *one.pools[1:]))
    return one


@st.composite
def shrunk(draw: st.DrawFn, one: Pool) -> Pool:
    """Draw a smaller size for a pool, and let it remember what it is."""
    maximum = draw(st.integers(0, one.maximum))
    return replace(
        one,
        realised=min(one.realised, maximum),
        maximum=maximum,
        before=PoolBefore(one.maximum, one.class_name) if maximum < one.maximum else None,
    )


@st.composite
def mishaps(draw: st.DrawFn, one: ExistingReplica) -> ExistingReplica:
    """Draw how far a replica has come: most serve, some never did, some are in trouble."""
    kind = draw(st.sampled_from(["serves", "serves", "serves", "never served", "in trouble"]))
    if kind == "never served":
        return replace(one, ready=False, entry=one.entry.model_copy(update={"phase": Phase.STARTING}))
    return replace(one, ready=kind == "serves")


def serving(replicas: list[ExistingReplica]) -> list[ExistingReplica]:
    """Return replicas as they are once all of them serve."""
    return [
        replace(each, ready=True, entry=each.entry.model_copy(update={"phase": Phase.SERVING})) for each in replicas
    ]
