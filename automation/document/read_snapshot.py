"""From a snapshot document to the scheduler's values, with every mistake at its place.

YAML and JSON are read by the same reader as manifests, so a mistake has a line and a column, and a misspelt field a
near match. A document beyond the size of a manifest (a saved snapshot of thousands of clusters) must be JSON; its
mistakes have a path.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from automation.document.snapshot_document import (
    ClusterPart,
    DeploymentPart,
    DevicePart,
    PoolPart,
    ResourcesPart,
    SnapshotDocument,
    VersionPart,
)
from automation.document.snapshot_problems import mistakes_in
from automation.scheduling.existing import ExistingCache, ExistingReplica
from automation.scheduling.observation import ForeignPod, PoolObservation
from automation.scheduling.resources import Resources, read
from automation.scheduling.snapshot import (
    Accounting,
    Budget,
    CacheNeed,
    Cluster,
    ClusterState,
    Deployment,
    Device,
    FabricKind,
    FabricNeed,
    Options,
    Pool,
    PoolBefore,
    Purchase,
    Quota,
    Refusal,
    Snapshot,
    Strategy,
    Version,
    Versions,
)
from components.api.codes import Code
from components.api.compose import compose
from components.api.composed import MAX_BYTES
from components.api.environment import usual_accounting
from components.api.nodes import MappingNode, find, plain, written
from components.api.source import Source
from components.api.translate import translate
from components.checks.facts import Taint, Toleration
from components.errors import ConfigError, Problem
from components.lock import CacheEntry, CacheShape, Phase, ReplicaEntry, ReplicaShape, shape_digest
from components.naming import ReplicaId

if TYPE_CHECKING:
    from components.api.base import Document

_DIGEST = "sha256:"


def read_snapshot(file: str, content: bytes) -> Snapshot:
    """Read a snapshot document; ``file`` only names it. Raises ConfigError with every problem that it has."""
    return _Reader(_large(file, content) if len(content) > MAX_BYTES else _ordinary(file, content)).snapshot()


def _ordinary(file: str, content: bytes) -> SnapshotDocument:
    composed = compose(file, content)
    if composed.problems:
        raise ConfigError(composed.problems)
    if len(composed.documents) != 1 or not isinstance(composed.documents[0], MappingNode):
        raise ConfigError([Problem(Code.DOCUMENT_SHAPE, "a snapshot is one document, a mapping", file)])
    source = Source(composed, composed.documents[0], cast("type[Document]", SnapshotDocument))
    try:
        document = SnapshotDocument.model_validate(plain(source.node), by_alias=True, by_name=False)
    except ValidationError as error:
        errors = [cast("dict[str, Any]", each) for each in error.errors()]
        translate(source, (each for each in errors if not _of_shape(each)))
        raise ConfigError([*source.problems, *_in_shapes(source, filter(_of_shape, errors))]) from error
    for each in mistakes_in(document):
        source.add(each.code, each.message, each.path, hint=each.help)
    if source.problems:
        raise ConfigError(source.problems)
    return document


_KINDS: dict[str, type[ReplicaShape | CacheShape]] = {"Replica": ReplicaShape, "Cache": CacheShape}


def _of_shape(error: Mapping[str, Any]) -> bool:
    """Whether an error is inside a shape whose kind is known; its path then has the kind where no field is."""
    return error["loc"][:1] == ("shapes",) and error["loc"][2:3] in {(kind,) for kind in _KINDS}


def _in_shapes(source: Source, errors: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    """Yield the problems of shapes, each read as a document of its kind."""
    for error in errors:
        _, name, kind, *inside = error["loc"]
        node = find(source.node, ("shapes", name)).value
        assert isinstance(node, MappingNode)  # or it would have no kind
        one = Source(source.composed, node, cast("type[Document]", _KINDS[kind]))
        translate(one, [{**error, "loc": tuple(inside)}])
        for problem in one.problems:
            yield replace(problem, path=f"shapes.{name}" + (f".{problem.path}" if problem.path else ""))


def _large(file: str, content: bytes) -> SnapshotDocument:
    try:
        value = json.loads(content)
    except ValueError as error:
        hint = f"a snapshot of more than {MAX_BYTES // 1024 // 1024} MiB is read as JSON only"
        raise ConfigError([Problem(Code.FILE_TOO_LARGE, "the file is not JSON", file, help=hint)]) from error
    try:
        document = SnapshotDocument.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise ConfigError(
            [
                Problem(Code.VALUE_INVALID, "the value is not valid here", file, path=written(each["loc"]))
                for each in error.errors()
            ]
        ) from error
    problems = [
        Problem(each.code, each.message, file, path=written(each.path), help=each.help)
        for each in mistakes_in(document)
    ]
    if problems:
        raise ConfigError(problems)
    return document


class _Reader:
    """Turns one document, whose references all lead somewhere, into values."""

    def __init__(self, document: SnapshotDocument) -> None:
        self._document = document
        self._hardware = {name: tuple(map(_device, devices)) for name, devices in document.hardware.items()}
        self._digests = {
            name: name if name.startswith(_DIGEST) else shape_digest(shape) for name, shape in document.shapes.items()
        }

    def snapshot(self) -> Snapshot:
        """Return the whole snapshot."""
        document = self._document
        budget = document.budget
        return Snapshot(
            clusters=tuple(map(self._cluster, document.clusters)),
            deployments=tuple(map(self._deployment, document.deployments)),
            replicas=tuple(self._replicas()),
            caches=tuple(self._caches()),
            held=frozenset((each.namespace, each.name) for each in document.held),
            names={
                space: frozenset(each.name for each in document.names if each.namespace == space)
                for space in sorted({each.namespace for each in document.names})
            },
            options=Options(
                Strategy(document.options.strategy),
                Accounting(document.options.accounting or usual_accounting(document.options.strategy)),
                repin_dwell=document.options.repin_dwell,
                preemption=document.options.preemption,
                observation_age=document.options.observation_age,
                max_surge=document.options.max_surge,
                max_surge_per_cluster=document.options.max_surge_per_cluster,
                fabric=_fabric(document.options.fabric),
            ),
            now=document.now,
            quotas={
                namespace: Quota(each.devices, each.nodes, each.max_cost_per_hour)
                for namespace, each in sorted(document.quotas.items())
            },
            budget=Budget(budget.max_cost_per_hour, advisory=budget.enforcement == "Advisory") if budget else None,
        )

    def _cluster(self, part: ClusterPart) -> Cluster:
        return Cluster(
            name=part.name,
            state=ClusterState(part.state),
            why=part.why,
            source=part.source,
            region=part.region,
            labels=part.labels,
            taints=tuple(Taint(each.key, each.value, each.effect) for each in part.taints),
            pools=tuple(map(self._pool, part.pools)),
            storage_class=part.storage_class,
            seen=part.seen,
            not_ready_since=part.not_ready_since,
            zone=part.zone,
            versions=Versions(*map(_version, (part.versions.api_server, part.versions.kubelet, part.versions.driver))),
        )

    def _pool(self, part: PoolPart) -> Pool:
        seen, before = part.observed, part.before
        foreign = (
            tuple(ForeignPod(tuple(each.devices.items()), _resources(each.requests)) for each in seen.foreign)
            if seen
            else ()
        )
        return Pool(
            name=part.name,
            class_name=part.class_name,
            devices=self._hardware[part.hardware],
            realised=part.realised,
            maximum=part.realised if part.maximum is None else part.maximum,
            scales=part.scales,
            fabric=part.fabric,
            fabric_kind=FabricKind(part.fabric_kind),
            leaving=part.leaving,
            price=part.price,
            observed=PoolObservation(seen.usable, seen.unusable, foreign) if seen else None,
            purchase=Purchase(part.purchase),
            before=PoolBefore(before.nodes, before.class_name) if before else None,
            allocatable=_resources(part.allocatable),
            refused=Refusal(part.refused.until, part.refused.why) if part.refused else None,
        )

    def _deployment(self, part: DeploymentPart) -> Deployment:
        shape = self._document.shapes[part.shape]
        assert isinstance(shape, ReplicaShape)
        cache = part.cache
        return Deployment(
            namespace=part.namespace,
            name=part.name,
            replicas=part.replicas,
            shape=shape,
            digest=self._digests[part.shape],
            labels=part.labels,
            selector=part.cluster_selector,
            tolerations=tuple(
                Toleration(each.key, each.operator, each.value, each.effect) for each in part.tolerations
            ),
            cache=CacheNeed(cache.name, self._digests.get(cache.shape, cache.shape), cache.cluster_selector)
            if cache
            else None,
            priority=part.priority,
            allow_gap=part.allow_gap,
            spot=part.spot,
            strategy=Strategy(part.strategy) if part.strategy else None,
            max_cost_per_hour=part.max_cost_per_hour,
            max_surge=part.max_surge,
            fabric=_fabric(part.fabric),
        )

    def _replicas(self) -> Iterator[ExistingReplica]:
        for part in self._document.replicas:
            shape = self._document.shapes[part.shape]
            assert isinstance(shape, ReplicaShape)
            entry = ReplicaEntry(
                deployment=part.deployment,
                cluster=part.cluster,
                index=part.index,
                name=part.name,
                phase=Phase(part.phase),
                shape=self._digests[part.shape],
                labels=part.labels,
                placement=part.placement,
                stays=part.stays,
            )
            identity = ReplicaId(part.namespace, part.deployment, part.cluster, part.index)
            yield ExistingReplica(identity, entry, shape, ready=part.ready, failure=part.failure)

    def _caches(self) -> Iterator[ExistingCache]:
        for part in self._document.caches:
            shape = self._document.shapes[part.shape]
            assert isinstance(shape, CacheShape)
            entry = CacheEntry(
                cache=part.cache, cluster=part.cluster, index=part.index, shape=self._digests[part.shape]
            )
            yield ExistingCache(entry.id_in(part.namespace), entry, shape, ready=part.ready, failure=part.failure)


def _version(part: VersionPart | None) -> Version | None:
    return None if part is None else Version(part.text, part.seen)


def _resources(part: ResourcesPart) -> Resources:
    return read(part.model_dump(exclude_none=True))


def _fabric(text: str | None) -> FabricNeed | None:
    return None if text is None else FabricNeed(text)


def _device(part: DevicePart) -> Device:
    return Device(
        name=part.name,
        driver=part.driver,
        count=part.count,
        device_class=part.device_class,
        claimable=part.claimable,
        attributes=tuple(
            (key, kind, value) for key, typed in sorted(part.attributes.items()) for kind, value in typed.items()
        ),
        capacity=tuple(sorted(part.capacity.items())),
        accelerator=part.accelerator,
    )
