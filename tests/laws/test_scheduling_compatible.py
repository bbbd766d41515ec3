"""Law L9: ``strategy: Compatible`` makes the predecessor's choices, over random fleets, fresh ones and running ones.

The other side is ``predecessor``, which has the same rules in other words and shares no code with the scheduler. Shapes
and devices are not edited here: what an edit does is Berth's own.
"""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from automation.scheduling.reason import Reason
from automation.scheduling.result import Placed
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import (
    Accounting,
    Cluster,
    ClusterState,
    Deployment,
    Device,
    Options,
    Purchase,
    Snapshot,
    Strategy,
)
from components.lock import EngineShape, MemberShape, Phase, RequestShape
from tests.support.effort import law
from tests.unit.scheduling.builder import after, cluster, deployment, engine, evaluate, gpu, nic, pool, synthetic, taint
from tests.unit.scheduling.predecessor import Place, predecessor

LAW = law(40)
COMPATIBLE = Options(Strategy.COMPATIBLE, Accounting.NODE)
KINDS = (
    gpu("h100", 4, 80),
    gpu("a100", 2, 40),
    gpu("mig", 2, 10, device_class="mig"),
    nic("efa", 2),
    synthetic("ib", 2),
)
SELECTORS = ("any", "name=h100", "name=a100", "name=mig", "name=efa", "name=ib", "none")
TAINTS = (["k=v:NoSchedule"], ["k=v:NoExecute"], ["k=v:NoExecute", "z=:NoSchedule"])
TOLERATIONS = ([], ["k"], ["k=v"], ["k=v:NoSchedule"], ["k=w", "z"], [""])


@st.composite
def devices(draw: st.DrawFn) -> tuple[Device, ...]:
    """Draw the kinds of a node, in any order: their DeviceClasses may stand mixed."""
    return tuple(draw(st.permutations(KINDS))[: draw(st.integers(1, 4))])


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Cluster, ...]:
    """Draw clusters, most of them ready."""
    made = []
    for number in range(draw(st.integers(1, 4))):
        pools = [
            pool(
                f"p{each}",
                *draw(devices()),
                nodes=1,
                maximum=draw(st.integers(0, 4)),
                purchase=draw(st.sampled_from([Purchase.ON_DEMAND, Purchase.RESERVED, Purchase.SPOT])),
            )
            for each in range(draw(st.integers(1, 3)))
        ]
        state = draw(st.sampled_from(["ready", "ready", "ready", "ready", "planned", "not ready"]))
        made.append(cluster(f"c{number}", *pools, state=state, labels={"tier": draw(st.sampled_from("xy"))}))
    return tuple(made)


@st.composite
def members(draw: st.DrawFn, role: str, pods: int) -> MemberShape:
    """Draw a pod with up to two requests."""
    requests = tuple(
        RequestShape(name=f"r{each}", count=draw(st.integers(1, 3)), selectors=(draw(st.sampled_from(SELECTORS[:6])),))
        for each in range(draw(st.sampled_from([0, 1, 1, 2])))
    )
    return MemberShape(role=role, pods=pods, requests=requests, template={})


@st.composite
def engines(draw: st.DrawFn, name: str) -> EngineShape:
    """Draw an engine of one pod or a gang."""
    copies = draw(st.sampled_from([1, 1, 2]))
    if draw(st.booleans()):
        return engine(name, draw(members("Standalone", 1)), copies=copies)
    workers = draw(st.integers(1, 2))
    return engine(name, draw(members("Leader", 1)), draw(members("Worker", workers)), copies=copies)


@st.composite
def deployments(draw: st.DrawFn) -> tuple[Deployment, ...]:
    """Draw deployments; two namespaces may hold the same name."""
    return tuple(
        deployment(
            f"d{number % 2}",
            draw(st.integers(0, 4)),
            *(draw(engines(f"e{each}")) for each in range(draw(st.sampled_from([1, 1, 2])))),
            namespace=f"n{number // 2}",
            tolerations=draw(st.sampled_from(TOLERATIONS)),
            selector=draw(st.sampled_from([None, None, {"tier": "x"}, {"tier": "x", "no": "label"}])),
            spot=draw(st.booleans()),
        )
        for number in range(draw(st.integers(1, 4)))
    )


@st.composite
def running(draw: st.DrawFn) -> Snapshot:
    """Draw a fleet as it ran, with other numbers, taints and selectors since."""
    calm = Snapshot(draw(clusters()), draw(deployments()), options=COMPATIBLE)
    made = schedule(calm, evaluate=evaluate)
    live = tuple(after(made, (), phase=Phase.SERVING))
    wanted = tuple(
        replace(
            each,
            replicas=draw(st.sampled_from([each.replicas, draw(st.integers(0, 4))])),
            selector=draw(st.sampled_from([each.selector, each.selector, {"tier": "y"}])),
        )
        for each in calm.deployments
    )
    upset = tuple(
        replace(
            each,
            taints=tuple(map(taint, draw(st.sampled_from([[], [], *TAINTS])))),
            state=draw(st.sampled_from([each.state, each.state, *ClusterState])),
        )
        for each in calm.clusters
    )
    return replace(calm, clusters=upset, deployments=wanted, replicas=live)


def place(made: Placed) -> Place:
    """Return a placement as the predecessor's is written."""
    return tuple(
        (each.members[0].pool, tuple(tuple(claim.device_class for claim in one.claims) for one in each.members))
        for each in made.placement
    )


@LAW
@given(st.builds(lambda one, other: Snapshot(one, other, options=COMPATIBLE), clusters(), deployments()))
def test_l9_a_fresh_fleet_is_placed_as_the_predecessor_does(snapshot: Snapshot) -> None:
    """The same clusters, indices, pools and DeviceClasses."""
    made = schedule(snapshot, evaluate=evaluate)
    assert {each.id: place(each) for each in made.placements} == predecessor(snapshot).new


@LAW
@given(running())
def test_l9_a_running_fleet_is_retained_scaled_and_filled_as_the_predecessor_does(snapshot: Snapshot) -> None:
    """The same ones stay, the same are too many, the same come; what must leave and cannot is counted alike."""
    made = schedule(snapshot, evaluate=evaluate)
    known = predecessor(snapshot)
    live = {each.id for each in snapshot.replicas}
    stranded = {each.id for each in made.placements if each.reason is Reason.NOWHERE_TO_GO}
    assert {each.id: place(each) for each in made.placements if each.id not in live} == known.new
    assert {each.id for each in made.placements if each.id in live} - stranded == known.stay
    assert {each.id for each in made.leaving if each.reason is Reason.SCALED_DOWN} == known.too_many
    lost = {each.name for each in snapshot.clusters if each.state is ClusterState.LOST}
    assert len(stranded) <= known.stranded
    if not lost & {each.cluster for each in live}:
        assert len(stranded) == known.stranded
    assert Counter(each.reason for each in made.placements)[Reason.EDITED] == 0
