"""What plays the controllers and charts of real clusters."""

from typing import TYPE_CHECKING, Any, cast

import pytest

from automation.engine.toolchain.kubernetes import GANG_CONTROLLER
from automation.rehearsal.backing import charts, stand_ins
from automation.rehearsal.kubernetes import definitions
from automation.rehearsal.kubernetes.api import ApiError
from automation.rehearsal.kubernetes.machines import machine
from automation.rehearsal.kubernetes.nodes import node
from components.errors import DriverError, TimedOut
from components.serving.catalogue import load_release
from tests.support.fake_objects import FakeApi

if TYPE_CHECKING:
    from automation.rehearsal.kubernetes.api import Api

GATEWAYS = "/apis/gateway.networking.k8s.io/v1/namespaces/a/gateways"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
CLAIMS = "/api/v1/namespaces/a/persistentvolumeclaims"
SERVICES = "/api/v1/namespaces/a/services"
P5 = machine("aws", "p5.48xlarge")


def play(api: FakeApi, **machines: Any) -> None:
    """Make one pass, and a second one that must change nothing."""
    stand_ins.play(cast("Api", api), machines)
    before = str(api.objects)
    stand_ins.play(cast("Api", api), machines)
    assert str(api.objects) == before


def named(name: str, **body: Any) -> dict[str, Any]:
    """Make an object."""
    return {"metadata": {"name": name}, **body}


def test_only_load_balancers_get_an_address() -> None:
    """Of the range for documentation, so that nobody takes it for one where something listens."""
    api = FakeApi()
    api.create(SERVICES, named("front", spec={"type": "LoadBalancer"}))
    api.create(SERVICES, named("inside", spec={"type": "ClusterIP"}))
    play(api)
    (address,) = api.get(f"{SERVICES}/front")["status"]["loadBalancer"]["ingress"]
    assert address["ip"].startswith("203.0.113.")
    assert api.get(f"{SERVICES}/inside")["status"] == {}


def test_a_gateway_is_programmed_and_says_by_whom() -> None:
    """Programs wait for the condition and read the address."""
    api = FakeApi()
    api.create(GATEWAYS, named("g", spec={}))
    play(api)
    status = api.get(f"{GATEWAYS}/g")["status"]
    assert status["addresses"][0]["value"].startswith("203.0.113.")
    conditions = {each["type"]: each for each in status["conditions"]}
    assert conditions["Programmed"]["status"] == "True"
    assert "stand-in" in conditions["Programmed"]["message"]


def test_a_cluster_without_gateways_is_no_trouble() -> None:
    """A front door's definitions come with a chart, later than its services."""
    play(FakeApi(undefined=("gateways",)))


def test_a_claim_gets_a_volume_that_goes_with_it() -> None:
    """What a driver of volumes would make; binding them is the work of Kubernetes."""
    api = FakeApi()
    api.create(CLASSES, named("efs", provisioner="efs.csi.aws.com"))
    api.create(CLAIMS, named("weights", spec=claim("efs")))
    play(api)
    (volume,) = api.items("/api/v1/persistentvolumes")
    assert volume["spec"]["claimRef"]["name"] == "weights"
    assert volume["spec"]["claimRef"]["uid"] == api.get(f"{CLAIMS}/weights")["metadata"]["uid"]
    assert volume["spec"]["capacity"] == {"storage": "9Gi"}
    api.delete(f"{CLAIMS}/weights")
    api.patch(f"/api/v1/persistentvolumes/{volume['metadata']['name']}/status", {"status": {"phase": "Released"}})
    play(api)
    assert not api.names("persistentvolumes")


@pytest.mark.parametrize(
    ("storage_class", "mode", "said"),
    [
        # Kubernetes' own controller says that there is no such class, or none at all.
        pytest.param("nosuch", "ReadWriteMany", "", id="no-such-class"),
        pytest.param(None, "ReadWriteOnce", "", id="none-named"),
        pytest.param("by-hand", "ReadWriteOnce", "", id="made-by-hand"),
        pytest.param("first-use", "ReadWriteMany", "", id="nobody-uses-it-yet"),
        pytest.param(
            "ebs",
            "ReadWriteMany",
            "ebs makes volumes of Amazon EBS (ebs.csi.aws.com), which do not support ReadWriteMany",
            id="a-disk-for-many-nodes",
        ),
        pytest.param(
            "mine",
            "ReadWriteMany",
            "mine is made by csi.example.test, of which the stand-in does not know whether it supports ReadWriteMany",
            id="an-unknown-driver-for-many-nodes",
        ),
    ],
)
def test_a_claim_that_no_driver_would_serve_waits_and_an_event_says_why(
    storage_class: str | None, mode: str, said: str
) -> None:
    """A rehearsal must not say yes where a real cluster says no."""
    api = with_classes()
    api.create(CLAIMS, named("weights", spec=claim(storage_class, mode)))
    play(api)
    assert not api.names("persistentvolumes")
    found = api.items("/api/v1/namespaces/a/events")
    assert [each["message"] for each in found] == ([f"failed to provision volume: {said}"] if said else [])
    uid = api.get(f"{CLAIMS}/weights")["metadata"]["uid"]
    assert all(each["involvedObject"]["uid"] == uid and each["type"] == "Warning" for each in found)


@pytest.mark.parametrize(
    ("storage_class", "mode", "annotations"),
    [
        pytest.param("ebs", "ReadWriteOnce", {}, id="a-disk-for-one-node"),
        pytest.param("mine", "ReadWriteOnce", {}, id="an-unknown-driver-for-one-node"),
        pytest.param("first-use", "ReadWriteMany", {"volume.kubernetes.io/selected-node": "n"}, id="a-pod-uses-it"),
    ],
)
def test_a_claim_that_a_driver_would_serve_gets_a_volume(
    storage_class: str, mode: str, annotations: dict[str, str]
) -> None:
    """Of disks too, and for its first pod where the class waits for one."""
    api = with_classes()
    body = named("weights", spec=claim(storage_class, mode))
    body["metadata"]["annotations"] = annotations
    api.create(CLAIMS, body)
    play(api)
    (volume,) = api.items("/api/v1/persistentvolumes")
    assert volume["spec"]["storageClassName"] == storage_class
    assert volume["spec"]["accessModes"] == [mode]


def test_a_claim_is_refused_where_no_event_can_be_written() -> None:
    """In a namespace that goes; the others get what they are owed."""

    class Going(FakeApi):
        def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
            if path.endswith("/events"):
                raise ApiError("POST: namespace a is being terminated", status=403)
            return super().create(path, body)

    api = with_classes(Going())
    api.create(CLAIMS, named("a", spec=claim("ebs")))
    api.create(CLAIMS, named("b", spec=claim("efs")))
    play(api)
    assert len(api.names("persistentvolumes")) == 1


def with_classes(api: FakeApi | None = None) -> FakeApi:
    """Make a cluster with a class for each kind of driver."""
    api = api or FakeApi()
    for name, provisioner, mode in (
        ("efs", "efs.csi.aws.com", "Immediate"),
        ("first-use", "efs.csi.aws.com", "WaitForFirstConsumer"),
        ("ebs", "ebs.csi.aws.com", "Immediate"),
        ("mine", "csi.example.test", "Immediate"),
        ("by-hand", "kubernetes.io/no-provisioner", "Immediate"),
    ):
        api.create(CLASSES, named(name, provisioner=provisioner, volumeBindingMode=mode))
    return api


def claim(storage_class: str | None, mode: str = "ReadWriteMany") -> dict[str, Any]:
    """Make the spec of a claim."""
    spec = {"accessModes": [mode], "resources": {"requests": {"storage": "9Gi"}}}
    return spec | ({} if storage_class is None else {"storageClassName": storage_class})


def test_devices_are_published_when_their_driver_is_installed() -> None:
    """A cluster without the driver's chart has GPU nodes and no devices, as a real one."""
    api = FakeApi()
    api.create("/api/v1/nodes", node("n", P5))
    play(api, n=P5)
    assert not api.names("resourceslices")
    install(api, "oci://registry.test/charts/dra-driver-nvidia-gpu", namespace="drivers")
    play(api, n=P5)
    assert api.names("resourceslices") == {"n-gpu.nvidia.com"}
    assert "efa.networking.k8s.aws" not in api.names("deviceclasses")
    install(api, "aws-dranet", namespace="kube-system")
    play(api, n=P5)
    assert api.names("resourceslices") == {"n-gpu.nvidia.com", "n-dra.net"}
    classes = {"gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com"}
    assert api.names("deviceclasses") == classes | {"efa.networking.k8s.aws"}


def test_a_node_that_was_lost_is_nothing_to_the_others() -> None:
    """Their devices are published, whatever the order; and when it comes back, so are its own."""
    api = FakeApi()
    install(api, "dra-driver-nvidia-gpu", namespace="drivers")
    api.create("/api/v1/nodes", node("b", P5))
    play(api, a=P5, b=P5)
    assert api.names("resourceslices") == {"b-gpu.nvidia.com"}
    api.create("/api/v1/nodes", node("a", P5))
    play(api, a=P5, b=P5)
    assert api.names("resourceslices") == {"a-gpu.nvidia.com", "b-gpu.nvidia.com"}


def install(api: FakeApi, chart: str, *, namespace: str) -> int:
    """Install a release of a chart."""
    release = {"name": f"r-{chart.rpartition('/')[2]}", "namespace": namespace, "chart": chart, "createNamespace": True}
    return charts.install(cast("Api", api), release)


def test_a_release_is_kept_in_the_cluster_as_helm_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is upgraded, found and forgotten; what its chart defines stays."""
    served = {"conditions": [{"type": "Established", "status": "True"}]}
    definition = named("gateways.gateway.networking.k8s.io", kind="CustomResourceDefinition", status=served)
    monkeypatch.setattr(charts, "definitions", lambda chart: (definition,) if chart == "gateway-helm" else ())
    api = FakeApi()
    where = cast("Api", api)
    assert charts.find(where, "envoy", "r-gateway-helm") is None
    assert install(api, "oci://registry.test/gateway-helm", namespace="envoy") == 1
    assert install(api, "oci://registry.test/gateway-helm", namespace="envoy") == 2
    found = charts.find(where, "envoy", "r-gateway-helm")
    assert found is not None
    assert found["revision"] == 2
    assert charts.installed(where) == {"gateway-helm"}
    assert api.names("namespaces") == {"envoy"}
    charts.uninstall(where, "envoy", "r-gateway-helm")
    charts.uninstall(where, "envoy", "r-gateway-helm")
    assert charts.find(where, "envoy", "r-gateway-helm") is None
    assert api.names("customresourcedefinitions") == {definition["metadata"]["name"]}


def test_a_release_is_not_there_when_its_controller_does_not_start() -> None:
    """So the engine tries again; and one that is uninstalled ends what it has started, once."""
    api, release = cast("Api", FakeApi()), {"name": "r", "namespace": "lws-system", "chart": "oci://registry.test/lws"}
    ended: list[str] = []

    def refuse(chart: str) -> None:
        raise DriverError(f"{chart} ended with status 1")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charts, "definitions", lambda _: ())
        with pytest.raises(DriverError, match="lws ended"):
            charts.install(api, release, run=refuse)
        assert charts.find(api, "lws-system", "r") is None
        charts.install(api, release)
    for _ in range(2):
        charts.uninstall(api, "lws-system", "r", end=ended.append)
    assert ended == ["lws"]


def test_a_release_is_there_when_its_definitions_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever depends on it makes an object of theirs next, and would be refused."""
    definition = named("gateways.gateway.networking.k8s.io", kind="CustomResourceDefinition")
    monkeypatch.setattr(charts, "definitions", lambda _: (definition,))
    monkeypatch.setattr(charts, "_SECONDS_TO_SERVE", 0.5)
    api = FakeApi()
    with pytest.raises(TimedOut, match="not served in time"):
        install(api, "gateway-helm", namespace="envoy")
    assert charts.find(cast("Api", api), "envoy", "r-gateway-helm") is None


@pytest.mark.parametrize(("silences", "want"), [(2, True), (3, False)])
def test_a_busy_server_is_asked_again(silences: int, *, want: bool) -> None:
    """It may even have made the object without saying so in time."""

    class Busy(FakeApi):
        def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
            """Make it, and say nothing for a while."""
            nonlocal silences
            if silences:
                silences -= 1
                if f"{path}/{body['metadata']['name']}" not in self.objects:
                    super().create(path, body)
                raise ApiError("the API server did not answer", status=0)
            return super().create(path, body)

    api = Busy()
    if want:
        charts.ensure(cast("Api", api), "/api/v1/namespaces", named("a"))
    else:
        with pytest.raises(ApiError, match="did not answer"):
            charts.ensure(cast("Api", api), "/api/v1/namespaces", named("a"))
    assert api.names("namespaces") == {"a"}


def test_definitions_are_taken_without_their_texts() -> None:
    """But with a property that has the name of a text."""
    schema = {"description": "a text", "properties": {"description": {"type": "string", "description": "another"}}}
    assert definitions.without_descriptions([schema]) == [{"properties": {"description": {"type": "string"}}}]


def test_definitions_come_from_modules_with_a_checksum() -> None:
    """Of charts that the release of the serving stack names, and held to what Go says of their content."""
    assert definitions.SOURCES.keys() <= {each.chart for each in load_release("default").components}
    for chart, sources in definitions.SOURCES.items():
        assert sources, chart
        assert all(each.sum.startswith("h1:") and each.names for each in sources)


def test_the_definitions_of_gangs_are_those_of_their_controller() -> None:
    """One of another release might not know a field that the other one fills."""
    (source,) = definitions.SOURCES[charts.GANG_CHART]
    assert source.version == f"v{GANG_CONTROLLER.version}"
