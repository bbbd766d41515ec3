"""The preflight against real API servers: a cluster that is fit, and each requirement taken away in turn."""

import json
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from automation.cli.main import run
from automation.rehearsal.kubernetes import flags
from automation.rehearsal.kubernetes.local import LocalCluster, LocalKubernetes
from automation.rehearsal.kubernetes.machines import machine
from components.labels import Label
from components.naming import SYSTEM_NAMESPACE

pytestmark = pytest.mark.kubernetes

Object = dict[str, Any]

MACHINE = "p4d.24xlarge"
NODES = "/api/v1/nodes"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
STORAGE = "/apis/storage.k8s.io/v1/storageclasses"
RBAC = "/apis/rbac.authorization.k8s.io/v1"

MANIFESTS = """\
apiVersion: berth.dev/v1alpha1
kind: Environment
metadata: {name: dev}
---
apiVersion: berth.dev/v1alpha1
kind: InferenceClass
metadata: {name: a100-8x}
spec:
  devices:
    - name: gpu
      driver: gpu.nvidia.com
      deviceClassName: gpu.nvidia.com
      count: 8
      attributes:
        type: {string: gpu}
        productName: {string: NVIDIA A100-SXM4-40GB}
      capacity:
        memory: {value: 40Gi}
    - {name: efa, driver: dra.net, deviceClassName: efa.networking.k8s.aws, count: 4}
---
apiVersion: berth.dev/v1alpha1
kind: InferenceCluster
metadata: {name: onprem}
spec:
  cluster:
    source: Existing
    existing:
      secretRef: {name: onprem}
      cache: {storageClassName: shared}
  nodePools:
    - {name: a100, className: a100-8x, nodeCount: 2}
"""


@pytest.fixture(scope="module")
def cluster(local: LocalKubernetes) -> Iterator[LocalCluster]:
    """Run a cluster that has everything."""
    started = local.start("preflight")
    started.install_device_classes()
    for name in ("n1", "n2"):
        started.join(name, machine("aws", MACHINE), labels={Label.POOL.value: "a100"})
    system = started.join("system", machine("aws", "g6.xlarge"), tainted=False)
    started.api.delete(f"{SLICES}/{system['metadata']['name']}-gpu.nvidia.com")
    started.api.create(
        STORAGE,
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "shared"},
            "provisioner": "nfs.csi.k8s.io",
        },
    )
    yield started
    local.stop(started)


@pytest.fixture
def ask(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, dict[str, Object]]]:
    """Run the command; give its exit code, and by name what is not in order."""
    folder = tmp_path / "environments" / "dev"
    folder.mkdir(parents=True)
    (folder / "environment.yaml").write_text(MANIFESTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERTH_ENVIRONMENTS", str(folder.parent))

    def asked(kubeconfig: Path = cluster.kubeconfig) -> tuple[int, dict[str, Object]]:
        code = run(["preflight", "onprem", "--kubeconfig", str(kubeconfig), "-o", "json"])
        answer = json.loads(capsys.readouterr().out)
        return code, {each["name"]: each for each in answer["checks"] if each["status"] != "ok"}

    return asked


@contextmanager
def changed(cluster: LocalCluster, path: str, change: Object, back: Object) -> Generator[None]:
    """Change an object for a while."""
    cluster.api.patch(path, change)
    try:
        yield
    finally:
        cluster.api.patch(path, back)


@contextmanager
def gone(cluster: LocalCluster, path: str) -> Generator[None]:
    """Take an object away for a while."""
    kept = cluster.api.get(path)
    cluster.api.delete(path)
    try:
        yield
    finally:
        for field in ("resourceVersion", "uid", "creationTimestamp", "managedFields"):
            kept["metadata"].pop(field, None)
        cluster.api.create(path.rpartition("/")[0], kept)


@contextmanager
def made(cluster: LocalCluster, path: str, body: Object) -> Generator[None]:
    """Make an object for a while."""
    cluster.api.create(path, body)
    try:
        yield
    finally:
        name = body["metadata"]["name"]
        cluster.api.delete(f"{path}/{name}")
        deadline = time.monotonic() + 60
        while any(each["metadata"]["name"] == name for each in cluster.api.items(path)):
            assert time.monotonic() < deadline, f"{name} does not go"
            time.sleep(0.1)


def _status(cluster: LocalCluster, change: Object, back: Object) -> AbstractContextManager[None]:
    """Change the status of a node for a while."""
    return changed(cluster, f"{NODES}/n1/status", {"status": change}, {"status": back})


@contextmanager
def dead(local: LocalKubernetes, cluster: LocalCluster) -> Generator[None]:
    """Let a node be not ready for a while, and nobody say that it is."""
    local.end(cluster, "kwok")
    with _status(cluster, {"conditions": [_NOT_READY]}, {"conditions": [_READY]}):
        yield
    local.restart(cluster, "kwok")


_PLUGIN = "nvidia.com/gpu"
_READY = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
_NOT_READY = {"type": "Ready", "status": "False", "reason": "NetworkNotReady"}


def _kubelet(cluster: LocalCluster) -> Object:
    return {"kubeletVersion": cluster.api.get(f"{NODES}/n1")["status"]["nodeInfo"]["kubeletVersion"]}


def _namespace(environment: str) -> Object:
    labels = {Label.ENVIRONMENT.value: environment} if environment else {}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM_NAMESPACE, "labels": labels}}


_QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "none"},
    "spec": {"hard": {"count/deployments.apps": "0"}},
}

_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "things.gateway.networking.k8s.io",
        "annotations": {"api-approved.kubernetes.io": "unapproved, a sample"},
    },
    "spec": {
        "group": "gateway.networking.k8s.io",
        "scope": "Cluster",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


def test_a_cluster_that_has_everything_is_fit(ask: Callable[[], tuple[int, dict[str, Object]]]) -> None:
    """A real API server, a real list of APIs, real answers about permissions."""
    assert ask() == (0, {})


def test_each_requirement_taken_away_is_found_alone(
    local: LocalKubernetes, cluster: LocalCluster, ask: Callable[[], tuple[int, dict[str, Object]]]
) -> None:
    """And its fix puts it back."""
    label, taints = {"metadata": {"labels": {Label.POOL.value: None}}}, cluster.api.get(f"{NODES}/n1")["spec"]["taints"]
    labelled = {"metadata": {"labels": {Label.POOL.value: "a100"}}}
    tainted = {"spec": {"taints": taints}}
    gpus = cluster.api.get(f"{SLICES}/n1-gpu.nvidia.com")["spec"]["devices"]
    other = [{**gpus[0], "capacity": {"memory": {"value": "80Gi"}}}, *gpus[1:]]
    cases = [
        ("nodes of pool a100", 1, changed(cluster, f"{NODES}/n1", label, labelled)),
        ("taints of pool a100", 1, changed(cluster, f"{NODES}/n1", {"spec": {"taints": []}}, tainted)),
        (
            "condition of pool a100",
            0,
            changed(cluster, f"{NODES}/n1", {"spec": {"unschedulable": True}}, {"spec": {"unschedulable": False}}),
        ),
        ("nodes for controllers", 1, changed(cluster, f"{NODES}/system", tainted, {"spec": {"taints": []}})),
        ("device class efa.networking.k8s.aws", 1, gone(cluster, f"{CLASSES}/efa.networking.k8s.aws")),
        ("efa of pool a100", 1, gone(cluster, f"{SLICES}/n2-dra.net")),
        (
            "gpu of pool a100",
            1,
            changed(cluster, f"{SLICES}/n1-gpu.nvidia.com", {"spec": {"devices": other}}, {"spec": {"devices": gpus}}),
        ),
        ("storage class", 1, gone(cluster, f"{STORAGE}/shared")),
        ("condition of pool a100", 1, dead(local, cluster)),
        ("kubelets", 1, _status(cluster, {"nodeInfo": {"kubeletVersion": "v1.33.1"}}, {"nodeInfo": _kubelet(cluster)})),
        (
            "owner of the GPUs of pool a100",
            1,
            _status(cluster, {"allocatable": {_PLUGIN: "8"}}, {"allocatable": {_PLUGIN: None}}),
        ),
        ("owner", 1, made(cluster, "/api/v1/namespaces", _namespace("prod"))),
        ("owner", 1, made(cluster, "/api/v1/namespaces", _namespace(""))),
        ("definitions of gateway.networking.k8s.io", 0, made(cluster, DEFINITIONS, _DEFINITION)),
        ("device claims", 0, made(cluster, "/api/v1/namespaces/default/resourcequotas", _QUOTA)),
    ]
    for name, code, taken_away in cases:
        with taken_away:
            answer, missing = ask()
        assert (answer, list(missing)) == (code, [name]), missing
        assert missing[name]["fix"]
    assert ask() == (0, {})


def test_a_manifest_of_a_newer_minor_is_found_out(ask: Callable[[], tuple[int, dict[str, Object]]]) -> None:
    """Its selectors are judged by what the manifest says, and the server would refuse some."""
    environment = Path(os.environ["BERTH_ENVIRONMENTS"]) / "dev" / "environment.yaml"
    environment.write_text(MANIFESTS.replace("    existing:\n", '    existing:\n      kubernetesVersion: "1.36"\n'))
    code, missing = ask()
    assert (code, list(missing)) == (1, ["version"])
    assert "kubernetesVersion" in missing["version"]["fix"]


@pytest.mark.parametrize(
    ("flag", "found"),
    [
        ("--runtime-config=resource.k8s.io/v1=false", "resource.k8s.io/v1 is not served"),
        (
            "--feature-gates=DynamicResourceAllocation=false",
            "resource.k8s.io/v1 is served, but pods lose their claims: they would run without devices",
        ),
    ],
)
def test_a_server_that_cannot_do_claims_is_found_out_and_so_is_one_that_ended(
    local: LocalKubernetes,
    ask: Callable[..., tuple[int, dict[str, Object]]],
    monkeypatch: pytest.MonkeyPatch,
    flag: str,
    found: str,
) -> None:
    """The one serves no claims; the other serves them, and stores pods without theirs."""
    usual = flags.api_server
    monkeypatch.setattr(flags, "api_server", lambda *given, **named: [*usual(*given, **named), flag])
    started = local.start("without-claims")
    try:
        code, missing = ask(started.kubeconfig)
        assert (code, missing["device claims"]["found"]) == (1, found)
        assert missing["device claims"]["status"] == "problem"
        local.end(started, "kube-apiserver")
        code, missing = ask(started.kubeconfig)
        assert (code, list(missing)) == (1, ["api server"])
        assert started.server in missing["api server"]["fix"]
    finally:
        local.stop(started)


def test_a_reader_without_rights_is_told_which(
    cluster: LocalCluster, tmp_path: Path, ask: Callable[..., tuple[int, dict[str, Object]]]
) -> None:
    """A service account that may read nodes alone; and a token that nobody knows is an exit code of its own."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader", "namespace": "default"}}
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    cluster.api.create(accounts, account)
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "nodes"}}
    cluster.api.create(
        f"{RBAC}/clusterroles", {**role, "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]}
    )
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "nodes"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "nodes"},
        "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": "default"}],
    }
    cluster.api.create(f"{RBAC}/clusterrolebindings", binding)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = cluster.api.create(f"{accounts}/reader/token", request)["status"]["token"]
    code, missing = ask(_with_token(cluster, tmp_path / "reader.yaml", token))
    assert code == 1
    assert missing.pop("device claims")["status"] == "warning"
    assert set(missing) == {"permissions", "definitions", "devices", "device classes", "storage class", "owner"}
    assert missing["owner"]["fix"].startswith("kubectl create clusterrole berth-namespaces --verb=get")
    assert missing["permissions"]["fix"].endswith("--serviceaccount=default:reader")
    assert "resourceslices.resource.k8s.io (403)" in missing["devices"]["found"]
    code, missing = ask(_with_token(cluster, tmp_path / "nobody.yaml", "nobody"))
    assert (code, list(missing)) == (3, ["api server"])


def _with_token(cluster: LocalCluster, path: Path, token: str) -> Path:
    """Write the cluster's kubeconfig with another token."""
    own = cluster.files.tokens.read_text().partition(",")[0]
    path.write_text(cluster.kubeconfig.read_text().replace(own, token))
    return path
