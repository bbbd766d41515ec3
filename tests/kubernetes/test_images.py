"""What becomes of pods by their images, on nodes where nothing is pulled."""

from collections.abc import Iterator
from typing import Any

import pytest

from automation.rehearsal.kubernetes.local import LocalCluster
from automation.rehearsal.kubernetes.machines import machine
from tests.support.processes import soon

pytestmark = pytest.mark.kubernetes

NAMESPACE = "images"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
GOOD, BROKEN = "x.test/tool:1", "x.test/tool:1-broken"


@pytest.fixture(scope="module")
def cluster(shared: LocalCluster) -> Iterator[LocalCluster]:
    """Give the shared cluster with a node and a namespace of this module's own."""
    shared.api.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    shared.join("images-1", machine("aws", "p5.48xlarge"), labels={"for": NAMESPACE}, tainted=False)
    yield shared
    shared.api.delete(f"/api/v1/namespaces/{NAMESPACE}")
    shared.api.delete("/api/v1/nodes/images-1")


def pod_spec(*images: str, first: str = "") -> dict[str, Any]:
    """Make a pod that runs images, after another one."""
    spec: dict[str, Any] = {
        "nodeSelector": {"for": NAMESPACE},
        "containers": [{"name": f"c{number}", "image": image} for number, image in enumerate(images)],
    }
    return spec | ({"initContainers": [{"name": "first", "image": first}]} if first else {})


def job(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Make a Job."""
    template = {"spec": spec | {"restartPolicy": "Never"}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template}}


def states(pod: dict[str, Any]) -> dict[str, str]:
    """Say of each container why it waits, or else in which state it is."""
    status = pod["status"]
    found = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    return {each["name"]: each["state"].get("waiting", {}).get("reason") or next(iter(each["state"])) for each in found}


def of_job(cluster: LocalCluster, name: str) -> dict[str, str]:
    """Say how the containers of a Job's only pod are."""
    pods = cluster.api.items(f"{PODS}?labelSelector=job-name%3D{name}")
    return states(pods[0]) if pods else {}


def test_a_job_succeeds_unless_an_image_of_it_cannot_be_pulled(cluster: LocalCluster) -> None:
    """Such a Job waits as any pod does, also for a container that goes before the others."""
    cases = {
        "good": (pod_spec(GOOD, first=GOOD), {"first": "terminated", "c0": "terminated"}),
        "broken": (pod_spec(BROKEN), {"c0": "ImagePullBackOff"}),
        "first": (pod_spec(GOOD, first=BROKEN), {"first": "ImagePullBackOff", "c0": "PodInitializing"}),
    }
    for name, (spec, _) in cases.items():
        cluster.api.create(JOBS, job(name, spec))
    assert soon(lambda: cluster.api.get(f"{JOBS}/good")["status"].get("succeeded") == 1, seconds=60)
    for name, (_, wanted) in cases.items():
        soon(lambda name=name, wanted=wanted: wanted.items() <= of_job(cluster, name).items(), seconds=60)
        found = of_job(cluster, name)
        assert wanted.items() <= found.items(), (name, found)
    statuses = {name: cluster.api.get(f"{JOBS}/{name}")["status"] for name in cases}
    assert {name for name, status in statuses.items() if status.get("succeeded")} == {"good"}


def test_only_the_container_whose_image_cannot_be_pulled_waits(cluster: LocalCluster) -> None:
    """The others of its pod run; the pod is not ready."""
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "half"}, "spec": pod_spec(GOOD, BROKEN)}
    cluster.api.create(PODS, body)
    wanted = {"c0": "running", "c1": "ImagePullBackOff"}
    soon(lambda: states(cluster.api.get(f"{PODS}/half")) == wanted, seconds=60)
    pod = cluster.api.get(f"{PODS}/half")
    assert states(pod) == wanted
    conditions = {each["type"]: each["status"] for each in pod["status"]["conditions"]}
    assert (pod["status"]["phase"], conditions["Ready"]) == ("Pending", "False")
