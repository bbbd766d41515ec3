"""Simulated clouds with real control planes behind their clusters, as their providers make them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from automation.engine.toolchain.layout import Layout
from automation.rehearsal.backing.door import RECORD, Door
from automation.rehearsal.backing.keeper import Keeper
from automation.rehearsal.install import Backing, install
from automation.rehearsal.kubernetes.api import Api
from components.labels import Label
from tests.support.kubernetes_minor import MINOR
from tests.support.processes import listens, running, soon
from tests.support.simulated import CLUSTER, NODES, Provider, make_cluster, serving, settings_for

pytestmark = pytest.mark.kubernetes

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
NODES_API = "/api/v1/nodes"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
GATEWAYS = "/apis/gateway.networking.k8s.io/v1"
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """Give a project."""
    return Layout(tmp_path_factory.mktemp("project"), backed=True)


@pytest.fixture(scope="module")
def door(programs: Mapping[str, Path], layout: Layout) -> Iterator[Door]:
    """Keep control planes; gives the way to their keeper."""
    with Keeper(programs, layout, say=lambda _: None, minor=MINOR.name):
        yield Door(layout.simulated / RECORD)


@pytest.fixture(scope="module")
def aws(door: Door, layout: Layout) -> Generator[Provider]:
    """Serve a simulated AWS whose clusters are backed."""
    backing = Backing(door.record, Path("/nonexistent"), "0")
    home = layout.simulated_home
    install(home, interpreter=Path(sys.executable), database=layout.simulated_clouds, backing=backing)
    with serving(settings_for(home, "aws", database=layout.simulated_clouds)) as provider:
        yield provider.configure(region="us-east-1")


@pytest.fixture(scope="module")
def east(aws: Provider) -> dict[str, Any]:
    """Make a simulated cluster; gives its outputs."""
    return make_cluster(aws, version=MINOR.name)[0]


@pytest.fixture(scope="module")
def api(door: Door, east: dict[str, Any]) -> Iterator[Api]:
    """Reach its API server as a kubeconfig would: by the endpoint and authority of the cloud, and a token."""
    token = door.ask("token", cluster=east["name"])["token"]
    folder = Path(described(door, east["name"])["kubeconfig"]).parent
    api = Api(east["endpoint"], authority=folder / "apiserver.crt", token=token)
    yield api
    api.close()


def described(door: Door, name: str) -> dict[str, Any]:
    """Give what the keeper says of a cluster; empty when it keeps none of that name."""
    return next((each for each in door.ask("list")["clusters"] if each["name"] == name), {})


def group(east: dict[str, Any], count: int) -> dict[str, Any]:
    """Give the inputs of a node group of the sample cluster."""
    return {
        "clusterName": east["name"],
        "nodeGroupName": "gpu",
        "nodeRoleArn": east["roleArn"],
        "subnetIds": east["vpcConfig"]["subnetIds"],
        "instanceTypes": ["g6e.12xlarge"],
        "labels": {Label.POOL.value: "gpu"},
        "taints": [TAINT],
        "scalingConfig": {"desiredSize": count, "minSize": 0, "maxSize": 4},
    }


def names(api: Api, path: str) -> set[str]:
    """Name the objects of a kind."""
    return {each["metadata"]["name"] for each in api.items(path)}


def test_what_the_cloud_says_of_a_cluster_is_true(api: Api, east: dict[str, Any]) -> None:
    """Its address and authority are those that answer, and its service accounts have the issuer that it names."""
    assert api.is_ready()
    found = api.get("/.well-known/openid-configuration")
    assert found["issuer"] == east["identities"][0]["oidcs"][0]["issuer"]


def test_a_node_group_becomes_nodes_with_devices_and_goes(
    aws: Provider, east: dict[str, Any], api: Api, door: Door
) -> None:
    """Made, seen by a refresh, scaled and deleted; devices come with their driver's chart."""
    inputs = group(east, 2)
    identifier, outputs = aws.create(NODES, "gpu", inputs)
    assert names(api, NODES_API) == {"gpu-0", "gpu-1"}
    (node,) = (each for each in api.items(NODES_API) if each["metadata"]["name"] == "gpu-0")
    assert node["status"]["nodeInfo"]["kubeletVersion"] == api.get("/version")["gitVersion"]
    assert node["spec"]["taints"] == [{**TAINT, "effect": "NoSchedule"}]
    assert names(api, SLICES) == set()
    release = {"name": "d", "namespace": "drivers", "chart": "dra-driver-nvidia-gpu", "createNamespace": True}
    door.ask("install", server=east["endpoint"], release=release)
    assert soon(lambda: names(api, SLICES) == {"gpu-0-gpu.nvidia.com", "gpu-1-gpu.nvidia.com"}, seconds=60)
    aws.update(NODES, "gpu", identifier, olds=outputs, news=group(east, 1))
    assert soon(lambda: names(api, NODES_API) == {"gpu-0"}, seconds=60)
    assert aws.read(NODES, "gpu", identifier, outputs=outputs) is not None
    aws.delete(NODES, "gpu", identifier)
    assert soon(lambda: names(api, NODES_API) == set(), seconds=60)
    assert aws.read(NODES, "gpu", identifier, outputs=outputs) is None


def test_a_quota_is_counted(api: Api) -> None:
    """The provider takes one for made only when its status repeats the limits, which a controller writes."""
    quotas = "/api/v1/namespaces/default/resourcequotas"
    hard = {"pods": "7"}
    api.create(quotas, {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}})
    assert soon(lambda: api.get(f"{quotas}/q").get("status", {}).get("hard") == hard, seconds=60)
    api.delete(f"{quotas}/q")


def test_stand_ins_play_what_only_real_clusters_have(api: Api, east: dict[str, Any], door: Door) -> None:
    """Definitions from the projects' own modules, an address for a gateway and for a service, a volume for a claim."""
    release = {"name": "e", "namespace": "envoy", "chart": "oci://x.test/gateway-helm", "createNamespace": True}
    door.ask("install", server=east["endpoint"], release=release)
    assert soon(lambda: _served(api, GATEWAYS), seconds=60)
    listener = {"name": "http", "port": 80, "protocol": "HTTP"}
    api.create(
        f"{GATEWAYS}/namespaces/default/gateways",
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": "g"},
            "spec": {"gatewayClassName": "envoy", "listeners": [listener]},
        },
    )
    api.create(
        "/api/v1/namespaces/default/services",
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "s"},
            "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
        },
    )
    make_classes(api, shared="efs.csi.aws.com")
    api.create(CLAIMS, claim("c", "shared"))

    def played() -> bool:
        gateway = api.get(f"{GATEWAYS}/namespaces/default/gateways/g").get("status", {})
        service = api.get("/api/v1/namespaces/default/services/s")["status"]
        claim = api.get(f"{CLAIMS}/c")["status"]
        return bool(gateway.get("addresses")) and bool(service.get("loadBalancer")) and claim.get("phase") == "Bound"

    assert soon(played, seconds=60)
    api.delete(f"{CLAIMS}/c")
    assert soon(lambda: names(api, "/api/v1/persistentvolumes") == set(), seconds=60)


def test_a_claim_that_no_driver_would_serve_waits_and_says_why(api: Api) -> None:
    """Kubernetes itself speaks of a class that is not there, the stand-in of a driver that cannot."""
    make_classes(api, disks="ebs.csi.aws.com")
    wanted = {
        "lost": ("nosuch", 'storageclass.storage.k8s.io "nosuch" not found'),
        "alone": ("disks", "Amazon EBS (ebs.csi.aws.com), which do not support ReadWriteMany"),
    }
    for name, (storage_class, _) in wanted.items():
        api.create(CLAIMS, claim(name, storage_class))

    def said(name: str) -> list[str]:
        events = api.items(f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3D{name}")
        return [each["message"] for each in events if each["reason"] == "ProvisioningFailed"]

    for name, (_, why) in wanted.items():
        assert soon(lambda name=name, why=why: any(why in each for each in said(name)), seconds=60), said(name)
    assert {api.get(f"{CLAIMS}/{name}")["status"]["phase"] for name in wanted} == {"Pending"}
    for name in wanted:
        api.delete(f"{CLAIMS}/{name}")


def make_classes(api: Api, **provisioners: str) -> None:
    """Make StorageClasses by their names."""
    for name, provisioner in provisioners.items():
        body = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
        api.create("/apis/storage.k8s.io/v1/storageclasses", {**body, "provisioner": provisioner})


def claim(name: str, storage_class: str) -> dict[str, Any]:
    """Make a claim of a volume that many nodes mount."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def _served(api: Api, path: str) -> bool:
    return path.removeprefix("/apis/").partition("/")[0] in {each["name"] for each in api.get("/apis")["groups"]}


def test_a_control_plane_ends_with_its_cluster(aws: Provider, door: Door) -> None:
    """Its processes, by their numbers; a cluster of its own, because the others need theirs."""
    west, _, _ = make_cluster(aws, "west", version=MINOR.name)
    pids = list(described(door, "west")["pids"].values())
    assert running(pids) == pids != []
    aws.delete(CLUSTER, "west", f"sim-{west['name']}", outputs=west)
    assert soon(lambda: not described(door, "west"), seconds=60)
    assert soon(lambda: running(pids) == [], seconds=30)


@pytest.mark.parametrize(
    ("whom", "sign", "status"),
    [
        ("keeper", signal.SIGINT, 0),
        ("keeper", signal.SIGTERM, 0),
        ("keeper", signal.SIGHUP, 0),
        ("keeper", signal.SIGKILL, -signal.SIGKILL),
        ("warden", signal.SIGKILL, 1),
    ],
)
def test_a_keeper_that_ends_leaves_nothing(
    programs: Mapping[str, Path], tmp_path: Path, whom: str, sign: signal.Signals, status: int
) -> None:
    """Neither process, port nor folder, in whatever way it ends, also when its warden is killed; the next may begin."""
    root = tmp_path / "project"
    command = [sys.executable, "-m", "tests.support.keeper_run", str(root)]
    arguments = [f"{name}={path}" for name, path in programs.items()]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        said = json.loads(driver.stdout.readline())
        pids = [*said["pids"], said["warden"]]
        assert running(pids) == pids
        assert len(pids) == 6
        assert listens(said["port"])
        os.kill(driver.pid if whom == "keeper" else said["warden"], sign)
        _, complaint = driver.communicate(timeout=60)
    assert driver.returncode == status, complaint
    assert ("the process that keeps the local clusters has ended" in complaint) is (whom == "warden")
    assert soon(lambda: not running(pids))
    assert not listens(said["port"])
    layout = Layout(root, backed=True)
    assert soon(lambda: list((layout.simulated / "kubernetes").iterdir()) == [])
    assert not Door(layout.simulated / RECORD).is_kept()
    with Keeper(programs, layout, say=lambda _: None, minor=MINOR.name) as again:
        assert again.answer({"do": "list"})["clusters"] == []
