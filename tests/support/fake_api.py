"""An API server in memory, behind the transport of the HTTP client: lists in pages, refusals, questions of permission.

What it answers is what a real one does, as far as a reader depends on it; ``tests/kubernetes`` holds the same reader
against real ones.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from automation.observe.access import Access
from automation.observe.api import ClusterApi
from automation.rehearsal.kubernetes.machines import Machine
from automation.rehearsal.kubernetes.nodes import device_classes, node, resource_slices
from components.labels import Label

Object = dict[str, Any]

SERVER = "https://edge.test:6443"
DRA = "/apis/resource.k8s.io/v1"
SLICES = f"{DRA}/resourceslices"
CLAIMS = f"{DRA}/resourceclaims"
TEMPLATES = f"{DRA}/resourceclaimtemplates"
CLASSES = f"{DRA}/deviceclasses"
NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
STORAGE = "/apis/storage.k8s.io/v1/storageclasses"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@dataclass
class FakeApi:
    """One API server. ``refused`` gives a status for a path; ``denied`` what whoever asks may not do."""

    lists: dict[str, list[Object]] = field(default_factory=dict)
    documents: dict[str, Any] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    says: dict[str, str] = field(default_factory=dict)
    """What it says with the refusal of a path."""
    denied: set[tuple[str, str, str]] = field(default_factory=set)
    """Verb, group and resource."""
    user: str = "me"
    page: int = 500
    """Objects in a page at most, whatever is asked for."""
    before: Callable[[httpx.Request], None] = lambda _request: None
    asked: list[str] = field(default_factory=list)
    admitted: Callable[[Object], Object] = lambda sent: sent
    """What the server makes of an object that is sent to it."""

    def __post_init__(self) -> None:
        self.lists = {
            **{path: [] for path in (NODES, PODS, SLICES, CLAIMS, TEMPLATES, STORAGE, DEFINITIONS)},
            CLASSES: list(device_classes()),
            **self.lists,
        }
        self.documents = {
            "/version": {"gitVersion": "v1.34.4", "major": "1", "minor": "34"},
            "/readyz": "ok",
            DRA: {"resources": [{"name": name} for name in _DRA_RESOURCES]},
            **self.documents,
        }

    def api(self, *, seconds: float = 5) -> ClusterApi:
        """Open a client of it."""
        return ClusterApi(Access(SERVER, token="sample"), seconds=seconds, transport=httpx.MockTransport(self.answer))

    def join(self, name: str, machine: Machine, *, pool: str = "gpu", tainted: bool = True) -> Object:
        """Add a node that looks like a machine, with what its drivers publish; returns it to be changed."""
        made = node(name, machine, labels={Label.POOL.value: pool} if pool else {}, tainted=tainted)
        made["metadata"]["uid"] = f"uid-{name}"
        made["status"]["nodeInfo"]["kubeletVersion"] = "v1.34.4"
        self.lists[NODES].append(made)
        self.lists[SLICES] += resource_slices(made, machine)
        return made

    def devices(self, node_name: str, driver: str = "gpu.nvidia.com") -> list[Object]:
        """Return what a driver publishes of a node, to be changed."""
        found = next(
            each
            for each in self.lists[SLICES]
            if each["spec"]["nodeName"] == node_name and each["spec"]["driver"] == driver
        )
        devices: list[Object] = found["spec"]["devices"]
        return devices

    def allocate(self, pod: str, node_name: str, *devices: str, template: str = "", namespace: str = "ml") -> None:
        """Run a pod on a node with devices; a ``template`` is the one of its claim."""
        results = [{"driver": "gpu.nvidia.com", "pool": node_name, "device": each, "request": "r"} for each in devices]
        self.lists[CLAIMS].append(
            {
                "metadata": {"namespace": namespace, "name": f"{pod}-claim"},
                "status": {
                    "allocation": {"devices": {"results": results}},
                    "reservedFor": [{"resource": "pods", "name": pod, "uid": f"uid-{pod}"}],
                },
            }
        )
        claim = {"name": "devices", "resourceClaimTemplateName": template} if template else {"name": "d"}
        self.lists[PODS].append(
            {
                "metadata": {"namespace": namespace, "name": pod, "uid": f"uid-{pod}"},
                "spec": {
                    "nodeName": node_name,
                    "nodeSelector": {Label.POOL.value: "gpu"} if template else {},
                    "resourceClaims": [claim],
                },
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            }
        )

    def template(self, name: str, replica: str, *, environment: str = "dev", namespace: str = "ml") -> None:
        """Add a claim template as Berth makes it for a replica."""
        metadata = {
            "namespace": namespace,
            "name": name,
            "labels": {Label.ENVIRONMENT.value: environment},
            "annotations": {Label.OWNER.value: replica},
        }
        self.lists[TEMPLATES].append({"metadata": metadata})

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        path = request.url.path
        self.asked.append(f"{request.method} {path}")
        self.before(request)
        if status := self.refused.get(path):
            said = self.says.get(path, f"refused with {status}")
            return httpx.Response(status, json={"kind": "Status", "message": said})
        if request.method == "POST":
            return self._post(path, json.loads(request.content), request.url.params)
        if path in self.lists:
            return self._list(path, request.url.params)
        if path in self.documents:
            found = self.documents[path]
            return httpx.Response(200, text=found) if isinstance(found, str) else httpx.Response(200, json=found)
        return httpx.Response(404, json={"kind": "Status", "message": "the server could not find it"})

    def _post(self, path: str, sent: Object, parameters: Mapping[str, str]) -> httpx.Response:
        if path == REVIEW:
            asked = sent["spec"]["resourceAttributes"]
            key = (asked["verb"], asked["group"], asked["resource"])
            return httpx.Response(201, json={"status": {"allowed": not self._denies(key)}})
        if path == WHO:
            return httpx.Response(201, json={"status": {"userInfo": {"username": self.user}}})
        assert parameters.get("dryRun") == "All", "a reader makes nothing"
        return httpx.Response(201, json=self.admitted(sent))

    def _denies(self, key: tuple[str, str, str]) -> bool:
        """Whether something is denied; whoever may not do one thing may not do everything."""
        return key in self.denied or (key == ("*", "*", "*") and bool(self.denied))

    def _list(self, path: str, parameters: Mapping[str, str]) -> httpx.Response:
        wanted = dict([parameters["labelSelector"].split("=")]) if "labelSelector" in parameters else {}
        items = [each for each in self.lists[path] if wanted.items() <= each["metadata"].get("labels", {}).items()]
        start, limit = int(parameters.get("continue", 0)), min(self.page, int(parameters["limit"]))
        following = str(start + limit) if start + limit < len(items) else ""
        return httpx.Response(200, json={"items": items[start : start + limit], "metadata": {"continue": following}})


_DRA_RESOURCES = ("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices")
