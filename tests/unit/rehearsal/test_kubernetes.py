"""Simulated clusters through the provider protocol: the real provider and an API server, as far as Berth needs them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from automation.rehearsal.cloud import SimulatedCloud
from automation.rehearsal.wire import UNKNOWN, Secret
from tests.support.simulated import Provider, Refusal, kubeconfig

CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
CONFIG = "kubernetes:core/v1:ConfigMap"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"
GATEWAY_CLASS = "kubernetes:gateway.networking.k8s.io/v1:GatewayClass"
JOB = "kubernetes:batch/v1:Job"
NAMESPACE = "kubernetes:core/v1:Namespace"
RELEASE = "kubernetes:helm.sh/v3:Release"
SECRET = "kubernetes:core/v1:Secret"
SERVICE = "kubernetes:core/v1:Service"
SLICE = "kubernetes:discovery.k8s.io/v1:EndpointSlice"
TEMPLATE = "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate"


def named(name: str, namespace: str = "default", **rest: Any) -> dict[str, Any]:
    """Write an object's inputs."""
    return {"metadata": {"name": name, "namespace": namespace}, **rest}


def workload(name: str = "w", *, image: str = "i:1", pod: dict[str, Any] | None = None) -> dict[str, Any]:
    """Write a deployment's inputs."""
    spec = {"containers": [{"name": "c", "image": image}], **(pod or {})}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    return named(name, spec={"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template})


def gateway(class_name: str = "envoy") -> dict[str, Any]:
    """Write a gateway's inputs."""
    return named(
        "gw",
        apiVersion="gateway.networking.k8s.io/v1",
        kind="Gateway",
        spec={"gatewayClassName": class_name, "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]},
    )


# -- settings ----------------------------------------------------------------------------------------------------------

ONE, TWO = kubeconfig("https://one.test"), kubeconfig("https://two.test")
SETTINGS = {
    "nothing": ({"kubeconfig": ONE}, {"kubeconfig": ONE}, ()),
    "text": ({"kubeconfig": ONE}, {"kubeconfig": ONE + "\n"}, ("kubeconfig",)),
    "unknown": ({"kubeconfig": ONE}, {"kubeconfig": UNKNOWN}, ("kubeconfig",)),
    "ambient to given": ({}, {"kubeconfig": ONE}, ()),
    "identified text": (
        {"kubeconfig": ONE, "clusterIdentifier": "a"},
        {"kubeconfig": TWO, "clusterIdentifier": "a"},
        (),
    ),
    "identified unknown": (
        {"kubeconfig": ONE, "clusterIdentifier": "a"},
        {"kubeconfig": UNKNOWN, "clusterIdentifier": "a"},
        (),
    ),
    "identifier added": ({"kubeconfig": ONE}, {"kubeconfig": ONE, "clusterIdentifier": "a"}, ()),
    "identifier removed": ({"kubeconfig": ONE, "clusterIdentifier": "a"}, {"kubeconfig": ONE}, ()),
    "identifier changed": (
        {"kubeconfig": ONE, "clusterIdentifier": "a"},
        {"kubeconfig": TWO, "clusterIdentifier": "b"},
        ("clusterIdentifier", "kubeconfig"),
    ),
    "a flag": ({"kubeconfig": ONE}, {"kubeconfig": ONE, "deleteUnreachable": "true"}, ()),
    "a secret": ({"kubeconfig": ONE}, {"kubeconfig": Secret(ONE)}, ()),
}


@pytest.mark.parametrize(("olds", "news", "replaces"), SETTINGS.values(), ids=SETTINGS)
def test_the_identifier_decides_whether_a_provider_is_replaced(
    olds: dict[str, Any], news: dict[str, Any], replaces: tuple[str, ...], kubernetes: Callable[..., Provider]
) -> None:
    """With an unchanged identifier a kubeconfig may change or be unknown; without one that means another cluster."""
    assert kubernetes("https://one.test").diff_config(olds, news).replaces == replaces


UNREADABLE = {
    "nothing": ("", "no configuration has been provided"),
    "not YAML": ("a: [\n", "yaml:"),
    "a list": ("- a\n", "not a mapping"),
    "no context": ("{}", "no current-context"),
    "no server": (json.dumps({"current-context": "a", "contexts": []}), "no server for context 'a'"),
    "no file": ("/nowhere/kubeconfig", "cannot be read"),
}


@pytest.mark.parametrize(("text", "says"), UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_kubeconfig_makes_the_cluster_unreachable(
    text: str, says: str, kubernetes: Callable[..., Provider]
) -> None:
    """The provider is configured all the same; what needs the cluster fails, with the reason, and previews pass."""
    provider = kubernetes(kubeconfig=text)
    assert provider.preview(CONFIG, "c", named("c"))["metadata"]["name"] == "c"
    with pytest.raises(Refusal, match="configured Kubernetes cluster is unreachable: failed to parse") as caught:
        provider.create(CONFIG, "c", named("c"))
    assert says in str(caught.value)


@pytest.mark.parametrize("form", ["json", "yaml", "file"])
def test_kubeconfigs_are_text_or_a_file(
    form: str, kubernetes: Callable[..., Provider], cloud: SimulatedCloud, tmp_path: Path
) -> None:
    """JSON, YAML and the path of a file mean the same cluster."""
    text = kubeconfig("https://edge.test:6443")
    if form == "yaml":
        text = "# a comment\n" + text.replace("}]", "}\n]")
    if form == "file":
        (tmp_path / "kc").write_text(text)
        text = str(tmp_path / "kc")
    kubernetes(kubeconfig=text).create(CONFIG, "c", named("c"))
    assert [item.scope for item in cloud.resources()] == ["https://edge.test:6443"]


# -- objects -----------------------------------------------------------------------------------------------------------


def test_a_kubeconfig_file_that_is_not_text_is_said_to_be_so(
    kubernetes: Callable[..., Provider], tmp_path: Path
) -> None:
    """A file in another encoding, or any other file, is no kubeconfig."""
    (tmp_path / "kc").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Refusal, match="is not UTF-8"):
        kubernetes(kubeconfig=str(tmp_path / "kc")).create(CONFIG, "c", named("c"))


def test_updates_with_unknown_values_are_previewed_as_they_are(existing: Provider) -> None:
    """What is not known yet is not asked of the server."""
    id_, outputs = existing.create(CONFIG, "c", named("c"))
    news = named("c", data={"a": UNKNOWN})
    assert existing.update(CONFIG, "c", id_, olds=outputs, news=news, preview=True)["data"] == {"a": UNKNOWN}


def test_previews_leave_the_status_unknown(existing: Provider, cloud: SimulatedCloud) -> None:
    """Inputs are known; what the cluster will say is not; nothing is created."""
    before = cloud.dump()
    outputs = existing.preview(DEPLOYMENT, "w", workload())
    assert outputs["spec"]["replicas"] == 2
    assert outputs["status"] is UNKNOWN
    assert cloud.dump() == before


def test_objects_get_what_a_server_adds(existing: Provider) -> None:
    """The id is the real provider's; the uid says that the object is simulated."""
    id_, outputs = existing.create(DEPLOYMENT, "w", workload())
    assert id_ == "default/w"
    assert outputs["metadata"]["uid"].startswith("sim-")
    assert outputs["status"]["availableReplicas"] == 2
    assert outputs["status"]["conditions"][0] == {
        "type": "Available",
        "status": "True",
        "reason": "MinimumReplicasAvailable",
    }
    id_, outputs = existing.create(NAMESPACE, "n", {"metadata": {"name": "ml"}})
    assert (id_, outputs["status"]["phase"]) == ("ml", "Active")


STATUS = {
    "claim": (
        CLAIM,
        {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "5Gi"}}},
        "phase",
        "Bound",
    ),
    "job": (
        JOB,
        {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}},
        "succeeded",
        1,
    ),
    "service": (SERVICE, {"ports": [{"port": 80}]}, "loadBalancer", {}),
}


@pytest.mark.parametrize(("type_", "spec", "key", "want"), STATUS.values(), ids=STATUS)
def test_objects_become_ready(type_: str, spec: dict[str, Any], key: str, want: Any, existing: Provider) -> None:
    """Claims are bound, jobs complete, services have their status."""
    assert existing.create(type_, "x", named("x", spec=spec))[1]["status"][key] == want


def test_addresses_outside_clouds_are_documentation_addresses(existing: Provider, eks: Provider) -> None:
    """A gateway gets an address of the reserved range elsewhere, and a marked host name in a cloud."""
    eks.create(RELEASE, "r", {"name": "r", "namespace": "default", "chart": "oci://mirror.test/charts/gateway-helm"})
    address = eks.create(GATEWAY, "gw", gateway())[1]["status"]["addresses"][0]
    assert address["type"] == "Hostname"
    assert address["value"].startswith("sim-")
    address = existing.create(GATEWAY, "gw", gateway())[1]["status"]["addresses"][0]
    assert address["type"] == "IPAddress"
    assert address["value"].startswith("203.0.113.")


def test_names_are_made_up_as_the_real_provider_does(existing: Provider) -> None:
    """Without a name there is one with eight characters and an annotation that says so; it is kept."""
    first, failures = existing.check(CONFIG, "settings", {"data": {}}, seed=b"1")
    assert failures == []
    assert first["metadata"]["name"].startswith("settings-")
    assert len(first["metadata"]["name"]) == len("settings-") + 8
    assert first["metadata"]["annotations"] == {"pulumi.com/autonamed": "true"}
    again, _ = existing.check(CONFIG, "settings", {"data": {}}, olds=first, seed=b"2")
    assert again["metadata"] == first["metadata"]
    release, _ = existing.check(RELEASE, "cert", {"chart": "cert-manager"})
    assert release["name"].startswith("cert-")
    assert release["namespace"] == "default"


def test_generated_names_are_the_servers(existing: Provider) -> None:
    """A prefix is completed at creation."""
    id_, outputs = existing.create(CONFIG, "c", {"metadata": {"generateName": "c-"}})
    assert id_ == f"default/{outputs['metadata']['name']}"
    assert len(outputs["metadata"]["name"]) == len("c-") + 5


def test_the_providers_namespace_is_the_default(kubernetes: Callable[..., Provider]) -> None:
    """An object without a namespace takes the provider's."""
    inputs, _ = kubernetes(kubeconfig=ONE, namespace="ml").check(CONFIG, "c", {"metadata": {"name": "c"}})
    assert inputs["metadata"]["namespace"] == "ml"


class Edit(NamedTuple):
    """An edit of an object and what it means."""

    type: str
    old: dict[str, Any]
    new: dict[str, Any]
    replaces: tuple[str, ...]
    delete_first: bool = False


AUTO = {"metadata": {"name": "c", "annotations": {"pulumi.com/autonamed": "true"}}}
EDITS = {
    "name": Edit(CONFIG, named("a"), named("b"), ("metadata.name",)),
    "namespace": Edit(CONFIG, named("a"), named("a", "ml"), ("metadata.namespace",)),
    "labels": Edit(CONFIG, named("a"), {"metadata": {"name": "a", "namespace": "default", "labels": {"x": "y"}}}, ()),
    "config data": Edit(
        CONFIG, named("a", data={"x": "1"}), named("a", data={"x": "2"}), ("data.x",), delete_first=True
    ),
    "autonamed data": Edit(CONFIG, {**AUTO, "data": {"x": "1"}}, {**AUTO, "data": {"x": "2"}}, ("data.x",)),
    "secret data": Edit(
        SECRET,
        named("a", stringData={"x": "1"}),
        named("a", stringData={"x": "2"}),
        ("data.x",),
        delete_first=True,
    ),
    "selector": Edit(
        DEPLOYMENT,
        workload(),
        {**workload(), "spec": {**workload()["spec"], "selector": {"matchLabels": {"a": "c"}}}},
        ("spec.selector.matchLabels.a",),
        delete_first=True,
    ),
    "image": Edit(DEPLOYMENT, workload(), workload(image="i:2"), ()),
    "job template": Edit(
        JOB,
        named("j", spec={"template": {"spec": {"a": 1}}}),
        named("j", spec={"template": {"spec": {"a": 2}}}),
        ("spec.template.spec.a",),
        delete_first=True,
    ),
    "claim size": Edit(
        CLAIM,
        named("p", spec={"resources": {"requests": {"storage": "1Gi"}}}),
        named("p", spec={"resources": {"requests": {"storage": "2Gi"}}}),
        ("spec.resources.requests.storage",),
        delete_first=True,
    ),
    "class parameters": Edit(
        CLASS,
        {"metadata": {"name": "s"}, "parameters": {"a": "b"}},
        {"metadata": {"name": "s"}, "parameters": {"a": "c"}},
        ("parameters.a",),
        delete_first=True,
    ),
    "cluster IP": Edit(
        SERVICE, named("s", spec={"clusterIP": "None"}), named("s", spec={}), ("spec.clusterIP",), delete_first=True
    ),
    "claim template": Edit(TEMPLATE, named("t", spec={"a": 1}), named("t", spec={"a": 2}), ()),
    "release values": Edit(RELEASE, {"name": "r", "values": {"a": 1}}, {"name": "r", "values": {"a": 2}}, ()),
    "release name": Edit(RELEASE, {"name": "r"}, {"name": "s"}, ("name",)),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_edits_mean_what_the_real_provider_makes_of_them(edit: Edit, existing: Provider) -> None:
    """What forces a replacement does; the old object goes first when the new one must have its name."""
    change = existing.diff(edit.type, "x", edit.old, edit.new)
    assert change.paths != ()
    assert (change.replaces, change.delete_first) == (edit.replaces, edit.delete_first)


def test_mutable_config_maps_are_an_option(kubernetes: Callable[..., Provider]) -> None:
    """With the provider's switch the data changes in place, unless the object says that it is immutable."""
    provider = kubernetes(kubeconfig=ONE, enableConfigMapMutable="true")
    old, new = named("a", data={"x": "1"}), named("a", data={"x": "2"})
    assert provider.diff(CONFIG, "a", old, new).replaces == ()
    assert provider.diff(CONFIG, "a", {**old, "immutable": True}, {**new, "immutable": True}).replaces == ("data.x",)


IMMUTABLE = {
    "claim template": (
        TEMPLATE,
        named("t", spec={"spec": {"devices": {"requests": []}}}),
        named("t", spec={"spec": {"devices": {"requests": [{"name": "x"}]}}}),
    ),
    "slice": (SLICE, named("s", addressType="IPv4", endpoints=[]), named("s", addressType="FQDN", endpoints=[])),
    "class": (
        CLASS,
        {"metadata": {"name": "s"}, "provisioner": "p", "reclaimPolicy": "Delete"},
        {"metadata": {"name": "s"}, "provisioner": "p", "reclaimPolicy": "Retain"},
    ),
}


@pytest.mark.parametrize(("type_", "old", "new"), IMMUTABLE.values(), ids=IMMUTABLE)
@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
def test_what_the_server_does_not_change_is_refused(
    type_: str,
    old: dict[str, Any],
    new: dict[str, Any],
    preview: bool,
    existing: Provider,
) -> None:
    """The real provider updates these in place and the API server says no, already in a dry run."""
    id_, outputs = existing.create(type_, "x", old)
    with pytest.raises(Refusal, match="field is immutable"):
        existing.update(type_, "x", id_, olds=outputs, news=new, preview=preview)
    assert existing.update(
        type_, "x", id_, olds=outputs, news={**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    )


INVALID = {
    "selector": ({"selector": {"matchLabels": {"a": "c"}}}, "does not match template"),
    "empty selector": ({"selector": {}}, "empty selector"),
    "mount": (
        {
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "volumeMounts": [{"name": "v"}]}]},
            }
        },
        "volumeMounts[0].name: Not found",
    ),
    "device claim": (
        {
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "resources": {"claims": [{"name": "gpu"}]}}]},
            }
        },
        "claims[0].name: Not found",
    ),
    "container twice": (
        {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}, {"name": "c"}]}}},
        "containers[1].name: Duplicate",
    ),
    "volume twice": (
        {
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"volumes": [{"name": "v"}, {"name": "v"}], "containers": [{"name": "c"}]},
            }
        },
        "volumes[1].name: Duplicate",
    ),
    "no container": (
        {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}},
        "containers: Required",
    ),
}


@pytest.mark.parametrize(("change", "says"), INVALID.values(), ids=INVALID)
def test_invalid_workloads_are_refused(change: dict[str, Any], says: str, existing: Provider) -> None:
    """The API server's validation speaks in previews and at creation."""
    inputs = {**workload(), "spec": {**workload()["spec"], **change}}
    for preview in (True, False):
        with pytest.raises(Refusal) as caught:
            existing.create(DEPLOYMENT, "w", inputs, preview=preview)
        assert says in str(caught.value)


def test_jobs_need_a_restart_policy(existing: Provider) -> None:
    """Always, the default of pods, is not allowed in jobs."""
    with pytest.raises(Refusal, match="restartPolicy: Required value"):
        existing.create(JOB, "j", named("j", spec={"template": {"spec": {"containers": [{"name": "c"}]}}}))


def test_names_are_taken_once_per_kind_and_namespace(existing: Provider) -> None:
    """Two versions of a kind are the same objects; another namespace or kind is another place."""
    existing.create(CONFIG, "a", named("x"))
    existing.create(SECRET, "b", named("x"))
    existing.create(CONFIG, "c", named("x", "other"))
    with pytest.raises(Refusal, match='configmaps "x" already exists'):
        existing.create("kubernetes:v1:ConfigMap", "d", named("x", apiVersion="v1", kind="ConfigMap"))
    existing.create(RELEASE, "r", {"name": "r", "namespace": "default", "chart": "c"})
    with pytest.raises(Refusal, match="cannot re-use a name that is still in use"):
        existing.create(RELEASE, "r2", {"name": "r", "namespace": "default", "chart": "c"})
