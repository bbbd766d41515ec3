"""Needs: what the engines of a replica ask of a cluster, and the kinds of pools that clusters have.

Both are interned: replicas that ask the same share one value with one number, and so do pools with the same hardware,
fabric and price. Everything that follows from a pair of them is worked out once for the whole fleet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from automation.scheduling.hardware import Hardware
from automation.scheduling.matching import Requests, requests_of
from automation.scheduling.resources import Resources, requested
from automation.scheduling.snapshot import FabricKind, FabricNeed, Pool, Purchase
from components.lock import ReplicaShape


@dataclass(frozen=True, slots=True)
class MemberNeed:
    """One pod role: ``pods`` counts all copies of its engine."""

    role: str
    pods: int
    requests: Requests
    resources: Resources = ()
    """CPU and memory, where some pool of the fleet says what it has of them."""


@dataclass(frozen=True, slots=True, eq=False)
class EngineNeed:
    """The members of one engine."""

    number: int
    members: tuple[MemberNeed, ...]
    spot: bool = False
    """Whether it may run on nodes that can be taken away."""
    fabric: FabricNeed | None = None
    """What a gang needs of the network between its pods; None for an engine of one pod."""


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """What the engines of a replica ask of a cluster, in order."""

    number: int
    engines: tuple[EngineNeed, ...]
    size: int
    """Devices that one replica asks for, all pods together: the measure of how hard it is to place."""


class Needs:
    """Every distinct need of a snapshot; without ``with_resources`` devices alone tell needs apart."""

    def __init__(self, *, with_resources: bool = False) -> None:
        self._with_resources = with_resources
        self._by_digest: dict[tuple[str, bool, FabricNeed], Need] = {}
        self._by_engines: dict[tuple[int, ...], Need] = {}
        self._engines: dict[tuple[tuple[MemberNeed, ...], bool, FabricNeed | None], EngineNeed] = {}

    def of(self, shape: ReplicaShape, digest: str, *, spot: bool = False, fabric: FabricNeed) -> Need:
        """Return what a shape needs; ``digest`` is its own, ``spot`` allows spot nodes, ``fabric`` is for gangs."""
        need = self._by_digest.get((digest, spot, fabric))
        if need is None:
            engines = tuple(
                self._engine(
                    tuple(
                        MemberNeed(
                            each.role,
                            each.pods * engine.copies,
                            requests_of(each),
                            requested(each) if self._with_resources else (),
                        )
                        for each in engine.members
                    ),
                    spot=spot,
                    fabric=fabric,
                )
                for engine in shape.engines
            )
            key = tuple(engine.number for engine in engines)
            need = self._by_engines.get(key)
            if need is None:
                need = self._by_engines[key] = Need(len(self._by_engines), engines, sum(map(_size, engines)))
            self._by_digest[digest, spot, fabric] = need
        return need

    def _engine(self, members: tuple[MemberNeed, ...], *, spot: bool, fabric: FabricNeed) -> EngineNeed:
        key = (members, spot, fabric if len(members) > 1 else None)
        return self._engines.setdefault(key, EngineNeed(len(self._engines), *key))


def _size(engine: EngineNeed) -> int:
    return sum(member.pods * count for member in engine.members for _, count, _ in member.requests)


class Lenience(NamedTuple):
    """What is not asked of pools: only to say what a change would do."""

    spot: bool = False
    """That nodes are not spot ones, where the deployment does not allow those."""
    leaving: bool = False
    """That they stay."""
    fabric: bool = False
    """That the nodes of a gang share the network that it needs."""
    upgraded: bool = False
    """That their cluster's Kubernetes takes every selector."""


STRICT = Lenience()
"""Everything is asked."""


@dataclass(frozen=True, slots=True, eq=False)
class PoolKind:
    """What matters of a pool besides its room: hardware, fabric, price, purchase, and whether it takes new pods."""

    number: int
    hardware: Hardware
    fabric: str
    fabric_kind: FabricKind
    price: Decimal | None
    purchase: Purchase
    open: bool

    def takes(self, engine: EngineNeed) -> bool:
        """Whether it may take new pods of an engine at all."""
        return self.admits(engine) and self.connects(engine)

    def admits(self, engine: EngineNeed, lenience: Lenience = STRICT) -> bool:
        """Whether it takes new pods, and an engine may run on nodes that are bought as its are."""
        spot = engine.spot or lenience.spot
        return (self.open or lenience.leaving) and (spot or self.purchase is not Purchase.SPOT)

    def connects(self, engine: EngineNeed) -> bool:
        """Whether its nodes share the network that an engine needs."""
        return engine.fabric is None or engine.fabric.met_by(self.fabric, self.fabric_kind)


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The kinds of a cluster's pools, in order."""

    number: int
    kinds: tuple[PoolKind, ...]


class Profiles:
    """Every distinct profile of a snapshot."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[int, str, FabricKind, Decimal | None, Purchase, bool], PoolKind] = {}
        self._profiles: dict[tuple[int, ...], Profile] = {}

    def of(self, pools: Sequence[Pool], hardware: Sequence[Hardware]) -> Profile:
        """Return the profile of a cluster with these pools, each of the hardware beside it."""
        kinds = tuple(self._kind(pool, each) for pool, each in zip(pools, hardware, strict=True))
        key = tuple(kind.number for kind in kinds)
        profile = self._profiles.get(key)
        if profile is None:
            profile = self._profiles[key] = Profile(len(self._profiles), kinds)
        return profile

    def _kind(self, pool: Pool, hardware: Hardware) -> PoolKind:
        key = (hardware.number, pool.fabric, pool.fabric_kind, pool.price, pool.purchase, not pool.leaving)
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = PoolKind(len(self._kinds), hardware, *key[1:])
        return kind
