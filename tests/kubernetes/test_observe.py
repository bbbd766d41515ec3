"""What is read of real API servers: nodes, who holds which devices by the real scheduler's word, and who is silent."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from automation.observe.access import read_access
from automation.observe.api import ClusterApi, NoAnswer
from automation.observe.lowering import SeenCluster, seen_cluster
from automation.observe.parallel import ask_each
from automation.observe.reading import read_cluster
from automation.rehearsal.kubernetes.local import LocalCluster, LocalKubernetes
from automation.rehearsal.kubernetes.machines import machine
from automation.scheduling.observation import PoolObservation
from components.clusters.pool_facts import PoolFacts
from components.labels import GPU_TAINT_KEY, Label
from tests.support.kubernetes_minor import MINOR
from tests.support.platforms import existing, hardware
from tests.support.processes import soon

pytestmark = pytest.mark.kubernetes

Object = dict[str, Any]

NAMESPACED = "/api/v1/namespaces/default/pods"
TEMPLATES = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates"
NODES = "/api/v1/nodes"
GPU = {"name": "gpu", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com", "count": 8}
REPLICA = "ml/qwen/observe/0"


@pytest.fixture(scope="module")
def cluster(local: LocalKubernetes) -> Iterator[LocalCluster]:
    """Run a cluster with two nodes of eight GPUs."""
    started = local.start("observe")
    started.install_device_classes()
    for name in ("n1", "n2"):
        started.join(name, machine("aws", "p4d.24xlarge"), labels={Label.POOL.value: "gpu"})
    yield started
    local.stop(started)


def look(cluster: LocalCluster, *, seconds: float = 60) -> SeenCluster:
    """Read a cluster as ``berth observe`` does."""
    manifest = existing("observe", pools=[{"name": "gpu", "className": "h100", "nodeCount": 2}])
    facts = PoolFacts.from_spec(manifest, manifest.spec.node_pools[0], hardware(devices=[GPU]), scales_from_zero=False)
    access = read_access(cluster.kubeconfig.read_text(), folder=cluster.kubeconfig.parent)
    with ClusterApi(access, seconds=seconds) as api:
        return seen_cluster(read_cluster(api, environment="dev"), [facts])


def run_pod(cluster: LocalCluster, name: str, gpus: int, **metadata: Any) -> None:
    """Make a claim template with some metadata, and a pod that claims by it; wait until it is ready."""
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": gpus}}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, **metadata},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
    cluster.api.create(TEMPLATES, template)
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "tolerations": [{"key": GPU_TAINT_KEY, "operator": "Exists", "effect": "NoSchedule"}],
            "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": name}],
            "containers": [{"name": "engine", "image": "engine", "resources": {"claims": [{"name": "devices"}]}}],
        },
    }
    cluster.api.create(NAMESPACED, pod)

    def ready() -> bool:
        conditions = cluster.api.get(f"{NAMESPACED}/{name}")["status"].get("conditions", [])
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    assert soon(ready, seconds=120)


def test_what_the_scheduler_gave_to_strangers_is_seen(cluster: LocalCluster) -> None:
    """One pod is a replica's, by its template; the other is somebody's. A cordoned node does not count."""
    seen = look(cluster)
    assert seen.facts.ready.value is True
    assert seen.observation.pools == {"gpu": PoolObservation(2)}
    assert seen.observation.api_server.startswith(f"v{MINOR.name}.")
    assert seen.observation.driver == "580.105.8"

    run_pod(
        cluster,
        "ours",
        4,
        labels={Label.ENVIRONMENT.value: "dev"},
        annotations={Label.OWNER.value: REPLICA},
    )
    run_pod(cluster, "theirs", 2)
    seen = look(cluster)
    assert [(each.name, each.devices) for each in seen.holders] == [("default/theirs", {"gpu": 2})]
    assert [(each.replica, each.pods, each.ready) for each in seen.replicas] == [(REPLICA, 1, 1)]

    cluster.api.patch(f"{NODES}/n1", {"spec": {"unschedulable": True}})
    found = look(cluster)
    assert (found.pools[0].usable, found.pools[0].nodes[0].why_unusable) == (1, ("cordoned",))
    cluster.api.patch(f"{NODES}/n1", {"spec": {"unschedulable": False}})
    for name in ("ours", "theirs"):
        cluster.api.delete(f"{NAMESPACED}/{name}")
    assert soon(lambda: not look(cluster).holders and not look(cluster).replicas, seconds=120)


def test_a_list_of_many_pages_is_whole(cluster: LocalCluster) -> None:
    """The server's own continue tokens, with pages of a few objects."""
    maps = "/api/v1/namespaces/default/configmaps"
    for number in range(7):
        cluster.api.create(maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"page-{number}"}})
    access = read_access(cluster.kubeconfig.read_text())
    with pytest.MonkeyPatch.context() as patch, ClusterApi(access, seconds=60) as api:
        patch.setattr("automation.observe.api._PAGE", 2)
        names = [each["metadata"]["name"] for each in api.items(maps)]
    assert len(names) == len(set(names))
    assert {f"page-{number}" for number in range(7)} <= set(names)


def test_a_dead_api_server_holds_up_nobody(cluster: LocalCluster, local: LocalKubernetes) -> None:
    """One of two ends; the other is read, and the whole takes no longer than one may."""
    dead = local.start("dead")
    clusters = {"alive": cluster, "dead": dead}
    assert all(
        isinstance(each, SeenCluster)
        for each in ask_each(lambda name: look(clusters[name]), clusters, seconds=60).values()
    )
    local.end(dead, "kube-apiserver")
    start = time.monotonic()
    answers = ask_each(lambda name: look(clusters[name], seconds=10), clusters, seconds=30)
    assert time.monotonic() - start < 40
    silent = answers["dead"]
    assert isinstance(silent, NoAnswer)
    assert silent.silent
    assert isinstance(answers["alive"], SeenCluster)
    local.stop(dead)


def test_a_server_that_is_not_who_it_says_gets_no_credential(cluster: LocalCluster) -> None:
    """Neither without its authority, nor under a name that is not in its certificate."""
    access = read_access(cluster.kubeconfig.read_text())
    for changed in (replace(access, authority=""), replace(access, name="somebody.else.test")):
        with ClusterApi(changed, seconds=30) as api, pytest.raises(NoAnswer, match="is not to be trusted"):
            api.get("/version")
    with ClusterApi(replace(access, name="kubernetes.default.svc"), seconds=30) as api:
        assert api.get("/version")["major"] == "1"
