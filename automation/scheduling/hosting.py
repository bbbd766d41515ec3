"""Hosting: on which pools of a cluster the engines of a replica could run, room aside.

It depends on what the engines need and on the kinds of pools a cluster has, not on the cluster itself; a fleet of
thousands of clusters has few distinct pairs of the two, so each is worked out once. All members of one engine share a
pool; a gang may also span two pools of one fabric (not under ``Compatible``). Room, and which of several possible pools
is taken, is decided elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations
from typing import Self

from automation.scheduling.hardware import Hardware
from automation.scheduling.matching import Match, Matcher, Mismatch, Requests, requests_of
from automation.scheduling.patterns import Demand
from components.lock import Claim, ReplicaShape


@dataclass(frozen=True, slots=True)
class MemberNeed:
    """One pod role: ``pods`` counts all copies of its engine."""

    role: str
    pods: int
    requests: Requests


@dataclass(frozen=True, slots=True)
class Need:
    """What the engines of a replica ask of a cluster, in order; replicas that ask the same share one value."""

    number: int
    engines: tuple[tuple[MemberNeed, ...], ...]

    @property
    def size(self) -> int:
        """Devices that one replica asks for, all pods together: the measure of how hard it is to place."""
        return sum(
            member.pods * count for engine in self.engines for member in engine for _, count, _ in member.requests
        )


class Needs:
    """Every distinct need of a snapshot."""

    def __init__(self) -> None:
        self._by_digest: dict[str, Need] = {}
        self._by_value: dict[tuple[tuple[MemberNeed, ...], ...], Need] = {}

    def of(self, shape: ReplicaShape, digest: str) -> Need:
        """Return what a shape needs; ``digest`` is the shape's."""
        need = self._by_digest.get(digest)
        if need is None:
            engines = tuple(
                tuple(MemberNeed(each.role, each.pods * engine.copies, requests_of(each)) for each in engine.members)
                for engine in shape.engines
            )
            need = self._by_value.setdefault(engines, Need(len(self._by_value), engines))
            self._by_digest[digest] = need
        return need


@dataclass(frozen=True, slots=True)
class PoolKind:
    """What matters of a pool for hosting: its hardware, its fabric, its price, and whether it takes new pods."""

    hardware: Hardware
    fabric: str = ""
    price: Decimal | None = None
    open: bool = True


Profile = tuple[PoolKind, ...]
"""The kinds of a cluster's pools, in order."""

Add = tuple[int, Demand, int]
"""Pool (position), what each pod takes, and how many pods."""


@dataclass(frozen=True, slots=True)
class Option:
    """One way to host an engine: the pool and the claims of each member, and what it adds to which pool.

    ``cost`` is USD per hour, None when a price is not known. ``wanted`` says how much the fleet wants its hardware.
    """

    pools: tuple[int, ...]
    claims: tuple[tuple[Claim, ...], ...]
    adds: tuple[Add, ...]
    cost: Decimal | None = None
    wanted: int = 0

    @property
    def rank(self) -> tuple[bool, Decimal, int]:
        """Cheapest first (unknown prices last), then the hardware that is wanted least."""
        return (self.cost is None, self.cost or Decimal(0), self.wanted)


@dataclass(frozen=True, slots=True)
class Hosting:
    """For every engine its options, best first; at least one each.

    ``rank`` is that of the best options together: how a cluster compares before its room is known.
    """

    engines: tuple[tuple[Option, ...], ...]
    rank: tuple[bool, Decimal, int]

    @classmethod
    def of(cls, engines: tuple[tuple[Option, ...], ...]) -> Self:
        """Rank a set of options."""
        best = [options[0] for options in engines]
        cost = sum((option.cost or Decimal(0) for option in best), Decimal(0))
        rank = (any(option.cost is None for option in best), cost, sum(option.wanted for option in best))
        return cls(engines, rank)


class Hostings:
    """Answers for all needs and profiles of one snapshot."""

    def __init__(self, matcher: Matcher, *, whole_nodes: bool, first_fit_only: bool) -> None:
        self.matcher = matcher
        self._whole_nodes = whole_nodes
        self._first_fit_only = first_fit_only
        self._known: dict[tuple[int, int], Hosting | None] = {}
        self._profiles: dict[Profile, int] = {}
        self._wanted: dict[int, int] = {}

    def profile_number(self, profile: Profile) -> int:
        """Return the number under which a profile is known; equal profiles have equal numbers."""
        return self._profiles.setdefault(profile, len(self._profiles))

    def want(self, need: Need, replicas: int, hardware: Sequence[Hardware]) -> None:
        """Count the pods of ``replicas`` copies of ``need`` as wanting every hardware that suits them."""
        if self._first_fit_only:
            return
        for each in hardware:
            for member in (member for engine in need.engines for member in engine if member.requests):
                match = self.matcher.match(member.requests, each)
                if isinstance(match, Match) and match.demand:
                    self._wanted[each.number] = self._wanted.get(each.number, 0) + member.pods * replicas

    def of(self, need: Need, number: int, profile: Profile) -> Hosting | None:
        """Return how a cluster of ``profile`` (known under ``number``) hosts ``need``; None when it cannot."""
        key = (need.number, number)
        if key not in self._known:
            engines = [self.options(engine, profile) for engine in need.engines]
            self._known[key] = Hosting.of(tuple(engines)) if all(engines) else None
        return self._known[key]

    def of_any_fabric(self, need: Need, profile: Profile) -> Hosting | None:
        """Return how ``need`` could be hosted if all pools shared a fabric: only to explain a refusal."""
        engines = [self.options(engine, profile, any_fabric=True) for engine in need.engines]
        return Hosting.of(tuple(engines)) if all(engines) else None

    def options(
        self, engine: tuple[MemberNeed, ...], profile: Profile, *, any_fabric: bool = False
    ) -> tuple[Option, ...]:
        """Return every way to host one engine, best first."""
        matches = [[self.matcher.match(member.requests, kind.hardware) for kind in profile] for member in engine]
        claims_somewhere = [any(isinstance(each, Match) and each.demand for each in row) for row in matches]

        def suits(member: int, pool: int) -> bool:
            match = matches[member][pool]
            if isinstance(match, Mismatch) or not profile[pool].open:
                return False
            return not (match.deferred and claims_somewhere[member])  # it would be stranded beside real devices

        places = [(pool,) * len(engine) for pool in range(len(profile))]
        if len(engine) > 1 and not self._first_fit_only and all(member.requests for member in engine):
            places += [
                pair
                for pair in permutations(range(len(profile)), len(engine))
                if any_fabric or (profile[pair[0]].fabric and len({profile[pool].fabric for pool in pair}) == 1)
            ]
        options = []
        for pools in places:
            found = [matches[member][pool] for member, pool in enumerate(pools) if suits(member, pool)]
            taken = [match for match in found if isinstance(match, Match)]
            if len(taken) == len(engine) and any(match.demand for match in taken):
                options.append(self._option(engine, profile, pools, taken))
        return tuple(options if self._first_fit_only else sorted(options, key=lambda option: option.rank))

    def _option(
        self, engine: tuple[MemberNeed, ...], profile: Profile, pools: tuple[int, ...], matches: Sequence[Match]
    ) -> Option:
        adds: dict[tuple[int, Demand], int] = {}
        cost: Decimal | None = Decimal(0)
        for member, pool, match in zip(engine, pools, matches, strict=True):
            if match.demand:
                adds[pool, match.demand] = adds.get((pool, match.demand), 0) + member.pods
                price = profile[pool].price
                share = Decimal(1) if self._whole_nodes else _share(profile[pool].hardware, match.demand)
                cost = None if price is None or cost is None else cost + price * share * member.pods
        return Option(
            pools=pools,
            claims=tuple(match.claims for match in matches),
            adds=tuple((pool, demand, pods) for (pool, demand), pods in adds.items()),
            cost=cost,
            wanted=max(self._wanted.get(profile[pool].hardware.number, 0) for pool in pools),
        )


def _share(hardware: Hardware, demand: Demand) -> Decimal:
    """Return the part of a node that a pod takes: that of the kind it takes most of."""
    return max(Decimal(taken) / has for taken, has in zip(demand, hardware.node.has, strict=True))
