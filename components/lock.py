"""The lock: what the Pulumi program must build, as data that people review.

A *target lock* is what planning wants in the end; it lies beside the manifests in ``lock/platform.yaml`` and
``lock/<namespace>.yaml`` and is committed. *Step locks* are the same values on the way there and are never written.
A lock names every replica with its placement and its *shape* (what runs, resolved, content-addressed by digest), so
that an old shape can live on beside an edited manifest. It holds nothing volatile: no time, no observation, no price.

Reading and writing files is ``stacks.environment``'s work; this module turns a lock into bytes and back.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, Field

from components.canonical import digest
from components.errors import LockError, NewerLock
from components.lock_model import HeldPool, Labels, LockModel, ordered
from components.naming import CacheId, ReplicaId
from components.run_kind import RunKind

SCHEMA_VERSION = 1
"""Raised when a reader of the previous version would misread a lock; a lock with a higher one is refused."""

PLATFORM_FILE = "platform.yaml"


class Phase(StrEnum):
    """How far a replica is; a target lock knows only SERVING."""

    STARTING = "Starting"
    """Its workload exists or is being created; nothing routes to it."""
    SERVING = "Serving"
    """It has an endpoint, and services route to it."""
    DRAINING = "Draining"
    """It still runs and keeps its endpoint, and no service routes to it."""


class RequestShape(LockModel):
    """What a member asks of its node: ``count`` devices that satisfy every selector (CEL, verbatim)."""

    name: str
    count: int
    selectors: tuple[str, ...]


class MemberShape(LockModel):
    """One pod role of an engine. ``pods`` is its pods per copy: 1, or a worker's node count."""

    role: str
    pods: int = 1
    requests: tuple[RequestShape, ...] = ()
    template: Annotated[dict[str, Any], AfterValidator(ordered)]
    """The pod template as the manifest has it, in JSON, with defaults filled in."""


class EngineShape(LockModel):
    """One process group of a replica, in ``copies`` identical copies."""

    name: str
    copies: int = 1
    phase: str | None = None
    members: tuple[MemberShape, ...]


class CacheUse(LockModel):
    """The staged cache that a replica reads: its name and the digest of its shape."""

    name: str
    shape: str


class ReplicaShape(LockModel):
    """Everything that decides what a replica runs; where it runs is its placement, labels are beside it."""

    kind: Literal["Replica"] = "Replica"
    serving_mode: str = "Unified"
    cache: CacheUse | None = None
    engines: tuple[EngineShape, ...]
    block_size: int | None = None
    """Tokens per block of the engines' caches, where the manifest says it."""


class SecretUse(LockModel):
    """One key of a secret, by name; never its value."""

    name: str
    key: str


class CacheShape(LockModel):
    """Everything that decides what a cache holds."""

    kind: Literal["Cache"] = "Cache"
    source: str
    repo: str
    revision: str | None = None
    size_gib: int = Field(alias="sizeGiB")
    secret: SecretUse | None = None
    include: tuple[str, ...] | None = None
    """Patterns of the files that are staged; all without it."""
    exclude: tuple[str, ...] | None = None
    """Patterns of files that are left out."""
    image: str | None = None
    """Image of the job that stages, where the manifest names one."""


def shape_digest(shape: "ReplicaShape | CacheShape") -> str:
    """Return the content address of a shape."""
    return digest(shape.to_json())


class Claim(LockModel):
    """A request that is claimed by DRA: which request of the member, and the DeviceClass its devices have."""

    request: str
    device_class: str


class MemberPlacement(LockModel):
    """Where a member's pods run: the pool, and its claims (none for a member that claims nothing)."""

    pool: str
    claims: tuple[Claim, ...] = ()


class EnginePlacement(LockModel):
    """Where an engine's members run, in the order of the shape's members."""

    engine: str
    members: tuple[MemberPlacement, ...]


class ReplicaEntry(LockModel):
    """One placed replica. ``name`` is that of its objects on the cluster, assigned once."""

    deployment: str
    cluster: str
    index: int
    name: str
    phase: Phase = Phase.SERVING
    shape: str
    labels: Labels = Field(default_factory=dict)
    placement: tuple[EnginePlacement, ...]
    stays: str | None = None
    """A cluster taint (``key=value:effect``) that it does not tolerate and stays under, because it was there first."""

    def id_in(self, namespace: str) -> ReplicaId:
        """Return the identity of this replica in ``namespace``."""
        return ReplicaId(namespace, self.deployment, self.cluster, self.index)


class CacheEntry(LockModel):
    """One staged copy of a cache on a cluster."""

    cache: str
    cluster: str
    index: int = 0
    shape: str

    def id_in(self, namespace: str) -> CacheId:
        """Return the identity of this copy in ``namespace``."""
        return CacheId(namespace, self.cache, self.cluster, self.index)


class ExternalEndpoint(LockModel):
    """An endpoint outside the fleet, from a ModelEndpoint manifest."""

    name: str
    url: str
    rewrite_path: str | None = None


class Backend(LockModel):
    """One weighted backend of a service: an endpoint (a replica's name, or an external endpoint's) and its weight."""

    endpoint: str
    weight: int


class ServiceEntry(LockModel):
    """A service and where it sends requests now, weights computed."""

    name: str
    backends: tuple[Backend, ...] = ()


class NamespaceEntry(LockModel):
    """A namespace on a cluster. ``created`` says that Berth creates it (and retains it when it goes)."""

    cluster: str
    created: bool = True


class ClusterEntry(LockModel):
    """A cluster that must exist, with the release of its serving stack.

    ``held`` are the pools whose edits are withheld, sorted by name; None when there are none.
    """

    name: str
    source: str
    release: str
    held: tuple[HeldPool, ...] | None = None


class PlatformLock(LockModel):
    """The clusters of an environment (``lock/platform.yaml``).

    ``simulated`` marks a target that was planned from the state of simulated clouds, and ``backed`` one whose clusters
    were real control planes on the planner's machine; they are absent otherwise.
    """

    api_version: Literal["berth.dev/lock"] = "berth.dev/lock"
    kind: Literal["PlatformLock"] = "PlatformLock"
    version: int = SCHEMA_VERSION
    berth: str
    environment: str
    simulated: Literal[True] | None = None
    backed: Literal[True] | None = None
    digest: str
    clusters: tuple[ClusterEntry, ...] = ()
    front_doors: tuple[str, ...] = ()

    @property
    def planned_for(self) -> RunKind:
        """The kind of run that the target is for."""
        return RunKind.of(simulated=bool(self.simulated), backed=bool(self.backed))


class NamespaceLock(LockModel):
    """Everything of one namespace (``lock/<namespace>.yaml``), so that two teams' changes merge."""

    api_version: Literal["berth.dev/lock"] = "berth.dev/lock"
    kind: Literal["NamespaceLock"] = "NamespaceLock"
    version: int = SCHEMA_VERSION
    berth: str
    namespace: str
    digest: str
    namespaces: tuple[NamespaceEntry, ...] = ()
    caches: tuple[CacheEntry, ...] = ()
    replicas: tuple[ReplicaEntry, ...] = ()
    endpoints: tuple[ExternalEndpoint, ...] = ()
    services: tuple[ServiceEntry, ...] = ()
    shapes: dict[str, ReplicaShape | CacheShape] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lock:
    """A whole environment's lock: the platform and every namespace, by name."""

    platform: PlatformLock
    namespaces: Mapping[str, NamespaceLock] = field(default_factory=lambda: MappingProxyType({}))

    def replicas(self) -> Iterator[tuple[ReplicaId, ReplicaEntry, ReplicaShape]]:
        """Yield every replica with its shape, sorted by identity."""
        for namespace, lock in sorted(self.namespaces.items()):
            for entry in sorted(lock.replicas, key=lambda entry: (entry.deployment, entry.cluster, entry.index)):
                shape = lock.shapes[entry.shape]
                assert isinstance(shape, ReplicaShape)
                yield entry.id_in(namespace), entry, shape

    def caches(self) -> Iterator[tuple[CacheId, CacheEntry, CacheShape]]:
        """Yield every staged cache copy with its shape, sorted by identity."""
        for namespace, lock in sorted(self.namespaces.items()):
            for entry in sorted(lock.caches, key=lambda entry: (entry.cache, entry.cluster, entry.index)):
                shape = lock.shapes[entry.shape]
                assert isinstance(shape, CacheShape)
                yield entry.id_in(namespace), entry, shape

    def with_namespaces(self, namespaces: Mapping[str, NamespaceLock]) -> "Lock":
        """Return this lock with other namespaces, normalised: sorted entries, and exactly the shapes that are used."""
        return replace(self, namespaces=MappingProxyType({n: _normal(namespaces[n]) for n in sorted(namespaces)}))


def normalised(lock: Lock) -> Lock:
    """Return ``lock`` with everything sorted and unused shapes dropped: equal locks become equal bytes."""
    platform = lock.platform.model_copy(
        update={"clusters": tuple(sorted(lock.platform.clusters, key=lambda entry: entry.name))}
    )
    return Lock(platform).with_namespaces(lock.namespaces)


def _normal(lock: NamespaceLock) -> NamespaceLock:
    used = {entry.shape for entry in lock.replicas} | {entry.shape for entry in lock.caches}
    used |= {
        shape.cache.shape
        for shape in (lock.shapes[d] for d in used)
        if isinstance(shape, ReplicaShape) and shape.cache and shape.cache.shape in lock.shapes
    }
    return lock.model_copy(
        update={
            "namespaces": tuple(sorted(lock.namespaces, key=lambda entry: entry.cluster)),
            "caches": tuple(sorted(lock.caches, key=lambda entry: (entry.cache, entry.cluster, entry.index))),
            "replicas": tuple(sorted(lock.replicas, key=lambda entry: (entry.deployment, entry.cluster, entry.index))),
            "endpoints": tuple(sorted(lock.endpoints, key=lambda entry: entry.name)),
            "services": tuple(sorted(lock.services, key=lambda entry: entry.name)),
            "shapes": {d: lock.shapes[d] for d in sorted(used)},
        }
    )


_WIDE = 1 << 30  # never fold a line: a folded one makes diffs noisy
_HEADER = "# Written by `berth plan`; review it, commit it, do not edit it.\n"


def dump_lock(lock: Lock) -> dict[str, bytes]:
    """Return the files of a lock (name within ``lock/`` to bytes); equal locks give equal bytes."""
    lock = normalised(lock)
    files = {PLATFORM_FILE: _dump(lock.platform)}
    for namespace, part in lock.namespaces.items():
        files[f"{namespace}.yaml"] = _dump(part)
    return files


class _Dumper(yaml.CSafeDumper):
    """Write every value in full: an anchor in a reviewed file would hide what it stands for."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (the base class's signature)
        """Never alias."""
        return True


def _dump(model: LockModel) -> bytes:
    text = yaml.dump(model.to_json(), Dumper=_Dumper, sort_keys=False, width=_WIDE, allow_unicode=True)
    return (_HEADER + text).encode()


def load_lock(files: Mapping[str, bytes]) -> Lock | None:
    """Read the files of a lock; None when there are none.

    Raises LockError, naming the file, when one cannot be read, contradicts itself, or the platform's part is missing,
    and NewerLock when one was written by a newer schema.
    """
    if not files:
        return None
    platform: PlatformLock | None = None
    namespaces: dict[str, NamespaceLock] = {}
    for name, content in sorted(files.items()):
        document = _document(name, content)
        try:
            if document.get("kind") == "PlatformLock":
                platform = PlatformLock.from_json(document)
            else:
                part = _trusted(name, document)
                namespaces[part.namespace] = part
        except LockError as error:
            raise LockError(f"lock/{name}: {error.summary}", help="berth plan", where=f"lock/{name}") from error
    if platform is None:
        raise LockError("lock/platform.yaml is missing, but other parts of the lock are there", help="berth plan")
    return Lock(platform).with_namespaces(namespaces)


def _trusted(name: str, document: dict[str, Any]) -> NamespaceLock:
    """Read a namespace's part, and check that no merge and no edit by hand tore it.

    Shapes are checked as they stand in the file: a field that a later Berth adds does not change their digests.
    """
    part = NamespaceLock.from_json(document)
    if name != f"{part.namespace}.yaml":
        raise LockError(f"it holds namespace {part.namespace}, whose file is another")
    edited = [key for key, shape in document.get("shapes", {}).items() if digest(shape) != key]
    if edited:
        raise LockError(f"the shape {edited[0]} was edited: its digest is another")
    for entries, kind in ((part.replicas, ReplicaShape), (part.caches, CacheShape)):
        there = [str(entry.id_in(part.namespace)) for entry in entries]
        if len(set(there)) < len(there):
            raise LockError(f"{next(each for each in there if there.count(each) > 1)} is there twice")
        for entry in entries:
            if not isinstance(part.shapes.get(entry.shape), kind):
                raise LockError(f"the shape {entry.shape} of {entry.id_in(part.namespace)} is not there")
    return part


def _document(name: str, content: bytes) -> dict[str, Any]:
    try:
        document = yaml.load(content, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise LockError(f"lock/{name} is not readable YAML", help="berth plan", where=f"lock/{name}") from error
    if not isinstance(document, dict):
        raise LockError(f"lock/{name} does not hold a lock", help="berth plan", where=f"lock/{name}")
    version = document.get("version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise NewerLock(
            f"lock/{name} was written by Berth {document.get('berth', '(unknown)')}, whose lock format {version}"
            f" is newer than the {SCHEMA_VERSION} that this Berth reads",
            consequence="Nothing was changed.",
            help="upgrade Berth",
            where=f"lock/{name}",
        )
    return document
