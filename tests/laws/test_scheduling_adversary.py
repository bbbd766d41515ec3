"""Law L1, end to end: what a schedule puts on a pool starts there, whatever the in-cluster scheduler does.

The adversary starts the pods of small pools in every order, on every node, with every choice of devices; it shares
nothing with the scheduler but the selectors.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Accounting, Device, Options, Pool, Snapshot, Strategy
from components.lock import EngineShape, MemberShape, Phase, RequestShape, shape_digest
from tests.support.effort import law
from tests.unit.scheduling.adversary import nodes_of, pods_of, stranded
from tests.unit.scheduling.builder import (
    after,
    asking,
    cluster,
    deployment,
    engine,
    evaluate,
    gpu,
    nic,
    offering,
    pool,
    shape,
)

LAW = law(60)
OPTIONS = (Options(), Options(Strategy.PACK), Options(Strategy.COMPATIBLE, Accounting.NODE))
MOST_PODS = 7
NODES: tuple[tuple[Device, ...], ...] = (
    (gpu("h100", 4, 80),),
    (gpu("h100", 2, 80), gpu("a100", 2, 40)),
    (gpu("h100", 3, 80), nic("efa", 2)),
    (gpu("a100", 1, 40), nic("efa", 2), gpu("h100", 2, 80)),
)
SELECTORS = ("any", "name=h100", "name=a100", "name=efa")


@st.composite
def engines(draw: st.DrawFn, name: str) -> EngineShape:
    """Draw an engine of one or several pods with one or two requests each."""
    requests = tuple(
        RequestShape(name=f"r{each}", count=draw(st.integers(1, 3)), selectors=(draw(st.sampled_from(SELECTORS)),))
        for each in range(draw(st.sampled_from([1, 1, 2])))
    )
    amounts = {kind: str(draw(st.integers(1, 4))) for kind in ("cpu", "memory") if draw(st.booleans())}
    member = MemberShape(role="Standalone", requests=requests, template=asking(amounts))
    if draw(st.integers(0, 3)) == 0:
        leader = MemberShape(role="Leader", template=asking({"cpu": str(draw(st.integers(1, 3)))}))
        return engine(name, leader, member.model_copy(update={"role": "Worker"}))
    return engine(name, member, copies=draw(st.sampled_from([1, 1, 2])))


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    """Draw a pool of one to three nodes, which may say what they offer of CPU and memory."""
    amounts = {kind: str(draw(st.integers(2, 6))) for kind in ("cpu", "memory") if draw(st.booleans())}
    devices, nodes = draw(st.sampled_from(NODES)), draw(st.integers(1, 3))
    return pool("gpus", *devices, nodes=nodes, fabric="x", allocatable=offering(**amounts))


@st.composite
def fleets(draw: st.DrawFn) -> Snapshot:
    """Draw one or two clusters of one pool with a few nodes, and deployments that want more than there is."""
    clusters = tuple(cluster(f"c{number}", draw(pools())) for number in range(draw(st.integers(1, 2))))
    wanted = tuple(
        deployment(f"d{number}", draw(st.integers(1, 4)), draw(engines("main")))
        for number in range(draw(st.integers(1, 4)))
    )
    return Snapshot(clusters, wanted, options=draw(st.sampled_from(OPTIONS)))


@st.composite
def edited(draw: st.DrawFn) -> Snapshot:
    """Draw a fleet that runs, and other shapes and numbers since."""
    calm = draw(fleets())
    made = schedule(calm, evaluate=evaluate)
    wanted = []
    for each in calm.deployments:
        what = draw(
            st.sampled_from([each.shape, shape(*each.shape.engines, version="v2"), shape(draw(engines("main")))])
        )
        wanted.append(replace(each, replicas=draw(st.integers(0, 4)), shape=what, digest=shape_digest(what)))
    return replace(calm, deployments=tuple(wanted), replicas=tuple(after(made, (), phase=Phase.SERVING)))


def check(snapshot: Snapshot) -> None:
    """No pod of a small pool can be left without a node."""
    made = schedule(snapshot, evaluate=evaluate)
    pools = {(one.name, each.name): each for one in snapshot.clusters for each in one.pools}
    for key, pods in pods_of(snapshot, made).items():
        if len(pods) <= MOST_PODS:
            assert not stranded(pools[key], nodes_of(snapshot, pools[key]), tuple(pods))


@LAW
@given(fleets())
def test_l1_every_pod_of_a_fresh_fleet_starts_in_every_order(snapshot: Snapshot) -> None:
    """No order of arrival, no choice of nodes and no choice of devices leaves one out."""
    check(snapshot)


@LAW
@given(edited())
def test_l1_every_pod_starts_while_old_and_new_ones_live_together(snapshot: Snapshot) -> None:
    """The same while edited replicas and their successors are there at once."""
    check(snapshot)


@pytest.mark.parametrize(("ones", "sure"), [(3, True), (4, False)])
def test_the_adversary_finds_the_bad_packing(ones: int, *, sure: bool) -> None:
    """One pod of four and three of one are safe on four nodes of four; a fourth one could sit on each node."""
    one, four = ((1, frozenset({0})),), ((4, frozenset({0})),)
    assert stranded(pool("gpus", gpu(count=4), nodes=4), 4, (four, *[one] * ones)) is not sure
