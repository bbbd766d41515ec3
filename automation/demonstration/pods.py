"""The clusters of a backed run as their API servers tell of them: pods, the nodes they are bound to, their devices."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from automation.rehearsal.kubernetes.api import Api
from components.labels import Label

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Device:
    """A device that a claim was given: for which of its requests, and on which node."""

    request: str
    node: str
    name: str


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod of a replica: where it is bound, what it was given, and whether it is ready."""

    cluster: str
    namespace: str
    name: str
    replica: str
    """Name of the replica's objects on the cluster."""
    image: str
    node: str
    pool: str
    """What the label of the node says, whatever the pod asked for."""
    devices: tuple[Device, ...]
    ready: bool

    @property
    def tag(self) -> str:
        """The tag of its image."""
        return self.image.rpartition(":")[2]

    @property
    def place(self) -> str:
        """What it serves and where, as the demo checks it."""
        return f"{self.namespace} {self.tag} on {self.cluster}"

    @property
    def counts(self) -> Mapping[str, int]:
        """How many devices it was given for each request."""
        return Counter(each.request for each in self.devices)

    @classmethod
    def read(
        cls, cluster: str, pod: Object, claims: Mapping[tuple[str, str], Object], pools: Mapping[str, str]
    ) -> Self:
        """Read a pod with its claims; ``pools`` are the pools of the cluster's nodes by the nodes' names."""
        metadata, status = pod["metadata"], pod["status"]
        namespace, node = metadata["namespace"], pod["spec"].get("nodeName", "")
        names = [each.get("resourceClaimName") for each in status.get("resourceClaimStatuses", ())]
        found = [claims[namespace, name] for name in names if (namespace, name) in claims]
        results = [
            result
            for claim in found
            for result in claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
        ]
        return cls(
            cluster=cluster,
            namespace=namespace,
            name=metadata["name"],
            replica=metadata.get("labels", {}).get(Label.SERVING.value, ""),
            image=pod["spec"]["containers"][0]["image"],
            node=node,
            pool=pools.get(node, ""),
            # The driver publishes the devices of a node as a pool of the node's name.
            devices=tuple(sorted(Device(each["request"], each["pool"], each["device"]) for each in results)),
            ready=any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions", ())),
        )


class Watched:
    """A local cluster, as whoever looks at it sees it; ``names`` are those that manifests give to clusters."""

    def __init__(self, described: dict[str, Any], names: tuple[str, ...]) -> None:
        self.physical: str = described["name"]
        self.name: str = next(each for each in names if f"-{each}-" in self.physical)
        self.pids: dict[str, int] = described["pids"]
        folder = Path(described["kubeconfig"]).parent
        token = (folder / "tokens.csv").read_text(encoding="utf-8").partition(",")[0]
        self.api = Api(described["server"], authority=folder / "apiserver.crt", token=token)

    def pods(self) -> Iterator[Pod]:
        """Give the pods of replicas that are not asked to go; raises ApiError when the API server does not answer."""
        claims = {
            (each["metadata"]["namespace"], each["metadata"]["name"]): each
            for each in self.api.items("/apis/resource.k8s.io/v1/resourceclaims")
        }
        pools = {
            each["metadata"]["name"]: each["metadata"].get("labels", {}).get(Label.POOL.value, "")
            for each in self.api.items("/api/v1/nodes")
        }
        for each in self.api.items("/api/v1/pods"):
            metadata = each["metadata"]
            if Label.SERVING.value in metadata.get("labels", {}) and "deletionTimestamp" not in metadata:
                yield Pod.read(self.name, each, claims, pools)
