"""CPU and memory: what pods request, what nodes offer, and what comes of both."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from automation.document.read_snapshot import read_snapshot
from automation.scheduling.headroom import headroom
from automation.scheduling.observation import ForeignPod, PoolObservation
from automation.scheduling.reason import Reason
from automation.scheduling.resources import Resources, quantity, requested
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Accounting, Deployment, Options, Pool, PoolBefore, Quota, Strategy
from automation.scheduling.verdict import Code
from components.lock import MemberShape
from tests.unit.scheduling.builder import (
    cluster,
    deployment,
    engine,
    evaluate,
    live,
    member,
    offering,
    plan,
    pool,
    snapshot,
    where,
)

BIG = offering(cpu="64", memory="512Gi")
GIB = 2**30


def container(**resources: Any) -> dict[str, Any]:
    """Make a container with requests and limits."""
    return {"name": "engine", "resources": resources}


@dataclass(frozen=True)
class Ask:
    """The spec of a pod template, and what a pod of it requests."""

    name: str
    spec: dict[str, Any]
    want: Resources


ASKS = [
    Ask("nothing", {}, ()),
    Ask("an empty block", {"containers": [{"name": "engine", "resources": None}]}, ()),
    Ask(
        "requests",
        {"containers": [container(requests={"cpu": "1500m", "memory": "1Gi"})]},
        (("cpu", 1500), ("memory", GIB)),
    ),
    Ask("a number", {"containers": [container(requests={"cpu": 0.5})]}, (("cpu", 500),)),
    Ask("parts of a thousandth are rounded up", {"containers": [container(requests={"cpu": "100u"})]}, (("cpu", 1),)),
    Ask(
        "limits stand in",
        {"containers": [container(limits={"cpu": "2", "memory": "1k"})]},
        (("cpu", 2000), ("memory", 1000)),
    ),
    Ask(
        "a request counts more than its limit",
        {"containers": [container(requests={"cpu": "1"}, limits={"cpu": "2", "memory": "1k"})]},
        (("cpu", 1000), ("memory", 1000)),
    ),
    Ask("other resources do not count", {"containers": [container(requests={"ephemeral-storage": "1Gi"})]}, ()),
    Ask("what no API server takes does not count", {"containers": [container(requests={"cpu": "much"})]}, ()),
    Ask(
        "sidecars are added, init containers only if they ask for more",
        {
            "containers": [container(requests={"cpu": "2", "memory": "1Gi"})],
            "sidecars": [container(requests={"cpu": "1", "memory": "1Gi"}), container()],
            "initContainers": [
                container(requests={"cpu": "1", "memory": "3Gi"}),
                container(requests={"memory": "1Gi"}),
            ],
        },
        (("cpu", 3000), ("memory", 3 * GIB)),
    ),
]


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: ask.name)
def test_a_pod_requests_what_its_containers_do(ask: Ask) -> None:
    """As the API server and the scheduler of a cluster count it."""
    template = {"spec": ask.spec} if ask.spec else {}
    assert requested(MemberShape(role="Standalone", template=template)) == ask.want


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [("cpu", 1500, "1500m"), ("cpu", 64000, "64"), ("memory", 64 * GIB, "64Gi"), ("memory", 0, "0")],
)
def test_amounts_are_written_as_kubernetes_does(name: str, amount: int, text: str) -> None:
    """A message has the words of a manifest."""
    assert quantity(name, amount) == text


def one(cpu: str = "", memory: str = "", *, gpus: int = 1, **other: Any) -> Deployment:
    """Want a single pod of some GPUs, CPU and memory."""
    return deployment("d", other.pop("replicas", 9), engine("main", member(gpus, cpu=cpu, memory=memory)), **other)


@dataclass(frozen=True)
class Case:
    """A pool, a deployment of nine, and how many of it are placed, by accounting."""

    name: str
    on: Pool
    wanted: Deployment
    device: int
    best_fit: int
    by_node: int


CASES = [
    Case("what is not stated does not count", pool(nodes=2), one("48", "500Gi"), 9, 9, 2),
    Case("who requests nothing takes nothing", pool(nodes=2, allocatable=BIG), one(), 9, 9, 2),
    Case("CPU ends first", pool(nodes=2, allocatable=BIG), one("20"), 6, 6, 2),
    Case("memory ends first", pool(nodes=2, allocatable=BIG), one("1", "200Gi"), 4, 4, 2),
    Case("only memory is stated", pool(nodes=2, allocatable=offering(memory="512Gi")), one("99", "100Gi"), 9, 9, 2),
    Case("devices end first", pool(nodes=1, allocatable=BIG), one("8", "64Gi"), 8, 8, 1),
    Case("a pod too large for any node", pool(nodes=2, allocatable=BIG), one("65"), 0, 0, 2),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_resources_are_kinds_beside_devices(case: Case) -> None:
    """Counted jointly, but for whole nodes, which the predecessor counts by devices alone."""
    for accounting, number in (
        (Accounting.DEVICE, case.device),
        (Accounting.BEST_FIT, case.best_fit),
        (Accounting.NODE, case.by_node),
    ):
        assert len(plan([cluster("a", case.on)], [case.wanted], accounting=accounting).placements) == number
    assert len(plan([cluster("a", case.on)], [case.wanted], strategy=Strategy.COMPATIBLE).placements) == case.by_node


def test_mixed_requests_are_sure_under_any_packing() -> None:
    """Two nodes of 64 cores: 48 fits beside one pod of 32, not beside two that could sit on one node each."""
    rows = [cluster("a", pool(nodes=2, allocatable=BIG))]
    small = replace(one("32", replicas=2), name="small", priority=1)
    large = replace(one("48", replicas=1), name="large")
    assert where(plan(rows, [replace(small, replicas=1), large])) == ["large@a/0", "small@a/0"]
    made = plan(rows, [small, large])
    assert where(made) == ["small@a/0", "small@a/1"]
    assert len(plan(rows, [small, large], accounting=Accounting.BEST_FIT).placements) == 3
    message = made.trace["ml", "large"].verdicts[0].message
    assert "wanted 1 device of h100, free 14 of 16; cpu: wanted 48, free 64 of 128" in message
    assert "no node is sure to have 1 device, cpu 48 free for its own pod: the others could leave" in message


def test_requests_that_decide_nothing_make_no_sizes() -> None:
    """Four deployments of their own CPU fill eight GPUs, as if they were one."""
    wanted = [replace(one(str(cores), replicas=2), name=f"d{cores}") for cores in (1, 2, 5, 8)]
    assert len(plan([cluster("a", pool(allocatable=BIG))], wanted).placements) == 8


def test_a_pod_that_claims_nothing_takes_what_it_requests() -> None:
    """The coordinator of a gang sits on its pool, and may keep a worker's CPU."""
    gang = engine("main", member(0, role="Leader", cpu="40"), member(8, role="Worker", cpu="30"))
    wanted = deployment("d", 1, gang)
    assert where(plan([cluster("a", pool(nodes=2, fabric="x", allocatable=BIG))], [wanted])) == ["d@a/0"]
    assert where(plan([cluster("a", pool(nodes=1, fabric="x", allocatable=BIG))], [wanted])) == []


def test_a_refusal_names_the_resource_and_its_numbers() -> None:
    """In the words of Kubernetes."""
    rows = [cluster("a", pool(allocatable=BIG))]
    small = replace(one("52", "1Gi", replicas=1), name="small", priority=1)
    made = plan(rows, [small, one("16", "500Gi", replicas=1)])
    verdict = made.trace["ml", "d"].verdicts[0]
    assert (verdict.code, verdict.message) == (Code.NO_ROOM, "cpu: wanted 16, free 12 of 64")
    both = plan(rows, [small, one("16", "512Gi", gpus=8, replicas=1)]).trace["ml", "d"].verdicts[0].message
    assert both == (
        "wanted 8 devices of h100, free 7 of 8; cpu: wanted 16, free 12 of 64;"
        " memory: wanted 512Gi, free 511Gi of 512Gi"
    )
    large = plan(rows, [one("65", replicas=1)]).trace["ml", "d"].verdicts[0]
    assert (large.code, large.message) == (Code.POD_TOO_LARGE, "a pod requests cpu 65, a node has cpu 64")


def test_what_one_more_needs_counts_them_too() -> None:
    """Remedies and headroom ask the same ledger."""
    rows = [cluster("a", pool(nodes=2, allocatable=BIG))]
    made = plan(rows, [one("40", replicas=3)])
    assert made.trace["ml", "d"].beyond.message == "would fit on a with pool gpus from 2 to 3 nodes (price unknown)"
    (room,) = headroom(snapshot(rows, [one("20", replicas=1)]), evaluate=evaluate)
    assert room.more == 5


def test_foreign_pods_hold_what_they_request() -> None:
    """Also those that hold no device."""
    seen = PoolObservation(1, 0, (ForeignPod((), offering(cpu="60")), ForeignPod((("h100", 1),))))
    made = plan([cluster("a", pool(allocatable=BIG, observed=seen))], [one("2")])
    assert len(made.placements) == 2


def test_live_replicas_stay_when_a_pool_says_less_than_they_request() -> None:
    """They run, so the statement is wrong; the pool takes nothing more and is reported."""
    wanted = one("65", replicas=2)
    made = plan([cluster("a", pool(nodes=2, allocatable=BIG))], [wanted], [live(wanted, "a")])
    assert [each.reason for each in made.placements] == [Reason.KEPT]
    assert [each.pool for each in made.overfull] == ["gpus"]
    crowd = plan(
        [cluster("a", pool(allocatable=BIG))], [one("40", replicas=2)], [live(one("40"), "a", each) for each in (0, 1)]
    )
    assert [each.reason for each in crowd.placements] == [Reason.KEPT, Reason.KEPT]
    assert [each.pool for each in crowd.overfull] == ["gpus"]


def test_who_has_to_go_is_told_by_devices() -> None:
    """A shrinking pool and a higher priority both let go who takes more devices, whatever memory it has."""
    large = replace(one("1", "250Gi", gpus=4, replicas=1), name="a-large")
    small = replace(one("1", "250Gi", replicas=1), name="z-small")
    replicas = [live(large, "a"), live(small, "a")]
    shrinking = pool(nodes=1, allocatable=offering(memory="400Gi"), before=PoolBefore(2, "h100"))
    made = plan([cluster("a", shrinking)], [large, small], replicas)
    assert [each.excess for each in made.shrinking] == [(replicas[0].id,)]
    more = replace(one("1", "200Gi", replicas=1), priority=1)
    state = snapshot([cluster("a", pool(allocatable=BIG))], [large, small, more], replicas, Options(preemption=True))
    assert [each.id for each in schedule(state, evaluate=evaluate).leaving] == [replicas[0].id]


def test_a_pod_takes_the_part_of_a_node_that_it_takes_most_of() -> None:
    """Quotas in nodes see CPU where it is stated: one GPU with half the cores is half a node."""
    rows = [cluster("a", pool(nodes=9, allocatable=BIG))]
    state = snapshot(rows, [one("32")], quotas={"ml": Quota(nodes=2)})
    assert len(schedule(state, evaluate=evaluate).placements) == 4


DOCUMENT = b"""\
hardware:
  h100: [{name: gpu, driver: gpu.nvidia.com, deviceClass: gpu.nvidia.com, count: 8}]
shapes:
  one:
    kind: Replica
    engines:
      - name: main
        members:
          - role: Standalone
            template: {spec: {containers: [{name: engine, resources: {limits: {cpu: 16, memory: 64Gi}}}]}}
            requests: [{name: gpu, count: 1, selectors: ["device.driver == 'gpu.nvidia.com'"]}]
clusters:
  - {name: a, pools: [{name: gpus, hardware: h100, allocatable: {cpu: 63.5, memory: 1Ti}}]}
deployments:
  - {namespace: ml, name: chat, replicas: 9, shape: one}
"""


def test_a_written_snapshot_states_them() -> None:
    """`berth schedule` counts what the document says."""
    made = schedule(read_snapshot("it.yaml", DOCUMENT))
    assert len(made.placements) == 3
    assert made.trace["ml", "chat"].verdicts[0].message.startswith("holds 3 of its replicas")
