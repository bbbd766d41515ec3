"""Hosting: on which pools of a cluster the engines of a replica could run, room aside.

It depends on what an engine needs and on the kinds of pools a cluster has, not on the cluster itself; a fleet of
thousands of clusters has few distinct pairs, so each is worked out once. All members of one engine share a pool; a gang
may also span two pools of one fabric, or any two if it needs none (not under ``Compatible``). The scheduler of the
cluster chooses the nodes, so every gang is taken to be on several, however small its pods are: a pool whose nodes do
not share the fabric that it needs cannot host it. Room, and which of several possible pools is taken, is decided
elsewhere.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

from automation.scheduling.hardware import Hardware
from automation.scheduling.matching import Match, Matcher, Mismatch
from automation.scheduling.needs import STRICT, EngineNeed, Lenience, MemberNeed, Need, PoolKind, Profile
from automation.scheduling.patterns import Demand
from automation.scheduling.snapshot import FabricNeed, Purchase
from components.lock import Claim

Add = tuple[int, Demand, int]
"""Pool (position), what each pod takes, and how many pods."""

Way = tuple[tuple[PoolKind, Demand, int], ...]
"""What an engine takes by one option: kinds of pools, what each pod takes there, and how many pods."""

Rank = tuple[bool, Decimal, int]
"""Whether a price is unknown, USD per hour, and how much the fleet wants the hardware; smaller is better."""


@dataclass(frozen=True, slots=True)
class Option:
    """One way to host an engine: the pool and the claims of each member, and what it adds to which pool."""

    pools: tuple[int, ...]
    claims: tuple[tuple[Claim, ...], ...]
    adds: tuple[Add, ...]
    rank: Rank


Hosting = tuple[tuple[Option, ...], ...]
"""For every engine its options, best first; at least one each."""

Spot = tuple[int, tuple[Option, ...]]
"""A cluster (position) and the option of every engine."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """How all members of an engine would run on one kind of pool."""

    matches: tuple[Match, ...]
    rank: Rank
    plain: bool
    """No member is satisfied by synthetic kinds alone, so what else the cluster has does not matter."""


class Hostings:
    """Answers for all needs and profiles of one snapshot."""

    def __init__(self, matcher: Matcher, *, whole_nodes: bool, first_fit_only: bool) -> None:
        self.matcher = matcher
        self._whole_nodes = whole_nodes
        self._first_fit_only = first_fit_only
        self._fits: dict[tuple[int, int, bool], _Fit | None] = {}
        self._options: dict[tuple[int, int], tuple[Option, ...]] = {}
        self._of: dict[tuple[int, int], Hosting | None] = {}
        self._wanted: dict[int, int] = {}

    def want(self, need: Need, replicas: int, hardware: Iterable[Hardware]) -> None:
        """Count the pods of ``replicas`` copies of ``need`` as wanting every hardware that suits them."""
        if self._first_fit_only:
            return
        for each in hardware:
            for member in (member for engine in need.engines for member in engine.members if member.requests):
                match = self.matcher.match(member.requests, each, member.resources)
                if isinstance(match, Match) and match.claims:
                    self._wanted[each.number] = self._wanted.get(each.number, 0) + member.pods * replicas

    def of(self, need: Need, profile: Profile) -> Hosting | None:
        """Return how a cluster of ``profile`` hosts ``need``; None when it cannot."""
        key = (need.number, profile.number)
        if key not in self._of:
            engines = tuple(self.options(engine, profile) for engine in need.engines)
            self._of[key] = engines if all(engines) else None
        return self._of[key]

    def rank(self, engines: Iterable[EngineNeed], profile: Profile) -> Rank | None:
        """Return the rank of the best options together, before room is known; None when one engine has none."""
        hosting = [self.options(engine, profile) for engine in engines]
        return together(options[0].rank for options in hosting) if all(hosting) else None

    def options(self, engine: EngineNeed, profile: Profile) -> tuple[Option, ...]:
        """Return every way to host one engine, best first (under ``Compatible`` in the order of pools).

        Pools that share no fabric come last, also for a gang that needs none.
        """
        key = (engine.number, profile.number)
        known = self._options.get(key)
        if known is None:
            found = [*self._single(engine, profile), *self._spanning(engine, profile, apart=False)]
            if not self._first_fit_only:
                found.sort(key=lambda option: option.rank)
            if engine.fabric is FabricNeed.NONE:
                found += sorted(self._spanning(engine, profile, apart=True), key=lambda option: option.rank)
            known = self._options[key] = tuple(found)
        return known

    def ways(self, engine: EngineNeed, profile: Profile) -> Iterator[Way]:
        """Yield what an engine would take by each of its options."""
        for option in self.options(engine, profile):
            yield tuple((profile.kinds[pool], demand, pods) for pool, demand, pods in option.adds)

    def alone(self, engine: EngineNeed, kinds: Iterable[PoolKind]) -> list[tuple[PoolKind, Rank, Way]] | None:
        """Return the kinds of pools that host an engine whatever else their cluster has, and what it takes of them.

        None where pools have to be looked at cluster by cluster.
        """
        fits = [(kind, fit) for kind in kinds if kind.takes(engine) and (fit := self._fit(engine, kind))]
        if len(engine.members) != 1 or not all(fit.plain for _, fit in fits):
            return None
        pods = engine.members[0].pods
        return [
            (kind, fit.rank, tuple((kind, match.demand, pods) for match in fit.matches if match.demand))
            for kind, fit in fits
        ]

    def whatever_fabric(self, need: Need, profile: Profile) -> Hosting | None:
        """Return how ``need`` could be hosted if all pools shared what its gangs need: only to explain a refusal."""
        engines = tuple(
            (
                *self.options(engine, profile),
                *self._spanning(engine, profile, apart=True),
                *self._single(engine, profile, apart=True),
            )
            for engine in need.engines
        )
        return engines if all(engines) else None

    def leniently(self, need: Need, profile: Profile, lenience: Lenience) -> Hosting | None:
        """Return how ``need`` could be hosted if less were asked of pools: only to say what a change would do."""
        engines = tuple(tuple(self.lenient(engine, profile, lenience)) for engine in need.engines)
        return engines if all(engines) else None

    def lenient(self, engine: EngineNeed, profile: Profile, lenience: Lenience) -> Iterator[Option]:
        """Yield every way to host one engine if less were asked of pools."""
        for apart in (False, True)[: 1 + lenience.fabric]:
            yield from self._single(engine, profile, apart=apart, lenience=lenience)
            yield from self._spanning(engine, profile, apart=apart, lenience=lenience)

    def _fit(self, engine: EngineNeed, kind: PoolKind, lenience: Lenience = STRICT) -> _Fit | None:
        key = (engine.number, kind.number, lenience.upgraded)
        if key not in self._fits:
            self._fits[key] = self._look(engine, kind, lenience)
        return self._fits[key]

    def _look(self, engine: EngineNeed, kind: PoolKind, lenience: Lenience) -> _Fit | None:
        """Return how all members would run on nodes of one kind; None when some cannot."""
        found = [self._match(member, kind, lenience) for member in engine.members]
        matches = tuple(match for match in found if isinstance(match, Match))
        if len(matches) < len(found):
            return None
        plain = not any(match.deferred for match in matches) and any(match.claims for match in matches)
        return _Fit(matches, self._rank_of(engine, [kind] * len(matches), matches), plain)

    def _single(
        self, engine: EngineNeed, profile: Profile, *, apart: bool = False, lenience: Lenience = STRICT
    ) -> Iterator[Option]:
        """Yield the pools that can host the whole engine; with ``apart`` those that could but for their fabric."""
        for number, kind in enumerate(profile.kinds):
            suits = kind.admits(engine, lenience) and kind.connects(engine) is not apart
            fit = self._fit(engine, kind, lenience) if suits else None
            if fit is not None and (fit.plain or self._serves(engine, profile, fit.matches, lenience)):
                yield _option(engine, (number,) * len(fit.matches), fit.matches, fit.rank)

    def _spanning(
        self, engine: EngineNeed, profile: Profile, *, apart: bool, lenience: Lenience = STRICT
    ) -> Iterator[Option]:
        """Yield the pairs of pools over which a gang can span; with ``apart`` those that could but for their fabric."""
        if len(engine.members) < 2 or self._first_fit_only or not all(member.requests for member in engine.members):  # noqa: PLR2004 (a gang)
            return
        for pools in permutations(range(len(profile.kinds)), len(engine.members)):
            kinds = [profile.kinds[number] for number in pools]
            one_fabric = bool(kinds[0].fabric) and len({kind.fabric for kind in kinds}) == 1
            connected = one_fabric and all(kind.connects(engine) for kind in kinds)
            if connected is apart or not all(kind.admits(engine, lenience) for kind in kinds):
                continue
            found = [self._match(member, kind, lenience) for member, kind in zip(engine.members, kinds, strict=True)]
            matches = tuple(match for match in found if isinstance(match, Match))
            if len(matches) == len(found) and self._serves(engine, profile, matches, lenience):
                yield _option(engine, pools, matches, self._rank_of(engine, kinds, matches))

    def _serves(self, engine: EngineNeed, profile: Profile, matches: Sequence[Match], lenience: Lenience) -> bool:
        """Whether an engine claims something, and no member is stranded: real devices for it are on other pools."""
        for member, match in zip(engine.members, matches, strict=True):
            if match.deferred and any(
                isinstance(other := self._match(member, kind, lenience), Match) and other.claims
                for kind in profile.kinds
            ):
                return False
        return any(match.claims for match in matches)

    def _match(self, member: MemberNeed, kind: PoolKind, lenience: Lenience) -> Match | Mismatch:
        return self.matcher.match(member.requests, kind.hardware, member.resources, any_minor=lenience.upgraded)

    def _rank_of(self, engine: EngineNeed, kinds: Sequence[PoolKind], matches: Sequence[Match]) -> Rank:
        unknown, cost = False, Decimal(0)
        for member, kind, match in zip(engine.members, kinds, matches, strict=True):
            if not match.demand or kind.purchase is Purchase.RESERVED:
                continue  # what is reserved is paid for already
            if kind.price is None:
                unknown = True
            else:
                share = Fraction(1) if self._whole_nodes else kind.hardware.share(match.demand)
                cost += kind.price * share.numerator / share.denominator * member.pods
        return unknown, cost, max(self._wanted.get(kind.hardware.number, 0) for kind in kinds)


def _option(engine: EngineNeed, pools: tuple[int, ...], matches: Sequence[Match], rank: Rank) -> Option:
    adds: dict[tuple[int, Demand], int] = {}
    for member, pool, match in zip(engine.members, pools, matches, strict=True):
        if match.demand:
            adds[pool, match.demand] = adds.get((pool, match.demand), 0) + member.pods
    return Option(
        pools=pools,
        claims=tuple(match.claims for match in matches),
        adds=tuple((pool, demand, pods) for (pool, demand), pods in adds.items()),
        rank=rank,
    )


def together(ranks: Iterable[Rank]) -> Rank:
    """Return the rank of all engines of a replica from those of each."""
    unknown, cost, wanted = False, Decimal(0), 0
    for each in ranks:
        unknown, cost, wanted = unknown or each[0], cost + each[1], wanted + each[2]
    return unknown, cost, wanted


def adds_of(options: Sequence[Option]) -> list[Add]:
    """Return all that the engines of one replica add to the pools of its cluster."""
    return [add for option in options for add in option.adds]
