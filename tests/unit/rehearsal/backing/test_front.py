"""What stands before the real Kubernetes provider: what it lets through, and what it does not."""
# ruff: noqa: N802 - the names are those of the generated protocol

import json
import subprocess
import sys
from collections.abc import Generator
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from automation.rehearsal.backing import front as fronts
from automation.rehearsal.backing.door import KeeperRefused
from automation.rehearsal.backing.front import Front
from automation.rehearsal.backing.loopback import is_loopback, stray_server
from automation.rehearsal.backing.releases import ReleaseCloud
from automation.rehearsal.provider.faults import Faults
from automation.rehearsal.provider.kinds import HELM_RELEASE
from automation.rehearsal.provider.program import LIMITS
from automation.rehearsal.provider.rules import Rules
from automation.rehearsal.provider.servicer import Servicer
from automation.rehearsal.store import Store
from automation.rehearsal.wire import UNKNOWN, decode
from tests.support.simulated import Provider, Refusal, connected, kubeconfig

HERE = "https://127.0.0.1:16443"
RELEASE = {"name": "r", "namespace": "ns", "chart": "lws", "version": "v1", "createNamespace": True}


class Real(provider_pb2_grpc.ResourceProviderServicer):
    """A provider that only remembers what reached it."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """Say a version."""
        return plugin_pb2.PluginInfo(version="4.25.0")

    def Configure(self, request: Any, context: Any) -> Any:
        """Take anything."""
        self.seen.append(request)
        return provider_pb2.ConfigureResponse(acceptSecrets=True)

    def Create(self, request: Any, context: Any) -> Any:
        """Create it, unless it is called bad: then it exists and is not ready."""
        self.seen.append(request)
        if request.urn.endswith("bad"):
            detail = provider_pb2.ErrorResourceInitFailed(id="ns/bad", reasons=["ImagePullBackOff"])
            detail.properties.CopyFrom(request.properties)
            status = status_pb2.Status(code=2, message="it is not ready")
            status.details.add().Pack(detail)
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            context.abort(grpc.StatusCode.UNKNOWN, "it is not ready")
        return provider_pb2.CreateResponse(id="ns/a", properties=request.properties)


@dataclass
class FakeDoor:
    """A keeper that remembers releases."""

    releases: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def ask(self, do: str, *, server: str, **request: Any) -> dict[str, Any]:
        """Do as the keeper does."""
        self.asked.append((do, server))
        if server != HERE:
            raise KeeperRefused(f"no control plane is kept at {server}")
        if do == "install":
            release = request["release"]
            key = f"{release['namespace']}/{release['name']}"
            self.releases[key] = release
            return {"revision": 1}
        key = f"{request['namespace']}/{request['name']}"
        if do == "uninstall":
            self.releases.pop(key, None)
            return {}
        return {"release": self.releases.get(key)}


@pytest.fixture
def real() -> Real:
    """Give the provider behind the front."""
    return Real()


@pytest.fixture
def door() -> FakeDoor:
    """Give the keeper."""
    return FakeDoor()


@pytest.fixture
def provider(installed: Path, tmp_path: Path, real: Real, door: FakeDoor) -> Generator[Provider]:
    """Serve the real provider and the front, and connect to the front."""
    settings = json.loads(next(installed.glob("plugins/resource-kubernetes-*/simulated.json")).read_text())
    servers = [grpc.server(futures.ThreadPoolExecutor(4)) for _ in range(2)]
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(real, servers[0])
    ports = [server.add_insecure_port("127.0.0.1:0") for server in servers]
    rules = Rules("kubernetes", folder=Path(settings["rules"]), interpreter=Path(settings["interpreter"]))
    releases = Servicer(
        ReleaseCloud(door, rules),  # ty: ignore[invalid-argument-type]
        faults=Faults(Store(tmp_path / "cloud.db"), None),
        version="x",
    )
    with grpc.insecure_channel(f"127.0.0.1:{ports[0]}", options=LIMITS) as channel:
        servers[1].add_generic_rpc_handlers((Front(channel, releases, version="4.34.2+backed.4.25.0"),))
        for server in servers:
            server.start()
        with connected(f"127.0.0.1:{ports[1]}") as found:
            yield found
        for server in servers:
            server.stop(None)


def test_it_has_the_version_of_the_sdk_and_says_whose_build_it_is(provider: Provider) -> None:
    """The engine ignores what follows the plus, and warns of an older version without it."""
    assert provider.version() == "4.34.2+backed.4.25.0"


def test_a_provider_that_does_not_start_is_named(installed: Path) -> None:
    """With the code that it ended with; the engine shows what the front says last."""
    launcher = json.loads(next(installed.glob("plugins/resource-kubernetes-*/simulated.json")).read_text())
    launcher |= {"backing": str(installed / "none"), "provider": "/opt/provider"}
    ended = [sys.executable, "-c", "raise SystemExit(7)"]
    with (
        subprocess.Popen(ended, stdout=subprocess.PIPE) as real,
        pytest.raises(SystemExit, match="/opt/provider ended with 7 before it said its port"),
    ):
        fronts.stand_before(real, launcher, parent=0)


def test_objects_go_to_the_real_provider_with_less_patience(provider: Provider, real: Real) -> None:
    """As they are, but for the time that it may wait; half an hour is for images and weights."""
    provider.configure(kubeconfig=kubeconfig(HERE))
    inputs = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    provider.create("kubernetes:core/v1:ConfigMap", "a", inputs)
    configured, created = real.seen
    assert "127.0.0.1" in str(decode(configured.args))
    assert decode(created.properties) == inputs
    assert created.timeout == fronts.SECONDS_OF_PATIENCE


def test_what_the_real_provider_refuses_comes_through(provider: Provider) -> None:
    """With its words and with what it says of an object that exists and is not ready."""
    provider.configure(kubeconfig=kubeconfig(HERE))
    with pytest.raises(Refusal, match="it is not ready") as caught:
        provider.create("kubernetes:core/v1:ConfigMap", "bad", {})
    assert (caught.value.id, caught.value.reasons) == ("ns/bad", ("ImagePullBackOff",))


def test_an_object_that_is_not_ready_comes_through_whole(provider: Provider) -> None:
    """It is in the metadata of the answer, of which gRPC takes no more than 8 KiB unless told otherwise."""
    provider.configure(kubeconfig=kubeconfig(HERE))
    inputs = {"data": {"key": "x" * 200_000}}
    with pytest.raises(Refusal, match="it is not ready") as caught:
        provider.create("kubernetes:core/v1:ConfigMap", "bad", inputs)
    assert caught.value.outputs == inputs


@pytest.mark.parametrize(
    "server",
    ["https://10.0.0.1:443", "https://edge.simulated.invalid", "https://127.0.0.1.nip.io", "https://localhost"],
)
def test_a_kubeconfig_that_leads_off_this_machine_stops_there(provider: Provider, real: Real, server: str) -> None:
    """Before the real provider sees it."""
    with pytest.raises(Refusal, match=f"leads to {server}"):
        provider.configure(kubeconfig=kubeconfig(server))
    assert real.seen == []


@pytest.mark.parametrize(
    ("settings", "want"),
    [
        pytest.param({"kubeconfig": kubeconfig(HERE)}, "", id="here"),
        pytest.param({"kubeconfig": json.loads(kubeconfig("https://a.test"))}, "https://a.test", id="parsed"),
        pytest.param({"kubeconfig": kubeconfig("https://[::1]:6443")}, "", id="here-in-six"),
        pytest.param({}, "wherever the kubeconfig of this machine's user says", id="none"),
        pytest.param({"kubeconfig": UNKNOWN}, "", id="not-known-yet"),
        pytest.param({"kubeconfig": "{}"}, "", id="unreadable"),
        pytest.param({"kubeconfig": kubeconfig(HERE) + "# proxy-url: http://x"}, "a proxy", id="proxy"),
    ],
)
def test_where_settings_lead(settings: dict[str, Any], want: str) -> None:
    """By number: a name may mean another machine tomorrow."""
    assert stray_server(settings) == want


def test_a_name_is_no_loopback_address() -> None:
    """Not even the usual one."""
    assert not is_loopback("https://localhost:6443")


def test_releases_go_to_their_stand_in(provider: Provider, real: Real, door: FakeDoor) -> None:
    """From the first to the last, and never to the real provider, which would look for a chart."""
    provider.configure(kubeconfig=kubeconfig(HERE))
    inputs, failures = provider.check(HELM_RELEASE, "r", RELEASE)
    assert not failures
    assert provider.preview(HELM_RELEASE, "r", inputs)["status"] == UNKNOWN
    assert not door.releases
    identifier, outputs = provider.create(HELM_RELEASE, "r", inputs)
    assert identifier == "ns/r"
    assert (outputs["status"]["status"], outputs["status"]["appVersion"]) == ("deployed", "stand-in")
    assert set(door.releases["ns/r"]) == {"name", "namespace", "chart", "version", "createNamespace"}
    with pytest.raises(Refusal, match="still in use"):
        provider.create(HELM_RELEASE, "r", inputs)
    assert provider.diff(HELM_RELEASE, "r", inputs, {**inputs, "namespace": "other"}).replaces
    provider.delete(HELM_RELEASE, "r", identifier)
    assert not door.releases
    assert [type(each).__name__ for each in real.seen] == ["ConfigureRequest"]


def test_a_cluster_that_is_not_kept_is_unreachable(provider: Provider) -> None:
    """In the words of the provider."""
    provider.configure(kubeconfig=kubeconfig("https://127.0.0.1:1"))
    with pytest.raises(Refusal, match="configured Kubernetes cluster is unreachable"):
        provider.create(HELM_RELEASE, "r", RELEASE)
