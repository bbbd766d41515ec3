"""From what an API server says to what the scheduler takes: nodes that count, devices that others hold, versions."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from automation.observe.lowering import SeenCluster, seen_cluster, version_key
from automation.observe.reading import read_cluster
from automation.rehearsal.kubernetes.machines import machine
from automation.scheduling.observation import ForeignPod, PoolObservation
from components.clusters.pool_facts import PoolFacts
from tests.support.fake_api import CLAIMS, NODES, PODS, SLICES, TEMPLATES, FakeApi
from tests.support.platforms import existing, hardware

NOW = datetime(2026, 11, 2, 8, tzinfo=UTC)
H100 = machine("aws", "p5.48xlarge")
GPU = {
    "name": "gpu",
    "driver": "gpu.nvidia.com",
    "deviceClassName": "gpu.nvidia.com",
    "count": 8,
    "attributes": {"type": {"string": "gpu"}, "productName": {"string": "NVIDIA H100 80GB HBM3"}},
    "capacity": {"memory": {"value": "81559Mi"}},
}
EFA = {"name": "efa", "driver": "dra.net", "deviceClassName": "efa.networking.k8s.aws", "count": 32}


def pool_facts(name: str = "gpu", *devices: dict[str, Any]) -> PoolFacts:
    """Describe a pool whose nodes have these devices."""
    manifest = existing(pools=[{"name": name, "className": "h100", "nodeCount": 2}])
    made = hardware(devices=devices or (GPU, EFA))
    return PoolFacts.from_spec(manifest, manifest.spec.node_pools[0], made, scales_from_zero=False)


def seen(fake: FakeApi, *pools: PoolFacts, clock: Callable[[], datetime] = lambda: NOW) -> SeenCluster:
    """Read a cluster and look at it."""
    with fake.api() as api:
        return seen_cluster(read_cluster(api, environment="dev", clock=clock), pools or (pool_facts(),))


@pytest.fixture
def two() -> FakeApi:
    """Give a cluster with two nodes in its pool and one beside it."""
    fake = FakeApi()
    for name in ("n1", "n2"):
        fake.join(name, H100)
    fake.join("other", H100, pool="")
    return fake


def test_nodes_of_the_pool_count(two: FakeApi) -> None:
    """A node without the label belongs to nobody, and versions are the oldest of the pool's nodes."""
    two.lists[NODES][0]["status"]["nodeInfo"]["kubeletVersion"] = "v1.34.10"
    two.devices("n2")[3]["attributes"]["driverVersion"] = {"version": "570.86.15"}
    found = seen(two).observation
    assert found.pools == {"gpu": PoolObservation(2)}
    assert (found.api_server, found.kubelet, found.driver) == ("v1.34.4", "v1.34.4", "570.86.15")
    assert found.at == NOW


def cordon(fake: FakeApi) -> None:
    """Cordon the first node; Kubernetes adds a taint of its own."""
    fake.lists[NODES][0]["spec"]["unschedulable"] = True
    fake.lists[NODES][0]["spec"]["taints"].append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})


def fall_silent(fake: FakeApi) -> None:
    """Let the first node's kubelet stop."""
    fake.lists[NODES][0]["status"]["conditions"] = [{"type": "Ready", "status": "Unknown", "reason": "NodeLost"}]


def taint(fake: FakeApi) -> None:
    """Taint the first node for somebody else."""
    fake.lists[NODES][0]["spec"]["taints"].append({"key": "team", "value": "a", "effect": "NoSchedule"})


def evict(fake: FakeApi) -> None:
    """Give the GPU taint an effect that serving pods do not tolerate."""
    fake.lists[NODES][0]["spec"]["taints"].append({"key": "nvidia.com/gpu", "effect": "NoExecute"})


def lose_gpu(fake: FakeApi) -> None:
    """Let a GPU fall off the bus of the first node."""
    del fake.devices("n1")[0]


def bar_gpu(fake: FakeApi) -> None:
    """Let the driver taint a GPU that is not healthy."""
    fake.devices("n1")[0]["taints"] = [{"key": "gpu.nvidia.com/unhealthy", "effect": "NoSchedule"}]


def split_gpu(fake: FakeApi) -> None:
    """Cut a GPU into MIG slices."""
    fake.devices("n1")[0]["attributes"]["type"] = {"string": "mig"}


def forget_slices(fake: FakeApi) -> None:
    """Take the driver off the first node."""
    fake.lists[SLICES] = [each for each in fake.lists[SLICES] if each["spec"]["nodeName"] != "n1"]


@pytest.mark.parametrize(
    ("breaks", "why"),
    [
        (cordon, ("cordoned",)),
        (fall_silent, ("not ready (NodeLost)",)),
        (taint, ("tainted team=a:NoSchedule",)),
        (evict, ("tainted nvidia.com/gpu:NoExecute",)),
        (lose_gpu, ("publishes 7 of 8 gpu",)),
        (bar_gpu, ("publishes 7 of 8 gpu",)),
        (split_gpu, ("publishes 7 of 8 gpu",)),
        (forget_slices, ("publishes 0 of 8 gpu", "publishes 0 of 32 efa")),
    ],
)
def test_a_node_that_cannot_take_pods_does_not_count(
    two: FakeApi, breaks: Callable[[FakeApi], None], why: tuple[str, ...]
) -> None:
    """Each reason by itself takes one of the two nodes, and is said."""
    breaks(two)
    found = seen(two)
    assert found.pools[0].nodes[0].why_unusable == why
    assert found.observation.pools == {"gpu": PoolObservation(1, 1)}


def test_devices_of_strangers_are_held_and_ours_are_not(two: FakeApi) -> None:
    """Who is ours is known by the claim template, which bears the environment and its owner."""
    two.template("qwen-main", "ml/qwen/edge/0")
    two.template("prod-main", "ml/qwen/edge/0", environment="prod", namespace="prod")
    two.allocate("ours", "n1", "gpu-0", "gpu-1", template="qwen-main")
    two.allocate("theirs", "n1", "gpu-2", "gpu-3")
    two.allocate("prod", "n2", "gpu-0", template="prod-main", namespace="prod")
    two.allocate("aside", "other", "gpu-0")
    found = seen(two)
    assert [(each.name, each.devices) for each in found.holders] == [
        ("ml/theirs", {"gpu": 2}),
        ("prod/prod", {"gpu": 1}),
    ]
    assert found.observation.pools["gpu"].foreign == (ForeignPod((("gpu", 2),)), ForeignPod((("gpu", 1),)))
    assert [(each.replica, each.pool, each.pods) for each in found.replicas] == [("ml/qwen/edge/0", "gpu", 1)]


def test_a_pod_with_two_claims_is_one_and_a_claim_without_pods_holds_too(two: FakeApi) -> None:
    """A second claim of a pod adds to what it holds; one that is kept by nobody is as taken as any."""
    two.allocate("theirs", "n1", "gpu-2")
    two.allocate("theirs", "n1", "gpu-3")
    two.allocate("gone", "n2", "gpu-0")
    two.lists[CLAIMS][-1]["status"]["reservedFor"] = []
    names = {each.name: dict(each.devices) for each in seen(two).holders}
    assert names == {"ml/theirs": {"gpu": 2}, "claim ml/gone-claim": {"gpu": 1}}


def test_claims_for_administrators_hold_nothing(two: FakeApi) -> None:
    """A monitor looks at every device, and keeps none from anybody."""
    two.allocate("monitor", "n1", "gpu-2")
    two.lists[CLAIMS][0]["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True
    assert not seen(two).holders


def test_kinds_of_one_driver_are_told_apart_by_what_they_publish(two: FakeApi) -> None:
    """A claim holds the kind that its device looks most like."""
    small = {**GPU, "name": "small", "count": 1, "attributes": {"productName": {"string": "NVIDIA L4"}}, "capacity": {}}
    two.devices("n1")[7]["attributes"]["productName"] = {"string": "NVIDIA L4"}
    two.allocate("theirs", "n1", "gpu-7")
    found = seen(two, pool_facts("gpu", small, {**GPU, "count": 7}))
    assert [each.devices for each in found.holders] == [{"small": 1}]
    assert found.pools[0].nodes[0].usable
    assert found.pools[0].nodes[1].why_unusable == ("publishes 0 of 1 small",)


def test_a_renewed_pool_of_devices_counts_once(two: FakeApi) -> None:
    """A driver that changes its slices leaves the old generation there for a moment."""
    renewed = [
        {**each, "spec": {**each["spec"], "pool": {**each["spec"]["pool"], "generation": 2}, "devices": []}}
        for each in two.lists[SLICES]
        if each["spec"]["nodeName"] == "n1"
    ]
    two.lists[SLICES] += renewed
    assert seen(two).pools[0].nodes[0].why_unusable == ("publishes 0 of 8 gpu", "publishes 0 of 32 efa")


@pytest.mark.parametrize(
    ("path", "pools"),
    [
        (NODES, {}),
        (SLICES, {"gpu": PoolObservation(2)}),
        *((path, {"gpu": PoolObservation(2)}) for path in (CLAIMS, TEMPLATES, PODS)),
    ],
)
def test_what_may_not_be_read_lowers_nothing(two: FakeApi, path: str, pools: dict[str, PoolObservation]) -> None:
    """Without the fleet's own pods or templates, nobody is taken for a stranger."""
    two.template("qwen-main", "ml/qwen/edge/0")
    two.allocate("ours", "n1", "gpu-0", template="qwen-main")
    two.allocate("theirs", "n1", "gpu-2")
    two.refused[path] = 403
    found = seen(two)
    assert found.observation.pools == pools
    assert [each.trouble.status for each in found.facts.named.values() if each.trouble] == [403]


def test_a_pod_that_starts_while_we_look_is_ours(two: FakeApi) -> None:
    """Claims are read before templates and pods, so that no claim is seen without the pod that explains it."""
    assert two.asked == []
    seen(two)
    order = [each.split()[1] for each in two.asked]
    assert order.index(CLAIMS) < order.index(TEMPLATES)
    assert order.index(CLAIMS) < order.index(PODS)


def test_the_whole_is_as_old_as_its_oldest_part(two: FakeApi) -> None:
    """Every fact has its own time."""
    ticks = iter(NOW + timedelta(seconds=number) for number in range(9))
    found = seen(two, clock=lambda: next(ticks))
    assert found.observation.at == NOW
    assert found.facts.pods.at > found.facts.claims.at > found.facts.nodes.at


def test_versions_are_ordered_by_their_numbers() -> None:
    """Ten comes after nine, and what cannot be read is not the oldest."""
    texts = ["v1.34.10", "edge", "v1.9.3-eks-1", "1.34"]
    assert sorted(texts, key=version_key) == ["v1.9.3-eks-1", "1.34", "v1.34.10", "edge"]
