"""What the checks judge: plain facts of clusters, pools, replicas and caches.

The program makes them from manifests and lock; the policy pack makes them from what components registered with the
engine. Both then apply the same rules, so that a plan and a plain ``pulumi up`` are judged alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from components.lock import EnginePlacement, ReplicaShape


@dataclass(frozen=True, slots=True, order=True)
class Taint:
    """A cluster's or a node's taint."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Return ``key=value:effect``, as kubectl writes it."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"

    @classmethod
    def from_props(cls, props: Mapping[str, Any]) -> Self:
        """Read ``{key, value, effect}``."""
        return cls(props.get("key") or "", props.get("value") or "", props.get("effect") or "")


@dataclass(frozen=True, slots=True, order=True)
class Toleration:
    """A toleration as Kubernetes has it; an absent field is empty."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    @classmethod
    def from_props(cls, props: Mapping[str, Any]) -> Self:
        """Read ``{key, operator, value, effect}``, each optional."""
        return cls(
            props.get("key") or "",
            props.get("operator") or "Equal",
            props.get("value") or "",
            props.get("effect") or "",
        )

    def tolerates(self, taint: Taint) -> bool:
        """Say whether this toleration covers ``taint`` (the rule of Kubernetes)."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.operator == "Exists":
            return not self.key or self.key == taint.key
        return self.key == taint.key and self.value == taint.value


@dataclass(frozen=True, slots=True)
class DeviceFact:
    """One kind of device on every node of a pool."""

    name: str
    device_class: str
    claim: str
    count: int

    @classmethod
    def from_props(cls, props: Mapping[str, Any]) -> Self:
        """Read a device of a pool's properties."""
        return cls(
            props.get("name") or "",
            props.get("deviceClass") or "",
            props.get("claim") or "DRA",
            int(props.get("count") or 0),
        )


@dataclass(frozen=True, slots=True)
class PoolFact:
    """A node pool: how many nodes it may have, what each carries, and its node taints."""

    cluster: str
    pool: str
    nodes: int
    provisioned: bool
    taints: tuple[Taint, ...]
    devices: tuple[DeviceFact, ...]

    @property
    def has_gpus(self) -> bool:
        """Whether its nodes carry devices that pods claim."""
        return any(device.claim == "DRA" for device in self.devices)

    @classmethod
    def from_props(cls, props: Mapping[str, Any]) -> Self:
        """Read what a Pool component registered."""
        return cls(
            cluster=props["cluster"],
            pool=props["pool"],
            nodes=int(props.get("nodes") or 0),
            provisioned=bool(props.get("provisioned")),
            taints=tuple(Taint.from_props(taint) for taint in props.get("taints") or ()),
            devices=tuple(DeviceFact.from_props(device) for device in props.get("devices") or ()),
        )


@dataclass(frozen=True, slots=True)
class ClusterFact:
    """A cluster and its fleet-level taints."""

    cluster: str
    taints: tuple[Taint, ...]

    @classmethod
    def from_props(cls, props: Mapping[str, Any]) -> Self:
        """Read what a cluster component registered."""
        return cls(props["cluster"], tuple(Taint.from_props(taint) for taint in props.get("taints") or ()))


@dataclass(frozen=True, slots=True)
class MemberFact:
    """The pods of one member of one engine of a replica. ``pods`` counts all copies."""

    engine: str
    role: str
    pool: str
    pods: int
    claims: tuple[tuple[str, int], ...]
    """DeviceClass and count of every request that one pod claims."""
    template: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReplicaFact:
    """One placed replica, as it was placed."""

    replica: str
    namespace: str
    cluster: str
    phase: str
    stays: str
    tolerations: tuple[Toleration, ...]
    members: tuple[MemberFact, ...]
    cache: tuple[str, str] | None
    """Name and shape digest of the cache it reads."""
    footprint: tuple[str, ...] | None
    """Clusters that the cache may be on; None when it is not limited or there is no cache."""

    @classmethod
    def from_props(cls, props: Mapping[str, Any]) -> Self:
        """Read what a Replica component registered."""
        shape = ReplicaShape.from_json(props["shape"])
        placement = tuple(EnginePlacement.from_json(each) for each in props.get("placement") or ())
        footprint = props.get("cacheFootprint")
        return cls(
            replica=f"{props['namespace']}/{props['deployment']}/{props['cluster']}/{int(props['index'])}",
            namespace=props["namespace"],
            cluster=props["cluster"],
            phase=props.get("phase") or "",
            stays=props.get("stays") or "",
            tolerations=tuple(Toleration.from_props(each) for each in props.get("tolerations") or ()),
            members=tuple(members_of(shape, placement)),
            cache=(shape.cache.name, shape.cache.shape) if shape.cache else None,
            footprint=None if footprint is None else tuple(footprint),
        )


@dataclass(frozen=True, slots=True)
class CacheFact:
    """One staged copy of a cache."""

    cache: str
    namespace: str
    cluster: str
    shape: str
    size_gib: int

    @classmethod
    def from_props(cls, props: Mapping[str, Any]) -> Self:
        """Read what a Cache component registered."""
        return cls(
            cache=props["cache"],
            namespace=props["namespace"],
            cluster=props["cluster"],
            shape=props["shapeDigest"],
            size_gib=int(props["shape"]["sizeGiB"]),
        )


@dataclass(frozen=True, slots=True)
class FleetFacts:
    """Everything the checks look at."""

    clusters: tuple[ClusterFact, ...] = ()
    pools: tuple[PoolFact, ...] = ()
    replicas: tuple[ReplicaFact, ...] = ()
    caches: tuple[CacheFact, ...] = ()


def members_of(shape: ReplicaShape, placement: Sequence[EnginePlacement]) -> Iterator[MemberFact]:
    """Join a shape with its placement; an engine that is not placed yields members on no pool."""
    placed = {each.engine: each.members for each in placement}
    for engine in shape.engines:
        where = placed.get(engine.name, ())
        for position, member in enumerate(engine.members):
            place = where[position] if position < len(where) else None
            asked = {request.name: request.count for request in member.requests}
            yield MemberFact(
                engine=engine.name,
                role=member.role,
                pool=place.pool if place else "",
                pods=member.pods * engine.copies,
                claims=tuple((claim.device_class, asked.get(claim.request, 0)) for claim in place.claims)
                if place
                else (),
                template=member.template,
            )
