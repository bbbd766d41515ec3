"""Every object of every sample on a real API server: decoded strictly, and judged with all its rules.

Kinds that are not Kubernetes' own are known by the definitions of their projects, from their Go modules.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from automation.rehearsal.kubernetes.api import Api, ApiError
from automation.rehearsal.kubernetes.definitions import Source, definitions, read
from automation.rehearsal.kubernetes.local import LocalCluster
from tests.support import sample_objects
from tests.support.processes import soon
from tests.support.sample_objects import Sample

pytestmark = pytest.mark.kubernetes

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
GANG: Final = "LeaderWorkerSet"
POOLS: Final = "inference.networking.k8s.io/v1"

LEFT_OUT: Final[Mapping[str, str]] = {
    "kubernetes:helm.sh/v3:Release": "a chart is no object; what is in it is the chart's own matter",
}
"""By type, what no API server is asked about here, and why. A type that is not listed must be accepted."""

PROJECTS: Final = Source(
    "sigs.k8s.io/gateway-api-inference-extension",
    "v1.5.0",
    "h1:w9Awt60cmI1vM7Y6N81h8wDCBP0WkmxpdI7GKY0v070=",
    "config/crd/bases",
    ("inference.networking.k8s.io_inferencepools",),
)
"""The project's own definition of pools; Berth installs a reduced one of its own where there is none."""


class Server:
    """An API server that knows the kinds of the samples."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self._kinds: dict[tuple[str, str], tuple[str, bool]] = {}
        self._namespaces = {each["metadata"]["name"] for each in api.items("/api/v1/namespaces")}

    def define(self, body: Mapping[str, Any]) -> None:
        """Install a definition, and wait until its kind is served."""
        name = body["metadata"]["name"]
        self.api.create(DEFINITIONS, dict(body))
        assert soon(lambda: self._established(name), seconds=60), f"{name} is not established"

    def forget(self, name: str) -> None:
        """Remove a definition."""
        self.api.delete(f"{DEFINITIONS}/{name}")
        assert soon(lambda: name not in {each["metadata"]["name"] for each in self.api.items(DEFINITIONS)}, seconds=60)

    def refuses(self, body: Mapping[str, Any]) -> str:
        """Give why an object would not be created; empty when it would."""
        api_version, kind = body["apiVersion"], body["kind"]
        plural, namespaced = self._kind(api_version, kind)
        path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        metadata = dict(body["metadata"])
        if kind == "Namespace":  # it may be there, for what is in it
            metadata["name"] += "-again"
        if namespaced:
            namespace = metadata.get("namespace", "default")
            self._ensure(namespace)
            path += f"/namespaces/{namespace}"
        try:
            self.api.create(f"{path}/{plural}", {**body, "metadata": metadata}, dry_run=True)
        except ApiError as error:
            if error.status not in {400, 422}:
                raise
            return error.summary
        return ""

    def _kind(self, api_version: str, kind: str) -> tuple[str, bool]:
        if (api_version, kind) not in self._kinds:
            path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
            for each in self.api.get(path)["resources"]:
                if "/" not in each["name"]:
                    self._kinds[api_version, each["kind"]] = each["name"], each["namespaced"]
        return self._kinds[api_version, kind]

    def _ensure(self, namespace: str) -> None:
        if namespace not in self._namespaces:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            self.api.create("/api/v1/namespaces", body)
            self._namespaces.add(namespace)

    def _established(self, name: str) -> bool:
        conditions = self.api.get(f"{DEFINITIONS}/{name}").get("status", {}).get("conditions")
        return any(each["type"] == "Established" and each["status"] == "True" for each in conditions or ())


@pytest.fixture(scope="module")
def server(shared: LocalCluster) -> Server:
    """Give a server with the definitions that charts bring."""
    server = Server(shared.api)
    for chart in ("gateway-helm", "lws"):
        for each in definitions(chart):
            server.define(each)
    return server


@pytest.fixture(scope="module")
def samples() -> dict[str, list[Sample]]:
    """Give the objects of every sample."""
    return sample_objects.samples()


def bodies(samples: Mapping[str, list[Sample]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object with its sample and resource; the pods of gangs also as templates of their own."""
    for name, each in ((name, each) for name, found in samples.items() for each in found):
        if each.type in LEFT_OUT or each.kind == DEFINITION:  # definitions are installed
            continue
        yield f"{name}: {each.name}", each.body
        if each.kind[1] == GANG:  # its definition does not look into pods as Kubernetes does
            for role in ("leaderTemplate", "workerTemplate"):
                template = each.body["spec"]["leaderWorkerTemplate"][role]
                body = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "pod"}, "template": template}
                yield f"{name}: {each.name}, {role}", body


def test_every_object_of_every_sample_is_accepted(
    server: Server, samples: dict[str, list[Sample]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Also by the definition of pools that Berth installs, and by the project's."""
    own = {
        each.body["metadata"]["name"]: each.body
        for found in samples.values()
        for each in found
        if each.kind == DEFINITION
    }
    for each in own.values():
        server.define(each)
    assert {"dev", "staging", "prod", "local", sample_objects.WRITTEN} <= samples.keys()
    objects = list(bodies(samples))
    refused = [f"{name}: {why}" for name, body in objects if (why := server.refuses(body))]
    (pools,) = read(PROJECTS)
    server.forget(pools["metadata"]["name"])
    server.define(pools)
    refused += [
        f"{name}, by the project: {why}"
        for name, body in objects
        if body["apiVersion"] == POOLS and (why := server.refuses(body))
    ]
    left = sorted({each.type for found in samples.values() for each in found} & set(LEFT_OUT))
    with capsys.disabled():
        print(f"\n{len(objects)} objects of {len(samples)} samples; left out: {', '.join(left)}")  # noqa: T201
    assert not refused, "\n".join(refused)
    assert left == sorted(LEFT_OUT), "what is listed as left out and is not there any more"
    assert {GANG, "InferencePool", "BackendTLSPolicy", "EnvoyProxy", "Job", "Secret"} <= {
        body["kind"] for _, body in objects
    }
