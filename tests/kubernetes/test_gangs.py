"""Gangs on a local cluster: what the controller of LeaderWorkerSets makes of the objects that Berth makes."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from automation.rehearsal.backing import charts
from automation.rehearsal.kubernetes.gangs import CONTROLLER, start_gangs, stop_gangs
from automation.rehearsal.kubernetes.local import LocalCluster, LocalKubernetes
from automation.rehearsal.kubernetes.machines import machine
from automation.rehearsal.kubernetes.nodes import EFA_DRIVER, GPU_DRIVER
from automation.scheduling.snapshot import Accounting, Deployment, FabricKind, Pool
from components.labels import Label
from components.lock import EngineShape, MemberShape, ReplicaShape, RequestShape, shape_digest
from tests.support.capacity_cases import EFA, HOPPER, efa, hopper, replicas
from tests.support.pod_watch import MOST_SECONDS, PodWatch, node_of
from tests.support.processes import memory, running, soon
from tests.support.samples import template

pytestmark = pytest.mark.kubernetes

NAME: Final = "gangs"
NODES: Final = ("gangs-0", "gangs-1")
SETS: Final = f"/apis/leaderworkerset.x-k8s.io/v1/namespaces/{NAME}/leaderworkersets"
PODS: Final = f"/api/v1/namespaces/{NAME}/pods"
DRA: Final = f"/apis/resource.k8s.io/v1/namespaces/{NAME}"
PATHS: Final = {"LeaderWorkerSet": SETS, "ResourceClaimTemplate": f"{DRA}/resourceclaimtemplates"}
WEBHOOKS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
RELEASE: Final = {"name": "lws", "namespace": "lws-system", "chart": "lws", "createNamespace": True}

Object = dict[str, Any]


@pytest.fixture(scope="module")
def cluster(local: LocalKubernetes) -> Iterator[LocalCluster]:
    """Give a cluster with gangs, two nodes with EFA for them, and one of another pool that is as good."""
    cluster = local.start(NAME)
    cluster.install_device_classes()
    for name, pool in (*((name, NAME) for name in NODES), ("other-0", "other")):
        cluster.join(name, machine("aws", "p5.48xlarge"), labels={Label.POOL: pool})
    charts.install(cluster.api, RELEASE, run=lambda _: start_gangs(local, cluster))
    cluster.api.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAME}})
    yield cluster
    local.stop(cluster)


@pytest.fixture(scope="module")
def pods(cluster: LocalCluster) -> Iterator[PodWatch]:
    """Watch its pods."""
    with PodWatch(cluster) as pods:
        yield pods


@pytest.fixture(scope="module")
def gang(cluster: LocalCluster) -> str:
    """Make the objects of a replica that is a gang over both nodes; gives the name of its LeaderWorkerSet."""
    pool = Pool(NAME, "h100", (hopper(8), efa(32)), realised=2, maximum=2, fabric="a", fabric_kind=FabricKind.EFA)
    requests = (
        RequestShape(name="gpu", count=8, selectors=(HOPPER,)),
        RequestShape(name="nic", count=32, selectors=(EFA,)),
    )
    members = (MemberShape(role=role, pods=1, requests=requests, template=template()) for role in ("Leader", "Worker"))
    shape = ReplicaShape(engines=(EngineShape(name="main", members=tuple(members)),))
    wanted = Deployment("ml", "giant", 1, shape, shape_digest(shape))
    ((_, objects),) = replicas(pool, (wanted,), Accounting.DEVICE)
    for each in objects:
        cluster.api.create(PATHS[each.kind], dict(each.body))
    (name,) = (each.name for each in objects if each.kind == "LeaderWorkerSet")
    return name


def names_of(gang: str) -> set[str]:
    """Name the pods of the only group of a gang of two: the leader, and the worker that is named after it."""
    return {f"{gang}-0", f"{gang}-0-1"}


def settled(cluster: LocalCluster, pods: PodWatch, gang: str) -> Mapping[str, Object]:
    """Wait until the replica is ready as the engine's provider asks for it; gives its pods."""

    def available() -> bool:
        conditions = cluster.api.get(f"{SETS}/{gang}").get("status", {}).get("conditions", ())
        return {each["type"]: each["status"] for each in conditions}.get("Available") == "True"

    found = pods.wait(NAME, lambda found: found.keys() == names_of(gang) and all(map(is_ready, found.values())))
    assert found.keys() == names_of(gang)
    assert soon(available, seconds=MOST_SECONDS)
    return found


def is_ready(pod: Object) -> bool:
    """Whether a pod is ready and is not on its way out."""
    conditions = {each["type"]: each["status"] for each in pod.get("status", {}).get("conditions", ())}
    return conditions.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]


def devices(cluster: LocalCluster, pod: Object) -> Counter[tuple[str, str]]:
    """Count the devices of a pod, by (node, driver)."""
    claims = (each["resourceClaimName"] for each in pod["status"]["resourceClaimStatuses"])
    found = [cluster.api.get(f"{DRA}/resourceclaims/{name}")["status"]["allocation"] for name in claims]
    return Counter((each["pool"], each["driver"]) for one in found for each in one["devices"]["results"])


def uids(found: Mapping[str, Object]) -> set[str]:
    """Give what tells pods of one name apart."""
    return {pod["metadata"]["uid"] for pod in found.values()}


def test_a_gang_binds_with_the_devices_that_were_promised(
    cluster: LocalCluster, pods: PodWatch, gang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of two nodes of its pool, though nodes of another one are free; and it is ready."""
    found = settled(cluster, pods, gang)
    assert {node_of(pod) for pod in found.values()} == set(NODES)
    for pod in found.values():
        assert devices(cluster, pod) == {(node_of(pod), GPU_DRIVER): 8, (node_of(pod), EFA_DRIVER): 32}
    with capsys.disabled():
        print(f"\nthe controller of gangs: {memory(cluster.pids[CONTROLLER])} MB")  # noqa: T201


def test_the_pods_of_a_gang_know_their_leader_and_their_rank(cluster: LocalCluster, pods: PodWatch, gang: str) -> None:
    """By Berth's names, which refer to the controller's; Kubernetes resolves what stands in front only."""
    found = settled(cluster, pods, gang)
    for rank, pod in enumerate(found[name] for name in sorted(found)):
        given = [(each["name"], each["value"]) for each in pod["spec"]["containers"][0]["env"]]
        values = dict(given)
        assert values["LWS_WORKER_INDEX"] == str(rank)
        assert values["LWS_LEADER_ADDRESS"] == f"{gang}-0.{gang}.{NAME}"
        order = [name for name, _ in given]
        for own, theirs in (
            ("MODELPLANE_LEADER_ADDRESS", "LWS_LEADER_ADDRESS"),
            ("MODELPLANE_RANK", "LWS_WORKER_INDEX"),
        ):
            assert values[own] == f"$({theirs})"
            assert order.index(theirs) < order.index(own)


@pytest.mark.parametrize("role", ["leader", "worker"])
def test_a_gang_that_loses_a_pod_comes_back_whole(cluster: LocalCluster, pods: PodWatch, gang: str, role: str) -> None:
    """Engines of a gang do not outlive one another: the restart policy that the project takes for granted."""
    assert cluster.api.get(f"{SETS}/{gang}")["spec"]["leaderWorkerTemplate"]["restartPolicy"] == _POLICY
    before = settled(cluster, pods, gang)
    cluster.api.delete(f"{PODS}/{gang}-0{'-1' if role == 'worker' else ''}")
    pods.wait(NAME, lambda found: not uids(found) & uids(before))
    after = settled(cluster, pods, gang)
    assert not uids(after) & uids(before)
    for pod in after.values():
        assert devices(cluster, pod) == {(node_of(pod), GPU_DRIVER): 8, (node_of(pod), EFA_DRIVER): 32}
    claims = f"{DRA}/resourceclaims"
    assert soon(
        lambda: {each["metadata"]["ownerReferences"][0]["uid"] for each in cluster.api.items(claims)} == uids(after),
        seconds=MOST_SECONDS,
    )


_POLICY: Final = "RecreateGroupOnPodRestart"


def test_the_controller_goes_with_its_chart_and_comes_again(
    local: LocalKubernetes, cluster: LocalCluster, pods: PodWatch, gang: str
) -> None:
    """Its webhooks too, which would let nobody make a pod of a gang; what was made stays."""
    before = settled(cluster, pods, gang)
    pid = cluster.pids[CONTROLLER]
    charts.uninstall(cluster.api, "lws-system", "lws", end=lambda _: stop_gangs(local, cluster))
    assert running([pid]) == []
    assert cluster.api.items(WEBHOOKS) == []
    assert uids(settled(cluster, pods, gang)) == uids(before)
    begin = time.monotonic()
    for revision in (1, 2):
        assert charts.install(cluster.api, RELEASE, run=lambda _: start_gangs(local, cluster)) == revision
    assert time.monotonic() - begin < MOST_SECONDS
    assert running([cluster.pids[CONTROLLER]])
    assert uids(settled(cluster, pods, gang)) == uids(before)
