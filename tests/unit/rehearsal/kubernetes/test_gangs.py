"""Running the controller of gangs on a local cluster, with one that only pretends."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from automation.rehearsal.kubernetes import definitions, gangs
from automation.rehearsal.kubernetes.api import ApiError
from automation.rehearsal.kubernetes.flags import ClusterFiles
from automation.rehearsal.kubernetes.gangs import CONTROLLER, start_gangs, stop_gangs
from components.errors import DriverError
from tests.support.fake_objects import FakeApi

if TYPE_CHECKING:
    from automation.rehearsal.kubernetes.local import LocalCluster, LocalKubernetes

Object = dict[str, Any]

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
PATHS = ("/mutate-set", "/mutate-pod", "/validate-set")


@dataclass
class FakeCluster:
    """What the controller needs of a cluster."""

    files: ClusterFiles
    api: FakeApi = field(default_factory=FakeApi)
    token: str = "t-1"
    pids: dict[str, int] = field(default_factory=dict)


class FakeKubernetes:
    """Starts programs that are done with their start at once, or never."""

    def __init__(self) -> None:
        self.broken = False
        self.served: set[str] = set()
        self.command: list[str] = []

    def port(self, cluster: FakeCluster, program: str) -> SimpleNamespace:
        """Keep a port."""
        assert program == CONTROLLER
        return SimpleNamespace(number=20001, address="127.0.0.1:20001")

    def add(self, cluster: FakeCluster, program: str, command: Any, *, done: Callable[[], bool]) -> None:
        """Start one."""
        if self.broken:
            raise DriverError("ended with status 1 instead of starting")
        for path in PATHS:
            assert not done(), "a webhook is not served yet"
            self.served.add(path)
        assert done()
        self.command = command(Path("/bin/x"), cluster.files)
        cluster.pids[program] = 7

    def end(self, cluster: FakeCluster, program: str) -> None:
        """End one."""
        del cluster.pids[program]


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> FakeKubernetes:
    """Give where programs run, and a way to what they serve."""
    local = FakeKubernetes()

    class Webhooks:
        def __init__(self, server: str, **_: Any) -> None:
            assert server == "https://127.0.0.1:20001"

        def get(self, path: str) -> Object:
            """Ask one of them."""
            if path not in local.served:
                raise ApiError(f"GET {path}: 404", status=404)
            return {}

        def close(self) -> None:
            """Ask no more."""

    monkeypatch.setattr(gangs, "Api", Webhooks)
    return local


@pytest.fixture
def cluster(tmp_path: Path) -> FakeCluster:
    """Give a cluster with the certificate of an API server."""
    files = ClusterFiles(tmp_path)
    files.certificate.write_text("authority")
    files.key.write_text("key")
    return FakeCluster(files)


def webhook(path: str, **more: Any) -> Object:
    """Make a webhook as the project releases it."""
    return {"name": path, "clientConfig": {"service": {"name": "webhook-service", "path": path}}, **more}


@pytest.fixture(autouse=True)
def released(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give files of the project's module: two configurations, and a patch for each."""

    def read(_source: definitions.Source) -> tuple[Any, ...]:
        return (
            {
                "kind": "MutatingWebhookConfiguration",
                "metadata": {"name": "mutating"},
                "webhooks": [webhook("/mutate-set"), webhook("/mutate-pod")],
            },
            {
                "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": "validating"},
                "webhooks": [webhook("/validate-set"), webhook("vdisaggregatedset.kb.io")],
            },
            [{"op": "replace", "path": "/webhooks/1", "value": webhook("/mutate-pod", objectSelector={"of": "gangs"})}],
            [],
        )

    monkeypatch.setattr(definitions, "read", read)


def start(local: FakeKubernetes, cluster: FakeCluster) -> None:
    """Start the controller."""
    start_gangs(cast("LocalKubernetes", local), cast("LocalCluster", cluster))


def test_the_webhooks_are_those_of_the_project_at_a_port_of_ours(local: FakeKubernetes, cluster: FakeCluster) -> None:
    """With its patches, without which every pod of the cluster would be asked about; and once."""
    start(local, cluster)
    start(local, cluster)
    mutating = cluster.api.get(f"{CONFIGURATIONS}/mutatingwebhookconfigurations/lws-mutating")
    assert [each["clientConfig"]["url"] for each in mutating["webhooks"]] == [
        "https://127.0.0.1:20001/mutate-set",
        "https://127.0.0.1:20001/mutate-pod",
    ]
    assert [each.get("objectSelector") for each in mutating["webhooks"]] == [None, {"of": "gangs"}]
    bundles = {base64.b64decode(each["clientConfig"]["caBundle"]) for each in mutating["webhooks"]}
    assert bundles == {b"authority"}
    validating = cluster.api.get(f"{CONFIGURATIONS}/validatingwebhookconfigurations/lws-validating")
    assert [each["name"] for each in validating["webhooks"]] == ["/validate-set"], "nobody serves other kinds"


def test_it_serves_with_the_certificate_that_the_api_server_is_told(
    local: FakeKubernetes, cluster: FakeCluster
) -> None:
    """At the port that is kept for it; the key is for nobody else to read."""
    start(local, cluster)
    given = dict(argument.partition("=")[::2] for argument in local.command)
    assert (given["--webhook-address"], given["--webhook-port"]) == ("127.0.0.1", "20001")
    folder = Path(given["--webhook-cert-dir"])
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"tls.crt": "authority", "tls.key": "key"}
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_a_controller_that_does_not_start_leaves_nothing_that_is_asked(
    local: FakeKubernetes, cluster: FakeCluster
) -> None:
    """A webhook without a controller refuses every gang; and the next attempt may begin."""
    local.broken = True
    with pytest.raises(DriverError, match="ended with status 1"):
        start(local, cluster)
    assert cluster.api.objects == {}
    local.broken = False
    cluster.api.create(f"{CONFIGURATIONS}/validatingwebhookconfigurations", {"metadata": {"name": "lws-validating"}})
    with pytest.raises(ApiError, match="already exists"):
        start(local, cluster)
    assert (cluster.api.objects, cluster.pids) == ({}, {})
    local.served.clear()
    start(local, cluster)
    stop_gangs(cast("LocalKubernetes", local), cast("LocalCluster", cluster))
    assert (cluster.api.objects, cluster.pids) == ({}, {})
