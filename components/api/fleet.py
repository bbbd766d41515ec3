"""Fleet: everything one environment's manifests say, validated, sorted and immutable.

Equal input in any file, document or key order gives an equal fleet and equal digests. Digests are taken over the
parsed models without their defaults, so that a comment, an explicit default, or a field that a later Berth adds changes
nothing; the apiVersion is left out, because it only says which fields may be written.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from components.api.base import Document
from components.api.device_names import DeviceNames
from components.api.environment import Environment
from components.api.frozen import FrozenDict
from components.api.inference_class import InferenceClass
from components.api.inference_cluster import InferenceCluster
from components.api.inference_gateway import InferenceGateway
from components.api.location import NOWHERE, Location
from components.api.model_cache import ModelCache
from components.api.model_deployment import ModelDeployment
from components.api.model_endpoint import ModelEndpoint
from components.api.model_service import ModelService
from components.api.nodes import written
from components.api.secrets import SecretUse
from components.api.selector_use import SelectorUse
from components.canonical import digest
from components.errors import Problem

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Fleet:
    """The validated manifests of one environment; every mapping is sorted by its key."""

    environment: Environment
    classes: Mapping[str, InferenceClass] = field(default_factory=FrozenDict)
    clusters: Mapping[str, InferenceCluster] = field(default_factory=FrozenDict)
    gateways: Mapping[str, InferenceGateway] = field(default_factory=FrozenDict)
    deployments: Mapping[Key, ModelDeployment] = field(default_factory=FrozenDict)
    services: Mapping[Key, ModelService] = field(default_factory=FrozenDict)
    caches: Mapping[Key, ModelCache] = field(default_factory=FrozenDict)
    endpoints: Mapping[Key, ModelEndpoint] = field(default_factory=FrozenDict)
    sources: Mapping[tuple[str, str, str], Location] = field(default_factory=FrozenDict, compare=False)
    """Where each document stands, by kind, namespace and name."""
    cluster_fields: Mapping[tuple[str, str], Location] = field(default_factory=FrozenDict, compare=False)
    """Where fields of clusters stand that what exists can contradict, by the cluster's name and the written path."""
    secret_uses: tuple[SecretUse, ...] = field(default=(), compare=False)
    """Every use of a secret, with its place, in the order of the documents' keys."""
    selector_uses: tuple[SelectorUse, ...] = field(default=(), compare=False)
    """Every selector of devices, with its place, in the same order."""

    @property
    def name(self) -> str:
        """The environment's name."""
        return self.environment.name

    def place(self, kind: str, name: str, *, namespace: str = "") -> Location:
        """Return where a document stands; nowhere for one that no file has."""
        return self.sources.get((kind, namespace, name), NOWHERE)

    def cluster_field(self, name: str, path: Sequence[str]) -> Location:
        """Return where a field of a cluster's manifest stands, or the deepest thing of it that exists."""
        return self.cluster_fields.get((name, written(path))) or self.place(InferenceCluster.__name__, name)

    def at_cluster_field(self, name: str, path: Sequence[str], problem: Problem) -> Problem:
        """Return a problem with the place of a field of a cluster's manifest."""
        place = self.cluster_field(name, path)
        return replace(
            problem, file=place.file, line=place.line, column=place.column, path=written(path), text=place.text
        )

    @property
    def device_names(self) -> DeviceNames:
        """What the devices of all classes are called by."""
        return DeviceNames.of(device for each in self.classes.values() for device in each.spec.devices)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Every namespace that holds a document, sorted."""
        return tuple(sorted({document.namespace for document in self.documents() if document.NAMESPACED}))

    def documents(self) -> Iterator[Document]:
        """Yield every document: the environment, then each kind sorted by namespace and name."""
        yield self.environment
        groups: tuple[Mapping[Any, Document], ...] = (
            self.classes,
            self.clusters,
            self.gateways,
            self.deployments,
            self.services,
            self.caches,
            self.endpoints,
        )
        for group in groups:
            yield from group.values()

    def platform_digest(self, *, clusters: Collection[str] | None = None) -> str:
        """Digest of the environment, classes, clusters and gateways.

        With ``clusters``, of no other clusters than these, and of the classes that their pools use.
        """
        documents = [document for document in self.documents() if not document.NAMESPACED]
        if clusters is not None:
            others = {id(each) for name, each in self.clusters.items() if name not in clusters}
            pools = [pool for name in clusters if name in self.clusters for pool in self.clusters[name].spec.node_pools]
            used = {pool.class_name for pool in pools}
            others |= {id(each) for name, each in self.classes.items() if name not in used}
            documents = [document for document in documents if id(document) not in others]
        return _digest(documents)

    def namespace_digest(self, namespace: str) -> str:
        """Digest of one namespace's deployments, services, caches and endpoints."""
        return _digest(
            document for document in self.documents() if document.NAMESPACED and document.namespace == namespace
        )


def _digest(documents: Iterable[Document]) -> str:
    return digest(
        [
            document.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"api_version"})
            for document in sorted(documents, key=lambda document: document.key)
        ]
    )
