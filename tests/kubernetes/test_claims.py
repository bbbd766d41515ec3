"""Device claims on nodes that look like GPU machines: what the real scheduler makes of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from automation.rehearsal.kubernetes.api import ApiError
from automation.rehearsal.kubernetes.local import LocalCluster, LocalKubernetes
from automation.rehearsal.kubernetes.machines import machine
from components.labels import Label
from tests.support.processes import soon

pytestmark = pytest.mark.kubernetes

PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
TEMPLATES = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"

Object = dict[str, Any]


@pytest.fixture(scope="module")
def cluster(local: LocalKubernetes) -> Iterator[LocalCluster]:
    """Give a cluster with two nodes of eight H100 and thirty-two EFA interfaces."""
    cluster = local.start("claims")
    cluster.install_device_classes()
    for name in ("n1", "n2"):
        cluster.join(name, machine("aws", "p5.48xlarge"), labels={Label.POOL: "h100"})
    yield cluster
    local.stop(cluster)


def template(name: str, *requests: Object) -> Object:
    """Make a claim template; a request is ``(device class, count, selector)`` under a name."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"spec": {"devices": {"requests": list(requests)}}},
    }


def request(name: str, of: str, count: int, expression: str = "") -> Object:
    """Ask for a number of devices of a class, all of which match."""
    selectors = [{"cel": {"expression": expression}}] if expression else []
    return {"name": name, "exactly": {"deviceClassName": of, "count": count, "selectors": selectors}}


def pod(name: str, of: str, *, tolerant: bool = True) -> Object:
    """Make a pod that claims what a template says."""
    toleration = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "nodeSelector": {Label.POOL.value: "h100"},
            "tolerations": [toleration] if tolerant else [],
            "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": of}],
            "containers": [{"name": "engine", "image": "engine", "resources": {"claims": [{"name": "devices"}]}}],
        },
    }


def where(cluster: LocalCluster, name: str) -> str:
    """Give the node that a pod is bound to; empty when it is not."""
    return str(cluster.api.get(f"{PODS}/{name}")["spec"].get("nodeName", ""))


def ready(cluster: LocalCluster, name: str) -> bool:
    """Whether a pod is ready."""
    conditions = cluster.api.get(f"{PODS}/{name}")["status"].get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def refusal(cluster: LocalCluster, name: str) -> str:
    """Give what the scheduler says of a pod that it cannot place; empty while it says nothing."""
    conditions = cluster.api.get(f"{PODS}/{name}")["status"].get("conditions", [])
    found = [each.get("message", "") for each in conditions if each["type"] == "PodScheduled"]
    return "".join(found)


def allocated(cluster: LocalCluster, name: str) -> list[tuple[str, str]]:
    """Give the devices of a pod, as (node, device)."""
    (status,) = cluster.api.get(f"{PODS}/{name}")["status"]["resourceClaimStatuses"]
    claim = cluster.api.get(f"{CLAIMS}/{status['resourceClaimName']}")
    return [(each["pool"], each["device"]) for each in claim["status"]["allocation"]["devices"]["results"]]


def test_pods_bind_with_devices_of_their_own_and_become_ready(cluster: LocalCluster) -> None:
    """Three pods of four GPUs on two nodes of eight: no device twice, and no node for a pod of eight."""
    hopper = "device.attributes['gpu.nvidia.com'].architecture == 'Hopper'"
    cluster.api.create(TEMPLATES, template("four", request("gpu", "gpu.nvidia.com", 4, hopper)))
    cluster.api.create(TEMPLATES, template("eight", request("gpu", "gpu.nvidia.com", 8)))
    for name in ("p0", "p1", "p2"):
        cluster.api.create(PODS, pod(name, "four"))
    assert soon(lambda: all(ready(cluster, name) for name in ("p0", "p1", "p2")), seconds=120)
    devices = [each for name in ("p0", "p1", "p2") for each in allocated(cluster, name)]
    assert len(devices) == len(set(devices)) == 12
    assert {device for _, device in devices} <= {f"gpu-{index}" for index in range(8)}
    for name in ("p0", "p1", "p2"):
        assert {node for node, _ in allocated(cluster, name)} == {where(cluster, name)}

    cluster.api.create(PODS, pod("big", "eight"))
    assert soon(lambda: "cannot allocate all claims" in refusal(cluster, "big"), seconds=60)
    assert not where(cluster, "big")
    for name in ("p0", "p1", "p2"):
        cluster.api.delete(f"{PODS}/{name}")
    assert soon(lambda: bool(where(cluster, "big")), seconds=120), "room that is freed is taken"
    cluster.api.delete(f"{PODS}/big")


def test_gpus_and_network_interfaces_are_claimed_together(cluster: LocalCluster) -> None:
    """A claim may tie both to one PCIe root, where it is known which devices share one, and nowhere else."""
    cluster.join("n4", machine("aws", "p4d.24xlarge"), labels={Label.POOL: "a100"})
    both = template("both", request("gpu", "gpu.nvidia.com", 2), request("nic", "efa.networking.k8s.aws", 1))
    both["spec"]["spec"]["devices"]["constraints"] = [{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    cluster.api.create(TEMPLATES, both)
    known = pod("known", "both")
    known["spec"]["nodeSelector"] = {Label.POOL.value: "a100"}
    cluster.api.create(PODS, known)
    cluster.api.create(PODS, pod("unknown", "both"))
    assert soon(lambda: bool(where(cluster, "known")), seconds=60)
    found = [device for _, device in allocated(cluster, "known")]
    (nic,) = [int(device.removeprefix("efa-")) for device in found if device.startswith("efa-")]
    assert sorted(found) == [f"efa-{nic}", f"gpu-{2 * nic}", f"gpu-{2 * nic + 1}"]
    assert soon(lambda: "cannot allocate all claims" in refusal(cluster, "unknown"), seconds=60)
    for name in ("known", "unknown"):
        cluster.api.delete(f"{PODS}/{name}")
    cluster.api.delete("/api/v1/nodes/n4")


def test_a_selector_that_reads_a_missing_attribute_stops_its_pod(cluster: LocalCluster) -> None:
    """An error is no mismatch: the pod waits for ever, with the reason."""
    expression = "device.attributes['gpu.nvidia.com'].nosuch == 'x'"
    cluster.api.create(TEMPLATES, template("wrong", request("gpu", "gpu.nvidia.com", 1, expression)))
    cluster.api.create(PODS, pod("wrong", "wrong"))
    assert soon(lambda: "no such key: nosuch" in refusal(cluster, "wrong"), seconds=60)
    cluster.api.delete(f"{PODS}/wrong")


def test_a_pod_without_a_toleration_stays_off_the_pool(cluster: LocalCluster) -> None:
    """The taint is that of the pool's nodes."""
    cluster.api.create(TEMPLATES, template("one", request("gpu", "gpu.nvidia.com", 1)))
    cluster.api.create(PODS, pod("stranger", "one", tolerant=False))
    assert soon(lambda: "untolerated taint" in refusal(cluster, "stranger"), seconds=60)
    cluster.api.delete(f"{PODS}/stranger")


def test_a_field_that_does_not_exist_is_refused(cluster: LocalCluster) -> None:
    """Strictly, as a typing mistake deserves."""
    wrong = pod("typo", "one")
    wrong["spec"]["nodeSelectr"] = {}
    with pytest.raises(ApiError, match=r'unknown field "spec\.nodeSelectr"') as caught:
        cluster.api.create(PODS, wrong, dry_run=True)
    assert caught.value.status == 400


def test_a_node_takes_its_slices_along(cluster: LocalCluster) -> None:
    """As on a real cluster, where they belong to it."""
    cluster.join("n3", machine("gcp", "a3-highgpu-8g"), labels={Label.POOL: "other"})
    assert {each["metadata"]["name"] for each in cluster.api.items(SLICES)} >= {"n3-gpu.nvidia.com"}
    cluster.api.delete("/api/v1/nodes/n3")
    left = "n3-gpu.nvidia.com"
    assert soon(lambda: left not in {each["metadata"]["name"] for each in cluster.api.items(SLICES)}, seconds=120)
