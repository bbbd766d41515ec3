"""What is wrong in a snapshot document beyond its fields: names that lead nowhere, what stands twice, what cannot be.

The scheduler takes a snapshot at its word. A mistake that it would pass over in silence gives an answer to another
question, and what nobody can count is promised to others; so everything here is refused, at its path.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from automation.document.snapshot_document import ReplicaPart, SnapshotDocument
from automation.scheduling.observation import CLOCKS
from components.api.codes import Code
from components.api.near import did_you_mean
from components.api.nodes import PathPart
from components.lock import CacheShape, EngineShape, MemberPlacement, ReplicaShape

_PLACEMENT = (
    "write `placement: [{engine: ENGINE, members: [{pool: POOL, claims: [{request: REQUEST, deviceClass: CLASS}]}]}]`,"
    " an engine's members in the order of its shape"
)


Path = tuple[PathPart, ...]


class Mistake(NamedTuple):
    """One mistake: which kind it is, what is wrong, where, and what to write."""

    code: Code
    message: str
    path: Path
    help: str = ""


def mistakes_in(document: SnapshotDocument) -> list[Mistake]:
    """Return everything that is wrong in a document, kind after kind."""
    checks = (_dangling, _strategies, _twice, _numberless, _pools, _futures, _replicas)
    return [each for check in checks for each in check(document)]


def _dangling(document: SnapshotDocument) -> Iterator[Mistake]:
    """Yield what is named and not there, or there under the wrong kind."""
    missing = Code.REFERENCE_MISSING
    for index, cluster in enumerate(document.clusters):
        for number, pool in enumerate(cluster.pools):
            if pool.hardware not in document.hardware:
                hint = did_you_mean(pool.hardware, list(document.hardware))
                path = ("clusters", index, "pools", number, "hardware")
                yield Mistake(missing, f"there is no hardware {pool.hardware!r}", path, hint)
    groups: tuple[tuple[str, list[str], type[ReplicaShape | CacheShape]], ...] = (
        ("deployments", [each.shape for each in document.deployments], ReplicaShape),
        ("replicas", [each.shape for each in document.replicas], ReplicaShape),
        ("caches", [each.shape for each in document.caches], CacheShape),
    )
    for group, names, kind in groups:
        known = {name for name, shape in document.shapes.items() if isinstance(shape, kind)}
        for index, name in enumerate(names):
            if name not in known:
                message = f"there is no {kind.__name__} {name!r} in shapes"
                yield Mistake(missing, message, (group, index, "shape"), did_you_mean(name, known))
    clusters = {each.name for each in document.clusters}
    places = {
        "replicas": [each.cluster for each in document.replicas],
        "caches": [each.cluster for each in document.caches],
    }
    for group, names in places.items():
        for index, name in enumerate(names):
            if name not in clusters:
                hint = did_you_mean(name, clusters) or "one that is gone for good stands there with `state: lost`"
                yield Mistake(missing, f"there is no cluster {name!r}", (group, index, "cluster"), hint)


def _strategies(document: SnapshotDocument) -> Iterator[Mistake]:
    if document.options.strategy == "Compatible":
        message = "the strategy Compatible holds for all deployments, so none has its own"
        for index, each in enumerate(document.deployments):
            if each.strategy:
                yield Mistake(Code.FIELD_CONFLICT, message, ("deployments", index, "strategy"))


def _twice(document: SnapshotDocument) -> Iterator[Mistake]:
    """Yield what stands twice under one name, where it does so again."""
    seen: set[tuple[str, str]] = set()
    for kind, name, path in _named(document):
        if (kind, name) in seen:
            yield Mistake(Code.NAME_DUPLICATE, f"{kind} {name} stands twice", path)
        seen.add((kind, name))


def _named(document: SnapshotDocument) -> Iterator[tuple[str, str, Path]]:
    """Yield every kind of thing that has a name, its name among all of its kind, and its path."""
    for index, cluster in enumerate(document.clusters):
        yield "cluster", cluster.name, ("clusters", index)
        for number, pool in enumerate(cluster.pools):
            yield "pool", f"{cluster.name}/{pool.name}", ("clusters", index, "pools", number)
    for name, devices in document.hardware.items():
        for number, device in enumerate(devices):
            yield "device", f"{name}/{device.name}", ("hardware", name, number)
    for name, shape in document.shapes.items():
        yield from _named_in(_engines(shape), name)
    for index, wanted in enumerate(document.deployments):
        yield "deployment", f"{wanted.namespace}/{wanted.name}", ("deployments", index)
    for index, each in enumerate(document.replicas):
        yield "replica", f"{each.namespace}/{each.deployment}/{each.cluster}/{each.index}", ("replicas", index)
        yield "the name of replica", f"{each.namespace}/{each.name}", ("replicas", index, "name")
    for index, staged in enumerate(document.caches):
        yield "cache", f"{staged.namespace}/{staged.cache}/{staged.cluster}/{staged.index}", ("caches", index)


def _named_in(engines: Sequence[EngineShape], shape: str) -> Iterator[tuple[str, str, Path]]:
    for number, engine in enumerate(engines):
        path: Path = ("shapes", shape, "engines", number)
        yield "engine", f"{shape}/{engine.name}", path
        for place, member in enumerate(engine.members):
            for index, request in enumerate(member.requests):
                whose = f"{shape}/{engine.name}/{place}"
                yield "request", f"{whose}/{request.name}", (*path, "members", place, "requests", index)


def _engines(shape: ReplicaShape | CacheShape | None) -> tuple[EngineShape, ...]:
    return shape.engines if isinstance(shape, ReplicaShape) else ()


def _numberless(document: SnapshotDocument) -> Iterator[Mistake]:
    """Yield what of the shapes asks for less than one: no manifest says so, and nobody can count it."""
    for name, shape in document.shapes.items():
        if isinstance(shape, ReplicaShape) and not shape.engines:
            yield Mistake(Code.VALUE_OUT_OF_RANGE, "a replica has at least 1 engine", ("shapes", name, "engines"))
        for number, engine in enumerate(_engines(shape)):
            path: Path = ("shapes", name, "engines", number)
            numbers: dict[Path, int] = {(*path, "copies"): engine.copies}
            for place, member in enumerate(engine.members):
                numbers[*path, "members", place, "pods"] = member.pods
                for index, request in enumerate(member.requests):
                    numbers[*path, "members", place, "requests", index, "count"] = request.count
            for where, value in numbers.items():
                if value < 1:
                    message = f"{where[-1]} must be at least 1, and is {value}"
                    yield Mistake(Code.VALUE_OUT_OF_RANGE, message, where)


def _pools(document: SnapshotDocument) -> Iterator[Mistake]:
    """Yield what of pools and their devices cannot be."""
    for index, cluster in enumerate(document.clusters):
        for number, pool in enumerate(cluster.pools):
            if pool.maximum is not None and pool.maximum < pool.realised:
                message = f"maximum must be at least realised, {pool.realised}, and is {pool.maximum}"
                yield Mistake(Code.VALUE_OUT_OF_RANGE, message, ("clusters", index, "pools", number, "maximum"))
    for name, devices in document.hardware.items():
        for number, device in enumerate(devices):
            path: Path = ("hardware", name, number)
            if device.claimable and not device.device_class:
                message = f"device {device.name!r} is claimed and has no DeviceClass"
                help_ = "write `deviceClass: CLASS`, or `claimable: false` for a kind that is only described"
                yield Mistake(Code.FIELD_MISSING, message, (*path, "deviceClass"), help_)
            for key, typed in device.attributes.items():
                if len(typed) != 1:
                    message = f"attribute {key!r} must have one value, and has {len(typed)}"
                    yield Mistake(Code.FIELD_CONFLICT, message, (*path, "attributes", key))


def _futures(document: SnapshotDocument) -> Iterator[Mistake]:
    """Yield what was seen after ``now``: it would count as fresh for ever."""
    for index, cluster in enumerate(document.clusters):
        versions = cluster.versions
        kinds = {"apiServer": versions.api_server, "kubelet": versions.kubelet, "driver": versions.driver}
        moments = {"seen": cluster.seen, "notReadySince": cluster.not_ready_since}
        moments |= {f"versions.{kind}.seen": each.seen for kind, each in kinds.items() if each}
        for field, moment in moments.items():
            if moment is not None and moment > document.now + CLOCKS:
                message = f"{moment.isoformat()} is later than now, {document.now.isoformat()}"
                help_ = "write `now`, the moment that the snapshot is of"
                yield Mistake(Code.VALUE_OUT_OF_RANGE, message, ("clusters", index, *field.split(".")), help_)


def _replicas(document: SnapshotDocument) -> Iterator[Mistake]:
    """Yield what of the live replicas is on no pool or claims nothing: nobody could count what it holds."""
    for index, replica in enumerate(document.replicas):
        shape = document.shapes.get(replica.shape)
        if isinstance(shape, ReplicaShape):
            yield from _placement(replica, shape, ("replicas", index, "placement"))


def _placement(replica: ReplicaPart, shape: ReplicaShape, path: Path) -> Iterator[Mistake]:
    """Yield what a placement lacks, and what of it is about nothing in the shape.

    An engine of which no member claims anything runs nowhere, so one that asks for devices has claims.
    """
    engines = {each.name: each for each in shape.engines}
    placed: dict[str, tuple[MemberPlacement, ...]] = {}
    for number, each in enumerate(replica.placement):
        where = (*path, number, "engine")
        if each.engine not in engines:
            message = f"its shape has no engine {each.engine!r}"
            yield Mistake(Code.REFERENCE_MISSING, message, where, did_you_mean(each.engine, list(engines)))
        elif each.engine in placed:
            yield Mistake(Code.NAME_DUPLICATE, f"engine {each.engine} stands twice", where)
        placed[each.engine] = each.members
    for engine in shape.engines:
        places = placed.get(engine.name, ())
        if len(places) != len(engine.members):
            said = f"of {len(engine.members)} members of engine {engine.name!r} {len(places)} have a pool"
            yield Mistake(Code.FIELD_MISSING, f"{said}: what a live replica holds must be known", path, help=_PLACEMENT)
        elif any(each.requests for each in engine.members) and not any(each.claims for each in places):
            message = f"engine {engine.name!r} asks for devices and has no claims"
            yield Mistake(Code.FIELD_MISSING, message, path, help=_PLACEMENT)
    for number, each in enumerate(replica.placement):
        if each.engine in engines:
            yield from _claims(each.members, engines[each.engine], (*path, number, "members"))


def _claims(places: tuple[MemberPlacement, ...], engine: EngineShape, path: Path) -> Iterator[Mistake]:
    """Yield the claims of members that are for no request, for one that has a claim, or of no DeviceClass."""
    for place, (member, placement) in enumerate(zip(engine.members, places, strict=False)):
        asked = [each.name for each in member.requests]
        for index, claim in enumerate(placement.claims):
            where = (*path, place, "claims", index)
            if claim.request not in asked:
                message = f"the member has no request {claim.request!r}"
                hint = did_you_mean(claim.request, asked)
                yield Mistake(Code.REFERENCE_MISSING, message, (*where, "request"), hint)
            elif claim.request in [each.request for each in placement.claims[:index]]:
                yield Mistake(Code.NAME_DUPLICATE, f"request {claim.request} has a claim already", where)
            if not claim.device_class:
                yield Mistake(Code.FIELD_MISSING, "the claim names no DeviceClass", (*where, "deviceClass"))
