"""Pods deleted, nodes lost and come back, claims deleted under their pods: what Kubernetes makes of Berth's workloads.

At no moment has a device two claims. After each change every workload has all its pods again, on nodes that are there,
with devices of these nodes, and no claim is left of a pod that is gone. Pods are promised room on one node less than
there are, so that one may be lost.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

import pytest

from automation.rehearsal.kubernetes.local import LocalCluster
from automation.scheduling.snapshot import Accounting, Pool
from tests.support.capacity_cases import HOPPER, deployment, hopper, node_name, pool_objects, replicas
from tests.support.pod_watch import MOST_SECONDS, PodWatch, node_of
from tests.support.random_cases import CASES, SEED, again

pytestmark = pytest.mark.kubernetes

NAME: Final = "churn"
NODES: Final = 3
ROUNDS: Final = max(6, CASES // 2)
DRA: Final = "/apis/resource.k8s.io/v1"
PATHS: Final = {
    "Node": "/api/v1/nodes",
    "ResourceSlice": f"{DRA}/resourceslices",
    "ResourceClaimTemplate": f"{DRA}/namespaces/{NAME}/resourceclaimtemplates",
    "Deployment": f"/apis/apps/v1/namespaces/{NAME}/deployments",
}
PODS: Final = f"/api/v1/namespaces/{NAME}/pods"
CLAIMS: Final = f"{DRA}/namespaces/{NAME}/resourceclaims"

Object = dict[str, Any]


class Churn:
    """A pool with workloads on it, and what can happen to them."""

    def __init__(self, cluster: LocalCluster, watch: PodWatch, random: Random) -> None:
        self.api, self.watch, self.random = cluster.api, watch, random
        pool = Pool(NAME, "h100", (hopper(8),), realised=NODES - 1, maximum=NODES - 1)
        wanted = (deployment("two", 1, [(2, HOPPER)], copies=3), deployment("four", 1, [(4, HOPPER)], copies=2))
        self.pods = 0
        self.nodes: dict[str, list[Object]] = {}
        for each in pool_objects(Pool(NAME, "h100", pool.devices, realised=NODES, maximum=NODES)):
            name = each["spec"].get("nodeName") or each["metadata"]["name"]
            self.nodes.setdefault(name, []).append(each)
        self.there: set[str] = set()
        self.ended: set[str] = set()
        """Pods that were deleted, by UID: what happens next happens to others."""
        self.api.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAME}})
        for name in self.nodes:
            self.join(name)
        for placed, objects in replicas(pool, wanted, Accounting.DEVICE):
            self.pods += placed.shape.engines[0].copies
            for manifest in objects:
                self.api.create(PATHS[manifest.kind], dict(manifest.body))

    def join(self, name: str) -> None:
        """Bring a node with its devices."""
        for each in self.nodes[name]:
            self.api.create(PATHS[each["kind"]], each)
        self.there.add(name)

    def lose(self, name: str) -> None:
        """Take a node with its devices and pods away, as the collectors of nodes and pods do."""
        for each in reversed(self.nodes[name]):
            self.api.delete(f"{PATHS[each['kind']]}/{each['metadata']['name']}")
        self.there.remove(name)
        for pod in self.running().values():
            if node_of(pod) == name:
                self.end(pod, "?gracePeriodSeconds=0")

    def end(self, pod: Object, how: str = "") -> None:
        """Delete a pod."""
        self.ended.add(pod["metadata"]["uid"])
        self.api.delete(f"{PODS}/{pod['metadata']['name']}{how}")

    def change(self) -> str:
        """Let something happen; says what."""
        gone = sorted(set(self.nodes) - self.there)
        if gone and self.random.random() < 0.5:
            self.join(gone[0])
            return f"{gone[0]} came back"
        if not gone and self.random.random() < 0.4:
            name = self.random.choice(sorted(self.there))
            self.lose(name)
            return f"{name} was lost"
        names = sorted(self.random.sample(sorted(self.running()), self.random.randint(1, self.pods)))
        with_claims = self.random.random() < 0.3
        for name in names:
            if with_claims:
                for claim in self.running()[name]["status"]["resourceClaimStatuses"]:
                    self.api.delete(f"{CLAIMS}/{claim['resourceClaimName']}")
            self.api.delete(f"{PODS}/{name}")
        return f"{', '.join(names)} were deleted{', their claims first' if with_claims else ''}"

    def running(self) -> Mapping[str, Object]:
        """Give the pods that are not on their way out."""
        pods = self.watch.wait(NAME, lambda _: True)
        return {name: pod for name, pod in pods.items() if "deletionTimestamp" not in pod["metadata"]}

    def settle(self) -> None:
        """Wait until all is as it should be; fails when it does not become so, or a device has two claims meanwhile."""
        deadline = time.monotonic() + MOST_SECONDS
        while problems := list(self.problems()):
            assert time.monotonic() < deadline, "\n".join(problems)
            self.watch.wait(NAME, lambda _: False, seconds=0.2)

    def problems(self) -> Iterator[str]:
        """Yield what is not as it should be yet."""
        claims = self.api.items(CLAIMS)
        owners = Counter(device for claim in claims for device in devices(claim))
        doubled = [device for device, count in owners.items() if count > 1]
        assert not doubled, f"devices with two claims: {doubled}"
        pods = self.running()
        if len(pods) != self.pods:
            yield f"{len(pods)} pods instead of {self.pods}: {sorted(pods)}"
        known = {pod["metadata"]["uid"]: pod for pod in pods.values()}
        for pod in pods.values():
            if pod["metadata"]["uid"] in self.ended:
                yield f"{pod['metadata']['name']} was deleted and is there"
            if node_of(pod) not in self.there:
                yield f"{pod['metadata']['name']} is on {node_of(pod) or 'no node'}"
        for claim in claims:
            (owner,) = claim["metadata"]["ownerReferences"]
            pod = known.get(owner["uid"])
            if pod is None:
                yield f"claim {claim['metadata']['name']} is left of {owner['name']}"
            elif {node for node, _ in devices(claim)} != {node_of(pod)}:
                yield f"{owner['name']} on {node_of(pod) or 'no node'} has {devices(claim)}"


def devices(claim: Object) -> list[tuple[str, str]]:
    """Give the devices of a claim, as (node, device)."""
    results = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
    return [(each["pool"], each["device"]) for each in results]


def test_workloads_come_through_churn_with_devices_of_their_own(shared: LocalCluster, pods: PodWatch) -> None:
    """A bounded number of rounds; ``make soak-kubernetes`` has more of them."""
    churn = Churn(shared, pods, Random(f"{SEED}/churn"))  # noqa: S311 (repeatable)
    assert set(churn.nodes) == {node_name(Pool(NAME, "h100", ()), number) for number in range(NODES)}
    assert churn.pods == 5
    churn.settle()
    story = []
    for number in range(ROUNDS):
        story.append(f"{number}: {churn.change()}")
        try:
            churn.settle()
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), *story, again(__file__)])) from error
