"""What lives on simulated clusters: namespaces, load balancers, disks, secrets, clusters that do not answer."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from automation.rehearsal.cloud import Known, SimulatedCloud
from automation.rehearsal.scenario import Failure, Fault, Scenario
from automation.rehearsal.wire import Secret, plain
from tests.support.simulated import CLUSTER, SUBNET, VPC, Provider, Refusal

BALANCER = "aws:lb/loadBalancer:LoadBalancer"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
CONFIG = "kubernetes:core/v1:ConfigMap"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
DISK = "aws:ebs/volume:Volume"
GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"
GATEWAY_CLASS = "kubernetes:gateway.networking.k8s.io/v1:GatewayClass"
NAMESPACE = "kubernetes:core/v1:Namespace"
RELEASE = "kubernetes:helm.sh/v3:Release"
SECRET = "kubernetes:core/v1:Secret"
SERVICE = "kubernetes:core/v1:Service"
TOKEN = "hf_sample-token-4711"
ENVOY = {"name": "envoy", "namespace": "default", "chart": "gateway-helm"}
GATEWAY_INPUTS = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "Gateway",
    "metadata": {"name": "gw", "namespace": "default"},
    "spec": {"gatewayClassName": "envoy", "listeners": []},
}


def named(name: str, namespace: str = "default", **rest: Any) -> dict[str, Any]:
    """Write an object's inputs."""
    return {"metadata": {"name": name, "namespace": namespace}, **rest}


def workload(name: str = "w", *, pod: dict[str, Any] | None = None, image: str = "i:1") -> dict[str, Any]:
    """Write a deployment's inputs."""
    spec = {"containers": [{"name": "c", "image": image}], **(pod or {})}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    return named(name, spec={"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template})


# -- namespaces --------------------------------------------------------------------------------------------------------


def test_objects_need_their_namespace(eks: Provider) -> None:
    """On a cluster made in the simulation a namespace must exist before what is in it."""
    with pytest.raises(Refusal, match='namespaces "ml" not found'):
        eks.create(CONFIG, "c", named("c", "ml"))
    eks.create(NAMESPACE, "ml", {"metadata": {"name": "ml"}})
    assert eks.create(CONFIG, "c", named("c", "ml"))[0] == "ml/c"


def test_an_existing_cluster_may_have_any_namespace(existing: Provider) -> None:
    """What a cluster held before is not known, so nothing is demanded."""
    assert existing.create(CONFIG, "c", named("c", "ml"))[0] == "ml/c"


def test_a_release_may_make_its_namespace_and_leaves_it(eks: Provider, cloud: SimulatedCloud) -> None:
    """Helm creates a namespace when told to, and does not delete it with the release."""
    release = {"name": "r", "namespace": "tools", "chart": "c"}
    with pytest.raises(Refusal, match='namespaces "tools" not found'):
        eks.create(RELEASE, "r", release)
    id_, _ = eks.create(RELEASE, "r", {**release, "createNamespace": True})
    kept = [Known(item.type, item.id) for item in cloud.resources() if item.id != "tools"]
    assert cloud.orphans(kept) == ()
    eks.delete(RELEASE, "r", id_)
    left = cloud.resources(package="kubernetes")
    assert [(item.type, item.id, bool(item.made_for)) for item in left] == [(NAMESPACE, "tools", True)]
    assert [item.id for item in cloud.orphans(kept)] == ["tools"]


def test_a_namespace_takes_everything_in_it_along(eks: Provider, cloud: SimulatedCloud) -> None:
    """Objects of the namespace vanish with it, others stay, and what vanished may be deleted again."""
    eks.create(NAMESPACE, "ml", {"metadata": {"name": "ml"}})
    gone, _ = eks.create(CONFIG, "c", named("c", "ml"))
    eks.create(CONFIG, "d", named("d"))
    eks.delete(NAMESPACE, "ml", "ml")
    assert [item.id for item in cloud.resources(package="kubernetes")] == ["default/d"]
    assert eks.read(CONFIG, "c", gone) is None
    eks.delete(CONFIG, "c", gone)


# -- what controllers make in the cloud --------------------------------------------------------------------------------


def test_a_load_balancer_blocks_its_network(eks: Provider, aws: Provider, cloud: SimulatedCloud) -> None:
    """A Service of that type holds subnets and VPC until it is deleted by the API server that knows it."""
    service, outputs = eks.create(SERVICE, "s", named("s", spec={"type": "LoadBalancer", "ports": [{"port": 80}]}))
    subnet, vpc = cloud.resources(type=SUBNET)[0].id, cloud.resources(type=VPC)[0].id
    assert cloud.resources(type=BALANCER)[0].outputs["vpcId"] == vpc
    for type_, id_ in ((SUBNET, subnet), (VPC, vpc)):
        with pytest.raises(Refusal, match="DependencyViolation"):
            aws.delete(type_, "x", id_)
    eks.delete(SERVICE, "s", service, outputs=outputs)
    assert cloud.resources(type=BALANCER) == ()


def test_a_load_balancer_lies_in_the_subnets_that_are_meant_for_it(
    eks: Provider, aws: Provider, cloud: SimulatedCloud
) -> None:
    """Those of the cluster with the role's tag, so that the others can go before it; without a tag all of them."""
    first, second = (each.id for each in cloud.resources(type=SUBNET))
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    eks.create(SERVICE, "before", named("before", spec=spec))
    cloud.edit(SUBNET, second, {"tagsAll": {"kubernetes.io/role/elb": "1"}})
    eks.create(SERVICE, "after", named("after", spec=spec))
    assert [each.outputs["subnets"] for each in cloud.resources(type=BALANCER)] == [[first, second], [second]]


def test_a_load_balancer_outlives_a_cluster_that_is_deleted_first(
    eks: Provider, aws: Provider, cloud: SimulatedCloud
) -> None:
    """With its controller gone nobody removes it: it is an orphan, and the network cannot be deleted."""
    eks.create(SERVICE, "s", named("s", spec={"type": "LoadBalancer", "ports": [{"port": 80}]}))
    aws.delete(CLUSTER, "east", "sim-east")
    assert cloud.resources(package="kubernetes") == ()
    assert [item.type for item in cloud.orphans(()) if item.made_for] == [BALANCER]
    with pytest.raises(Refusal, match="load balancer k8s-"):
        aws.delete(SUBNET, "x", cloud.resources(type=SUBNET)[0].id)


def test_a_service_that_becomes_internal_gives_its_load_balancer_back(eks: Provider, cloud: SimulatedCloud) -> None:
    """Controllers follow updates, in both directions."""
    kinds = {kind: named("s", spec={"type": kind, "ports": [{"port": 80}]}) for kind in ("LoadBalancer", "ClusterIP")}
    id_, outputs = eks.create(SERVICE, "s", kinds["ClusterIP"])
    assert cloud.resources(type=BALANCER) == ()
    outputs = eks.update(SERVICE, "s", id_, olds=outputs, news=kinds["LoadBalancer"])
    assert len(cloud.resources(type=BALANCER)) == 1
    eks.update(SERVICE, "s", id_, olds=outputs, news=kinds["ClusterIP"])
    assert cloud.resources(type=BALANCER) == ()


def test_a_gateway_needs_its_controller_to_come_and_to_go(eks: Provider, cloud: SimulatedCloud) -> None:
    """Without a controller a gateway never gets an address; deleted after it, its load balancer stays."""
    with pytest.raises(Refusal, match="no controller of gateways is installed") as caught:
        eks.create(GATEWAY, "gw", GATEWAY_INPUTS)
    assert caught.value.id == "default/gw"
    assert caught.value.outputs["status"]["addresses"] == []
    eks.delete(GATEWAY, "gw", "default/gw")
    release, _ = eks.create(RELEASE, "envoy", ENVOY)
    _, outputs = eks.create(GATEWAY, "gw", GATEWAY_INPUTS)
    assert outputs["status"]["addresses"][0]["value"].endswith(".elb.us-east-1.amazonaws.com")
    eks.delete(RELEASE, "envoy", release)
    eks.delete(GATEWAY, "gw", "default/gw", outputs=outputs)
    assert [item.made_for for item in cloud.resources(type=BALANCER)] == ["default/gw"]
    assert [item.type for item in cloud.orphans(()) if item.package == "aws" and item.made_for] == [BALANCER]


def test_a_gateway_class_stays_while_gateways_use_it(eks: Provider) -> None:
    """Its finalizer is there for that."""
    eks.create(RELEASE, "envoy", ENVOY)
    meta = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "envoy"}}
    eks.create(GATEWAY_CLASS, "envoy", {**meta, "spec": {"controllerName": "c"}})
    eks.create(GATEWAY, "gw", GATEWAY_INPUTS)
    with pytest.raises(Refusal, match="gateway-exists-finalizer"):
        eks.delete(GATEWAY_CLASS, "envoy", "envoy")
    eks.delete(GATEWAY, "gw", "default/gw")
    eks.delete(GATEWAY_CLASS, "envoy", "envoy")


def test_a_claim_needs_its_class_and_makes_a_disk(eks: Provider, cloud: SimulatedCloud) -> None:
    """A claim of an unknown class stays pending; one of a class with a cloud's driver costs a disk until it goes."""
    spec = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    with pytest.raises(Refusal, match="'fast' not found") as caught:
        eks.create(CLAIM, "p", named("p", spec=spec))
    assert caught.value.outputs["status"]["phase"] == "Pending"
    eks.create(CLASS, "fast", {"metadata": {"name": "fast"}, "provisioner": "ebs.csi.aws.com"})
    inputs, outputs = eks.read(CLAIM, "p", "default/p") or ({}, {})
    assert (inputs["spec"], outputs["status"]["phase"]) == (spec, "Bound")
    eks.create(CLAIM, "q", named("q", spec=spec))
    assert [item.made_for for item in cloud.resources(type=DISK)] == ["default/q"]
    eks.delete(CLAIM, "q", "default/q")
    assert cloud.resources(type=DISK) == ()


REFERENCES = {
    "claim": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]},
    "devices": {"resourceClaims": [{"name": "d", "resourceClaimTemplateName": "x"}]},
    "secret volume": {"volumes": [{"name": "v", "secret": {"secretName": "x"}}]},
    "secret variable": {
        "containers": [{"name": "c", "env": [{"name": "T", "valueFrom": {"secretKeyRef": {"name": "x", "key": "k"}}}]}]
    },
    "config variables": {"containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "x"}}]}]},
}


@pytest.mark.parametrize("pod", REFERENCES.values(), ids=REFERENCES)
def test_pods_wait_for_what_they_use(pod: dict[str, Any], eks: Provider, existing: Provider) -> None:
    """A workload whose pods miss something does not become available; elsewhere it may be there already."""
    with pytest.raises(Refusal, match="'x' not found") as caught:
        eks.create(DEPLOYMENT, "w", workload(pod=pod))
    assert caught.value.outputs["status"]["availableReplicas"] == 0
    assert existing.create(DEPLOYMENT, "w", workload(pod=pod))[1]["status"]["availableReplicas"] == 2


def test_optional_references_are_optional(eks: Provider) -> None:
    """What a pod may do without is not waited for."""
    env = [{"name": "T", "valueFrom": {"secretKeyRef": {"name": "x", "key": "k", "optional": True}}}]
    eks.create(DEPLOYMENT, "w", workload(pod={"containers": [{"name": "c", "env": env}]}))


# -- secrets -----------------------------------------------------------------------------------------------------------


def test_contents_of_secrets_are_always_secret(existing: Provider, cloud: SimulatedCloud) -> None:
    """Marked or not, they come back wrapped, encoded as the server encodes them, and are not in the file."""
    _, outputs = existing.create(SECRET, "s", named("s", stringData={"token": TOKEN}, data={"a": "Yg=="}))
    assert isinstance(outputs["data"], Secret)
    assert plain(outputs["data"]) == {"a": "Yg==", "token": base64.b64encode(TOKEN.encode()).decode()}
    assert isinstance(outputs["stringData"], Secret)
    assert TOKEN not in cloud.dump()
    inputs = named("s", stringData=Secret({"token": TOKEN}), data={"a": "Yg=="})
    read = existing.read(SECRET, "s", "default/s", inputs=inputs, outputs=outputs)
    assert read is not None
    assert read[1] == outputs
    assert plain(read[0]) == plain(inputs)


def test_secret_values_of_releases_stay_secret(existing: Provider, cloud: SimulatedCloud) -> None:
    """A secret value deep in a chart's values is sealed in the file and wrapped when it comes back."""
    inputs = {"name": "r", "namespace": "default", "chart": "c", "values": {"auth": {"token": Secret(TOKEN)}}}
    id_, outputs = existing.create(RELEASE, "r", inputs)
    assert outputs["values"]["auth"]["token"] == Secret(TOKEN)
    assert TOKEN not in cloud.dump()
    assert existing.read(RELEASE, "r", id_, inputs=inputs, outputs=outputs) == (inputs, outputs)
    changed = existing.update(RELEASE, "r", id_, olds=outputs, news={**inputs, "version": "2.0.0"})
    assert (outputs["status"]["revision"], changed["status"]["revision"]) == (1, 2)
    assert changed["status"]["status"] == "deployed"


def test_a_secret_changed_behind_the_engine_is_seen(existing: Provider, cloud: SimulatedCloud) -> None:
    """The new value is not known to anybody, but it is another one."""
    inputs = named("s", stringData=Secret({"token": TOKEN}))
    _, outputs = existing.create(SECRET, "s", inputs)
    cloud.edit(SECRET, "default/s", {"stringData": {"$sealed": "0" * 64}})
    read = existing.read(SECRET, "s", "default/s", inputs=inputs, outputs=outputs)
    assert read is not None
    assert read[0]["stringData"] != inputs["stringData"]
    assert TOKEN not in str(plain(read[0]))


# -- clusters that do not answer ---------------------------------------------------------------------------------------


def dead(scenario: Any) -> None:
    """Cut the east cluster off."""
    Scenario.of(Fault(cluster="eks-east", fail=Failure.UNREACHABLE)).write(scenario)


def test_everything_fails_on_a_dead_cluster(eks: Provider, scenario: Any, cloud: SimulatedCloud) -> None:
    """Creating, changing, reading and deleting fail as the real provider does; previews pass."""
    id_, outputs = eks.create(CONFIG, "c", named("c"))
    assert cloud.reachable("eks-east")
    server = cloud.resources(type=CONFIG)[0].scope
    assert cloud.reachable(server)
    dead(scenario)
    assert not cloud.reachable("eks-east")
    assert not cloud.reachable(server)
    assert eks.preview(CONFIG, "d", named("d"))
    assert eks.update(CONFIG, "c", id_, olds=outputs, news=named("c", data={"a": "b"}), preview=True)
    unreachable = "configured Kubernetes cluster is unreachable"
    for call in (
        lambda: eks.create(CONFIG, "d", named("d")),
        lambda: eks.update(CONFIG, "c", id_, olds=outputs, news=named("c")),
        lambda: eks.delete(CONFIG, "c", id_, outputs=outputs),
    ):
        with pytest.raises(Refusal, match=unreachable):
            call()
    with pytest.raises(Refusal, match="failed to read resource state due to unreachable cluster"):
        eks.read(CONFIG, "c", id_, outputs=outputs)
    with pytest.raises(Refusal, match="can't delete Helm Release with unreachable cluster"):
        eks.delete(RELEASE, "r", "default/r")
    scenario.unlink()
    assert eks.read(CONFIG, "c", id_, outputs=outputs)


def test_updates_on_a_dead_cluster_may_be_skipped(
    kubernetes: Callable[..., Provider], east: dict[str, Any], scenario: Any
) -> None:
    """With skipUpdateUnreachable updates and reads leave things as they were; creations still fail."""
    provider = kubernetes(east["endpoint"], clusterIdentifier="eks-east", skipUpdateUnreachable="true")
    id_, outputs = provider.create(CONFIG, "c", named("c"))
    dead(scenario)
    assert provider.update(CONFIG, "c", id_, olds=outputs, news=named("c", data={"a": "b"})) == outputs
    assert provider.read(CONFIG, "c", id_, inputs=named("c"), outputs=outputs) == (named("c"), outputs)
    with pytest.raises(Refusal, match="unreachable"):
        provider.create(CONFIG, "d", named("d"))


def test_objects_of_a_dead_cluster_may_be_forgotten(
    kubernetes: Callable[..., Provider], east: dict[str, Any], scenario: Any, cloud: SimulatedCloud
) -> None:
    """With deleteUnreachable deletions and reads only forget; the object stays where nobody can reach it."""
    provider = kubernetes(east["endpoint"], clusterIdentifier="eks-east", deleteUnreachable="true")
    id_, outputs = provider.create(CONFIG, "c", named("c"))
    dead(scenario)
    assert provider.read(CONFIG, "c", id_, outputs=outputs) is None
    provider.delete(CONFIG, "c", id_, outputs=outputs)
    assert [item.id for item in cloud.resources(type=CONFIG)] == [id_]


def test_a_deleted_cluster_is_nowhere(eks: Provider, aws: Provider, cloud: SimulatedCloud) -> None:
    """The server's name is gone with the cluster, and so is all that was on it."""
    id_, outputs = eks.create(CONFIG, "c", named("c"))
    server = cloud.resources(type=CONFIG)[0].scope
    aws.delete(CLUSTER, "east", "sim-east")
    with pytest.raises(Refusal, match="no such host"):
        eks.read(CONFIG, "c", id_, outputs=outputs)
    assert not cloud.reachable("eks-east")
    assert not cloud.reachable(server)
    assert "no such host" in cloud.why_unreachable("eks-east")


def test_objects_of_real_clusters_are_refused(existing: Provider) -> None:
    """An object whose uid no simulation gave is not touched."""
    real = {"metadata": {"name": "c", "uid": "6f6b1c1e-0000-4000-8000-000000000000"}}
    for call in (
        lambda: existing.read(CONFIG, "c", "default/c", outputs=real),
        lambda: existing.update(CONFIG, "c", "default/c", olds=real, news=named("c")),
        lambda: existing.delete(CONFIG, "c", "default/c", outputs=real),
    ):
        with pytest.raises(Refusal, match="belongs to a real cluster, and this run is simulated"):
            call()


def test_updates_and_reads_follow_the_object(existing: Provider, cloud: SimulatedCloud) -> None:
    """An update keeps the uid and counts versions; edits behind the engine show when it reads."""
    inputs = workload()
    id_, outputs = existing.create(DEPLOYMENT, "w", inputs)
    news = workload(image="i:2")
    preview = existing.update(DEPLOYMENT, "w", id_, olds=outputs, news=news, preview=True)
    changed = existing.update(DEPLOYMENT, "w", id_, olds=outputs, news=news)
    assert changed["metadata"]["uid"] == outputs["metadata"]["uid"]
    assert (outputs["metadata"]["generation"], changed["metadata"]["generation"]) == (1, 2)
    assert preview["spec"] == changed["spec"]
    cloud.edit(DEPLOYMENT, id_, {"spec.replicas": 5})
    read = existing.read(DEPLOYMENT, "w", id_, inputs=news, outputs=changed)
    assert read is not None
    assert (read[0]["spec"]["replicas"], read[1]["spec"]["replicas"]) == (5, 5)
    assert existing.read(DEPLOYMENT, "w", id_) == read
