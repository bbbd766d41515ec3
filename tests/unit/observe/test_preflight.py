"""The preflight of a cluster: it finds each requirement that is taken away, and nothing where all is there."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from automation.engine.toolchain.finding import Check, Status
from automation.observe.api import NoAnswer
from automation.observe.preflight.run import preflight
from automation.observe.preflight.wanted import Wanted
from automation.rehearsal.kubernetes.definitions import groups
from automation.rehearsal.kubernetes.machines import machine
from components.api.fleet import Fleet
from components.api.frozen import FrozenDict
from components.api.model_cache import ModelCache
from components.labels import Label
from components.naming import SYSTEM_NAMESPACE
from tests.support.fake_api import CLASSES, DEFINITIONS, DRA, NODES, PODS, REVIEW, SLICES, STORAGE, FakeApi
from tests.support.platforms import eks, existing, fleet, hardware

H100 = machine("aws", "p5.48xlarge")
SYSTEM = f"/api/v1/namespaces/{SYSTEM_NAMESPACE}"
GPU = {
    "name": "gpu",
    "driver": "gpu.nvidia.com",
    "deviceClassName": "gpu.nvidia.com",
    "count": 8,
    "attributes": {"productName": {"string": "NVIDIA H100 80GB HBM3"}},
    "capacity": {"memory": {"value": "81559Mi"}},
}
EFA = {"name": "efa", "driver": "dra.net", "deviceClassName": "efa.networking.k8s.aws", "count": 32}
POOL = {"name": "gpu", "className": "h100", "nodeCount": 2}


CACHE = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "ModelCache",
    "metadata": {"name": "qwen", "namespace": "ml"},
    "spec": {"source": "HuggingFace", "huggingFace": {"repo": "Qwen/Qwen3-8B", "sizeGiB": 40}},
}


def town(*, devices: Iterable[Any] = (GPU, EFA), source: dict[str, Any] | None = None, cached: bool = True) -> Fleet:
    """Give an environment with one existing cluster, and a cache that may be staged there."""
    block = {"cache": {"storageClassName": "shared"}} if source is None else source
    made = fleet(
        existing(pools=[POOL], source={"kubernetesVersion": "1.34", **block}), classes=[hardware(devices=devices)]
    )
    caches = {("ml", "qwen"): ModelCache.model_validate(CACHE)} if cached else {}
    return replace(made, caches=FrozenDict(caches))


def fit() -> FakeApi:
    """Give a cluster that has everything: two nodes of the pool, one for controllers, shared storage."""
    fake = FakeApi({STORAGE: [storage("shared", "nfs.csi.k8s.io"), storage("gp3", "ebs.csi.aws.com")]})
    for name in ("n1", "n2"):
        fake.join(name, H100)
    fake.join("system", machine("aws", "g6.xlarge"), pool="", tainted=False)
    fake.lists[SLICES] = [each for each in fake.lists[SLICES] if each["spec"]["nodeName"] != "system"]
    return fake


def storage(name: str, provisioner: str) -> dict[str, Any]:
    """Give a StorageClass."""
    return {"metadata": {"name": name}, "provisioner": provisioner}


def definition(group: str) -> dict[str, Any]:
    """Give a CustomResourceDefinition."""
    return {"metadata": {"name": f"things.{group}"}, "spec": {"group": group}}


def build(fake: FakeApi, *, environment: str = "dev") -> None:
    """Let Berth have built there: its namespace, and the definitions of every chart."""
    fake.documents[SYSTEM] = {"metadata": {"labels": {Label.ENVIRONMENT.value: environment}}}
    fake.lists[DEFINITIONS] = [definition(group) for group in Wanted.of(town(), "edge").groups]


def found(fake: FakeApi, made: Fleet | None = None) -> dict[str, Check]:
    """Run the preflight; return its findings by name, of which none is there twice."""
    with fake.api() as api:
        checks = preflight(api, Wanted.of(made or town(), "edge"))
    by_name = {each.name: each for each in checks}
    assert len(by_name) == len(checks)
    assert all(each.fix for each in checks if each.status is not Status.OK), "a finding without a way out"
    return by_name


def wrong(fake: FakeApi, made: Fleet | None = None) -> dict[str, Check]:
    """Return only what is not in order."""
    return {name: each for name, each in found(fake, made).items() if each.status is not Status.OK}


def test_a_cluster_that_has_everything_is_fit() -> None:
    """Before Berth has built there, and after."""
    fake = fit()
    assert not wrong(fake)
    build(fake)
    assert not wrong(fake)
    assert found(fake)["gpu of pool gpu"].found == "8 on each of 2 nodes, as described"


def node(fake: FakeApi, name: str = "n1") -> dict[str, Any]:
    """Return a node, to be changed."""
    return next(each for each in fake.lists[NODES] if each["metadata"]["name"] == name)


def _old(fake: FakeApi) -> None:
    fake.documents["/version"] = {"gitVersion": "v1.33.9"}


def _new(fake: FakeApi) -> None:
    fake.documents["/version"] = {"gitVersion": "v1.99.0"}


def _unready(fake: FakeApi) -> None:
    fake.refused["/readyz"] = 500


def _without_claims(fake: FakeApi) -> None:
    del fake.documents[DRA]
    for path in (SLICES, CLASSES):
        del fake.lists[path]


def _gate_off(fake: FakeApi) -> None:
    def dropped(sent: dict[str, Any]) -> dict[str, Any]:
        del sent["spec"]["template"]["spec"]["resourceClaims"]
        return sent

    fake.admitted = dropped


def _no_deployments(fake: FakeApi) -> None:
    fake.refused["/apis/apps/v1/namespaces/default/deployments"] = 403


def _no_dry_run(fake: FakeApi) -> None:
    fake.refused["/apis/apps/v1/namespaces/default/deployments"] = 400


def _full_quota(fake: FakeApi) -> None:
    _no_deployments(fake)
    said = 'deployments.apps "berth-preflight" is forbidden: exceeded quota: few'
    fake.says["/apis/apps/v1/namespaces/default/deployments"] = said


def _webhook(fake: FakeApi) -> None:
    _no_deployments(fake)
    said = 'admission webhook "images.example.com" denied the request: unknown image'
    fake.says["/apis/apps/v1/namespaces/default/deployments"] = said


def _unlabelled(fake: FakeApi) -> None:
    del node(fake)["metadata"]["labels"][Label.POOL.value]


def _one_more(fake: FakeApi) -> None:
    fake.join("n3", H100)


def _untainted(fake: FakeApi) -> None:
    node(fake)["spec"]["taints"] = []


def _tainted(fake: FakeApi) -> None:
    node(fake)["spec"]["taints"].append({"key": "team", "value": "a", "effect": "NoSchedule"})


def _cordoned(fake: FakeApi) -> None:
    node(fake)["spec"]["unschedulable"] = True


def _dead(fake: FakeApi) -> None:
    node(fake)["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "NetworkNotReady"}]


def _early_kubelet(fake: FakeApi) -> None:
    node(fake)["status"]["nodeInfo"]["kubeletVersion"] = "v1.34.1-eks-1"


def _old_kubelet(fake: FakeApi) -> None:
    node(fake)["status"]["nodeInfo"]["kubeletVersion"] = "v1.33.1"


def _unsaid_kubelet(fake: FakeApi) -> None:
    node(fake)["status"]["nodeInfo"]["kubeletVersion"] = ""


def _plugin(fake: FakeApi) -> None:
    node(fake)["status"]["allocatable"]["nvidia.com/gpu"] = "8"


def _no_system_node(fake: FakeApi) -> None:
    fake.lists[NODES].remove(node(fake, "system"))


def _fewer(fake: FakeApi) -> None:
    del fake.devices("n1")[0]


def _other(fake: FakeApi) -> None:
    for each in fake.devices("n2"):
        each["capacity"]["memory"]["value"] = "80Gi"


def _unpublished(fake: FakeApi) -> None:
    for each in fake.devices("n2"):
        del each["attributes"]["productName"]


def _no_gpus(fake: FakeApi) -> None:
    fake.lists[SLICES] = [each for each in fake.lists[SLICES] if each["spec"]["driver"] != "gpu.nvidia.com"]


def _no_efa(fake: FakeApi) -> None:
    fake.lists[SLICES] = [each for each in fake.lists[SLICES] if each["spec"]["driver"] != "dra.net"]


def _no_efa_class(fake: FakeApi) -> None:
    fake.lists[CLASSES] = [each for each in fake.lists[CLASSES] if "efa" not in each["metadata"]["name"]]


def _no_storage(fake: FakeApi) -> None:
    fake.lists[STORAGE] = fake.lists[STORAGE][1:]


def _disks(fake: FakeApi) -> None:
    fake.lists[STORAGE] = [storage("shared", "ebs.csi.aws.com")]


def _unknown_storage(fake: FakeApi) -> None:
    fake.lists[STORAGE] = [storage("shared", "csi.example.com")]


def _other_owner(fake: FakeApi) -> None:
    build(fake, environment="prod")
    fake.lists[DEFINITIONS] = []


def _gateways_there(fake: FakeApi) -> None:
    fake.lists[DEFINITIONS] = [definition("gateway.networking.k8s.io")] * 2


def _no_rights(fake: FakeApi) -> None:
    fake.denied = {("create", "", "secrets"), ("escalate", "rbac.authorization.k8s.io", "clusterroles")}


def _no_nodes(fake: FakeApi) -> None:
    fake.refused[NODES] = 403


CASES = [
    ("version", _old, Status.PROBLEM, "v1.33.9", "1.34 or newer"),
    ("version", _new, Status.WARNING, "v1.99.0", "choose another release"),
    ("api server", _unready, Status.PROBLEM, "not ready", "/readyz?verbose"),
    ("device claims", _without_claims, Status.PROBLEM, "resource.k8s.io/v1 is not served", "--runtime-config="),
    ("device claims", _gate_off, Status.PROBLEM, "pods lose their claims", "DynamicResourceAllocation=false out of"),
    (
        "device claims",
        _no_deployments,
        Status.WARNING,
        "cannot be asked: does not allow to create deployments.apps",
        "--verb=create --resource=deployments.apps",
    ),
    ("device claims", _no_dry_run, Status.WARNING, "with 400: refused", "look for the gate"),
    ("device claims", _full_quota, Status.WARNING, "exceeded quota: few", "look for the gate"),
    ("device claims", _webhook, Status.WARNING, "denied the request: unknown image", "look for the gate"),
    ("nodes of pool gpu", _unlabelled, Status.PROBLEM, "1 node with", "kubectl label node n1 modelplane.ai/pool=gpu"),
    ("nodes of pool gpu", _one_more, Status.WARNING, "3 nodes with", "modelplane.ai/pool-"),
    ("taints of pool gpu", _untainted, Status.PROBLEM, "none on n1", "kubectl taint node n1 nvidia.com/gpu=true:NoSch"),
    ("taints of pool gpu", _tainted, Status.PROBLEM, "n1 has team=a:", "kubectl taint node n1 team=a:NoSchedule-"),
    ("condition of pool gpu", _cordoned, Status.WARNING, "cordoned: n1", "kubectl uncordon n1"),
    ("condition of pool gpu", _dead, Status.PROBLEM, "n1 (NetworkNotReady)", "kubectl describe node n1"),
    ("kubelets", _old_kubelet, Status.PROBLEM, "v1.33.1 on n1", "n1 first"),
    ("kubelets", _early_kubelet, Status.PROBLEM, "v1.34.1-eks-1 on n1", "n1 first"),
    ("kubelets", _unsaid_kubelet, Status.WARNING, "not said by n1", "kubectl get node n1"),
    ("owner of the GPUs of pool gpu", _plugin, Status.PROBLEM, "on n1: two owners", "devicePlugin.enabled=false"),
    ("nodes for controllers", _no_system_node, Status.PROBLEM, "none", "add nodes without GPUs"),
    ("gpu of pool gpu", _fewer, Status.PROBLEM, "7 on n1", "or set count: 7 for gpu of InferenceClass h100"),
    (
        "gpu of pool gpu",
        _other,
        Status.PROBLEM,
        "on n2, memory is 80Gi, the class says 81559Mi",
        "write memory as 80Gi",
    ),
    ("gpu of pool gpu", _unpublished, Status.PROBLEM, "productName is not published", "take productName out"),
    ("gpu of pool gpu", _no_gpus, Status.WARNING, "publishes none on 2 nodes", "berth up -e dev installs nvidia-dra"),
    ("efa of pool gpu", _no_efa, Status.PROBLEM, "dra.net publishes none", "install the DRA driver dra.net"),
    ("device class efa.networking.k8s.aws", _no_efa_class, Status.PROBLEM, "not there", "install the DRA driver"),
    ("storage class", _no_storage, Status.PROBLEM, "there is no shared", "it has: gp3"),
    ("storage class", _disks, Status.PROBLEM, "volumes of Amazon EBS, which one node mounts", "many nodes mount"),
    ("storage class", _unknown_storage, Status.WARNING, "csi.example.com", "ReadWriteMany once"),
    ("owner", _other_owner, Status.PROBLEM, "environment prod", "take the cluster out of there"),
    (
        "definitions of gateway.networking.k8s.io",
        _gateways_there,
        Status.WARNING,
        "2 there already",
        "kubectl get crds",
    ),
    ("permissions", _no_rights, Status.PROBLEM, "create secrets, escalate clusterroles", "--user=me"),
    ("nodes", _no_nodes, Status.PROBLEM, "does not allow to list nodes", "--verb=list --resource=nodes"),
]


@pytest.mark.parametrize(
    ("name", "take_away", "status", "message", "fix"),
    [pytest.param(*case, id=case[1].__name__.strip("_")) for case in CASES],
)
def test_each_requirement_that_is_missing_is_found_alone(
    name: str, take_away: Callable[[FakeApi], None], status: Status, message: str, fix: str
) -> None:
    """One finding, with what is there and what to do, and nothing else that is not in order."""
    fake = fit()
    take_away(fake)
    missing = wrong(fake)
    assert list(missing) == [name]
    assert missing[name].status is status
    assert message in missing[name].found
    assert fix in missing[name].fix


@pytest.mark.parametrize(
    ("written", "seen", "older"),
    [
        ("1.35", "v1.34.4", True),
        ("v1.35.2", "v1.34.4", True),
        ("1.35", "v1.35.0-eks-1", False),
        ("v1.35.2", "v1.35.0", False),
        ("1.34", "v1.35.1", False),
    ],
)
def test_a_manifest_that_says_a_newer_minor_is_found_out(written: str, seen: str, *, older: bool) -> None:
    """Selectors are judged by what it says; that it says an older one refuses some, and harms nothing."""
    fake = fit()
    fake.documents["/version"] = {"gitVersion": seen}
    missing = wrong(fake, town(source={"cache": {"storageClassName": "shared"}, "kubernetesVersion": written}))
    assert list(missing) == (["version"] if older else [])
    if older:
        assert (missing["version"].found, missing["version"].want) == (seen, f"{written}, as the manifest says")
        assert f'write kubernetesVersion: "{seen}"' in missing["version"].fix


@pytest.mark.parametrize(
    ("written", "seen", "status", "fix"),
    [
        ("1.36", "v1.36.3", Status.OK, ""),
        ("1.36", "v1.34.4", Status.WARNING, "berth up -e dev upgrades it, or says what is in the way"),
        ("1.34", "v1.35.1", Status.PROBLEM, 'write kubernetesVersion: "1.35"'),
        ("1.34", "unreadable", Status.OK, ""),
    ],
)
def test_a_cluster_that_berth_makes_is_compared_with_its_manifest_too(
    written: str, seen: str, status: Status, fix: str
) -> None:
    """It is what selectors are judged by, whoever made the cluster; Berth upgrades one and never takes one back."""
    fake = fit()
    fake.documents["/version"] = {"gitVersion": seen}
    made = fleet(eks("edge", source={"kubernetesVersion": written}), classes=[hardware(devices=(GPU, EFA))])
    check = found(fake, made)["version"]
    assert (check.status, check.found) == (status, seen)
    assert fix in check.fix
    if fix:
        assert check.want == f"{written}, as the manifest says"


def test_what_berth_installs_is_missed_only_after_it_has_built() -> None:
    """Before, the driver's class and devices cannot be there; after, they are a problem like any other."""
    fake = fit()
    _no_gpus(fake)
    fake.lists[CLASSES] = [each for each in fake.lists[CLASSES] if "efa" in each["metadata"]["name"]]
    assert list(wrong(fake)) == ["gpu of pool gpu"]
    build(fake)
    fake.lists[DEFINITIONS] = fake.lists[DEFINITIONS][1:]
    missing = wrong(fake)
    assert {name: each.status for name, each in missing.items()} == {
        "definitions of cert-manager.io": Status.PROBLEM,
        "device class gpu.nvidia.com": Status.PROBLEM,
        "gpu of pool gpu": Status.PROBLEM,
    }
    assert missing["device class gpu.nvidia.com"].fix == "berth up -e dev installs nvidia-dra-driver"


def test_definitions_that_stand_ins_of_charts_leave_out_are_not_missed() -> None:
    """In a backed run: those that they bring are."""
    fake = fit()
    build(fake)
    played = Wanted.of(town(), "edge").brought(groups())
    fake.lists[DEFINITIONS] = [definition(group) for group in played.groups]
    assert {"cert-manager.io"} < set(Wanted.of(town(), "edge").groups) - set(played.groups)
    with fake.api() as api:
        assert all(each.status is Status.OK for each in preflight(api, played))
        assert "gateway.networking.k8s.io" in played.groups
        fake.lists[DEFINITIONS].pop()
        (missing,) = (each for each in preflight(api, played) if each.status is not Status.OK)
    assert missing.found == "gone"


def test_a_class_without_storage_matters_where_a_cache_wants_it() -> None:
    """The manifest line to write names a class that is there and shared."""
    unnamed: dict[str, Any] = {"kubernetesVersion": "1.34"}
    check = wrong(fit(), town(source=unnamed))["storage class"]
    assert (check.status, check.found) == (Status.WARNING, "none, so nothing is staged here: ml/qwen")
    assert "cache: {storageClassName: shared}" in check.fix
    assert not wrong(fit(), town(source=unnamed, cached=False))


def test_a_front_door_without_pools_needs_no_claims_and_no_drivers() -> None:
    """It serves no model: neither the API of claims nor the charts of pools are asked for."""
    fake = fit()
    _without_claims(fake)
    made = fleet(existing(source={"kubernetesVersion": "1.34"}))
    assert {name: each.status for name, each in wrong(fake, made).items()} == {"device claims": Status.WARNING}
    assert "definitions of leaderworkerset.x-k8s.io" not in found(fake, made)


def test_a_service_account_is_bound_by_its_own_option() -> None:
    """Whoever asks is named as `kubectl create clusterrolebinding` takes it."""
    fake = fit()
    fake.user = "system:serviceaccount:ci:berth"
    _no_rights(fake)
    assert wrong(fake)["permissions"].fix.endswith("--serviceaccount=ci:berth")


@pytest.mark.parametrize("status", [401, 0])
def test_a_server_that_does_not_answer_ends_it(status: int) -> None:
    """Every further question would get the same answer."""
    fake = fit()

    def fail(request: httpx.Request) -> None:
        if request.url.path == NODES and not status:
            raise httpx.ReadTimeout("", request=request)

    fake.before = fail
    fake.refused = {NODES: status} if status else {}
    with fake.api() as api, pytest.raises(NoAnswer) as ended:
        preflight(api, Wanted.of(town(), "edge"))
    assert ended.value.silent is not bool(status)
    assert fake.asked[-1] == f"GET {NODES}"
    assert f"POST {REVIEW}" not in fake.asked


def test_no_pod_is_read() -> None:
    """A preflight asks for no more than it uses."""
    fake = fit()
    found(fake)
    assert f"GET {PODS}" not in fake.asked
