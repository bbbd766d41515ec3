"""Limits: what the quota of a namespace and the limit of a deployment still allow.

Everything that exists counts until it is gone, as it does for room. Only a successor counts for no more than it takes
beyond the replica whose place it takes; otherwise a team at its quota could neither change an image nor leave a drained
cluster.

Nothing here takes a live replica away: a limit that is exceeded lets nothing in that would take more of it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from automation.scheduling.bill import Bill
from automation.scheduling.existing import NamespacedName
from automation.scheduling.filters import Clusters
from automation.scheduling.hosting import Add, Option, adds_of
from automation.scheduling.needs import EngineNeed, Need
from automation.scheduling.refused import Overrun, Refused, amount, nobody_knows, once_known, usd
from automation.scheduling.snapshot import Deployment, Quota
from automation.scheduling.takes import COST, NODES, NOTHING, UNPRICED, Amounts, Kind, Takes, devices
from automation.scheduling.verdict import Code


@dataclass(slots=True)
class Limit:
    """One limit: whose it is, the most of every kind, and how much exists of it.

    ``released`` is what successors may take because replicas go for them that are still counted in ``used``.
    """

    owner: str
    code: Code
    most: Amounts
    used: dict[Kind, Fraction] = field(default_factory=dict)
    released: dict[Kind, Fraction] = field(default_factory=dict)
    unpriced: Counter[str] = field(default_factory=Counter)
    """Replicas by the pool of unknown price that they are on."""
    changes: int = 0
    """How often something was counted."""

    @property
    def pools(self) -> list[str]:
        """The pools of unknown price that something is on, by name."""
        return sorted(pool for pool, number in self.unpriced.items() if number)

    def taken(self, kind: Kind) -> Fraction:
        """Return how much of a kind is spoken for."""
        return self.used.get(kind, Fraction(0)) - self.released.get(kind, Fraction(0))

    def first_refusal(self, amounts: Amounts, release: Amounts) -> Kind | None:
        """Return the first kind of which ``amounts`` in the place of ``release`` would take too much."""
        return next(self.refusals(amounts, release), None)

    def refusals(self, amounts: Amounts, release: Amounts) -> Iterator[Kind]:
        """Yield every kind of which ``amounts`` in the place of ``release`` would take too much."""
        for kind, most in self.most.items():
            more = amounts.get(kind, Fraction(0)) - release.get(kind, Fraction(0))
            if more > 0 and self.taken(kind) + more > most:
                yield kind
            elif kind == COST and more > 0 and self.taken(UNPRICED) > 0:
                yield UNPRICED

    def charge(
        self, amounts: Amounts, release: Amounts = NOTHING, *, times: int = 1, unpriced: Iterable[str] = ()
    ) -> None:
        """Count what a replica takes (``times=-1`` takes it away again), in part on pools of ``unpriced``."""
        self.changes += 1
        for pool in unpriced:
            self.unpriced[pool] += times
        for kind, number in amounts.items():
            self.used[kind] = self.used.get(kind, Fraction(0)) + number * times
        self.release(amounts, release, times=times)

    def release(self, amounts: Amounts, release: Amounts, *, times: int = 1) -> None:
        """Count that what takes ``amounts`` stands in for what takes ``release``: no more of either than of the other.

        So a successor never makes room for others before its predecessor has gone.
        """
        self.changes += 1
        for kind, number in release.items():
            shared = min(number, amounts.get(kind, Fraction(0)))
            self.released[kind] = self.released.get(kind, Fraction(0)) + shared * times


class Account:
    """What one deployment may still take: by its own limit, its namespace's, and the budget."""

    def __init__(self, takes: Takes, limits: Sequence[Limit], bill: Bill | None) -> None:
        self.limits = limits
        self.bill = bill
        self._takes = takes
        self._known: dict[tuple[int, int], tuple[Limit, Kind] | None] = {}
        """Which limit refuses amounts in the place of others, by identity, since the limits changed last."""
        self._within: dict[int, Clusters] = {}
        """Where what release (by identity) lets some way to host the deployment be, since then."""
        self._changes = -1

    def amounts(self, position: int, adds: Iterable[Add]) -> Amounts:
        """Return what pods take on a cluster."""
        return self._takes.of(position, adds)

    def admits(self, position: int, options: Sequence[Option], release: Amounts = NOTHING) -> bool:
        """Whether engines may take ``options`` on a cluster, in the place of what takes ``release``."""
        return self._admits(position, options, release) and (self.bill is None or self.bill.admits(position, options))

    @property
    def exceeded(self) -> bool:
        """Whether more is spoken for than a limit allows."""
        return any(limit.taken(kind) > most for limit in self.limits for kind, most in limit.most.items())

    def within(self, need: Need, release: Amounts = NOTHING) -> Clusters:
        """Return the clusters on which the limits allow some way to host the deployment's need, room and budget aside.

        It is asked by what engines may take, not by cluster: a fleet has few kinds of pools and many layouts of them.
        """
        if not self.limits:
            return -1
        self._refresh()
        known = self._within.get(id(release))
        if known is None:
            known = self._within[id(release)] = self._allowing(need.engines, NOTHING, -1, release, {})
        return known

    def seat(self, position: int, options: Sequence[Option], release: Amounts = NOTHING, *, times: int = 1) -> None:
        """Count what a new replica takes in the place of ``release`` (``times=-1`` takes it away again)."""
        amounts = self._takes.of_options(position, options)
        pools = self._takes.unpriced(position, adds_of(options)) if UNPRICED in amounts else ()
        for limit in self.limits:
            limit.charge(amounts, release, times=times, unpriced=pools)

    def release(self, position: int, adds: Iterable[Add], release: Amounts) -> None:
        """Count that a live replica has taken the place of another one."""
        amounts = self.amounts(position, adds)
        for limit in self.limits:
            limit.release(amounts, release)

    def refusal(self, position: int, options: Sequence[Option], release: Amounts = NOTHING) -> Refused | None:
        """Return which limit refuses ``options`` on a cluster, with numbers; None when none does."""
        amounts = self._takes.of_options(position, options)
        found = self._refusing(amounts, release)
        if found is not None:
            return self._refused(found, position, options, release)
        return self.bill.refusal(position, options) if self.bill else None

    def refusals(self, position: int, options: Sequence[Option], release: Amounts = NOTHING) -> Iterator[Refused]:
        """Yield every limit that refuses ``options`` on a cluster, in order."""
        amounts = self._takes.of_options(position, options)
        for limit in self.limits:
            for kind in limit.refusals(amounts, release):
                yield self._refused((limit, kind), position, options, release)
        refused = self.bill.refusal(position, options) if self.bill else None
        if refused is not None:
            yield refused

    def _refused(
        self, found: tuple[Limit, Kind], position: int, options: Sequence[Option], release: Amounts
    ) -> Refused:
        limit, kind = found
        if kind == UNPRICED:
            pools = self._takes.unpriced(position, adds_of(options)) or limit.pools
            message = f"{_whose(limit)} is on cost, and {nobody_knows(pools)}"
            return Refused(limit.code, message, once_known(pools))
        wanted = self._takes.of_options(position, options).get(kind, Fraction(0))
        return _refused(limit, kind, wanted - release.get(kind, Fraction(0)))

    def _admits(self, position: int, options: Sequence[Option], release: Amounts) -> bool:
        return not self.limits or self._refusing(self._takes.of_options(position, options), release) is None

    def _refusing(self, amounts: Amounts, release: Amounts) -> tuple[Limit, Kind] | None:
        """Return the first limit that refuses, and of what there would be too much."""
        self._refresh()
        key = (id(amounts), id(release))
        if key not in self._known:
            found = ((limit, limit.first_refusal(amounts, release)) for limit in self.limits)
            self._known[key] = next(((limit, kind) for limit, kind in found if kind is not None), None)
        return self._known[key]

    def _refresh(self) -> None:
        """Forget what was said before something was counted."""
        changes = sum(limit.changes for limit in self.limits)
        if changes != self._changes:
            self._known.clear()
            self._within.clear()
            self._changes = changes

    def _allowing(
        self,
        engines: Sequence[EngineNeed],
        before: Amounts,
        among: Clusters,
        release: Amounts,
        known: dict[tuple[int, int], tuple[Clusters, Clusters]],
    ) -> Clusters:
        """Return the clusters of ``among`` on which the limits allow ``engines`` beside ones that take ``before``.

        ``known`` holds which clusters were asked about for as many engines beside the same, and which of them do.
        """
        if not engines:
            return among
        key = (len(engines), id(before))
        asked, found = known.get(key, (0, 0))
        for amounts, clusters in self._takes.ways(engines[0]):
            left = among & clusters & ~asked & ~found
            if left:
                total = amounts if before is NOTHING else self._takes.together((before, amounts))
                if self._refusing(total, release) is None:
                    found |= self._allowing(engines[1:], total, left, release, known)
        known[key] = (asked | among, found)
        return found & among


class Limits:
    """Every limit of one snapshot."""

    def __init__(
        self, takes: Takes, quotas: Mapping[str, Quota], deployments: Iterable[Deployment], bill: Bill | None
    ) -> None:
        self._takes = takes
        self._bill = bill
        self._namespaces = {
            name: Limit(f"namespace {name}", Code.OVER_QUOTA, _most(quota)) for name, quota in sorted(quotas.items())
        }
        self._deployments = {
            each.key: Limit(f"deployment {'/'.join(each.key)}", Code.OVER_COST, _priced(each.max_cost_per_hour))
            for each in sorted(deployments, key=lambda each: each.key)
            if each.max_cost_per_hour is not None
        }

    def account(self, deployment: Deployment) -> Account | None:
        """Return what a deployment's replicas are counted in; None when nothing limits them."""
        limits = self._limits(deployment.key)
        return Account(self._takes, limits, self._bill) if limits or self._bill else None

    def charge(self, key: NamespacedName, position: int, adds: Sequence[Add], *, times: int = 1) -> None:
        """Count what a live replica of a deployment takes (``times=-1`` takes it away again)."""
        limits = self._limits(key)
        if limits:
            amounts = self._takes.of(position, adds)
            pools = self._takes.unpriced(position, adds) if UNPRICED in amounts else ()
            for limit in limits:
                limit.charge(amounts, times=times, unpriced=pools)

    @property
    def any(self) -> bool:
        """Whether a namespace or a deployment has a limit."""
        return bool(self._namespaces or self._deployments)

    def overruns(self) -> Iterator[Overrun]:
        """Yield the limits of which more exists than they allow."""
        for limit in (*self._namespaces.values(), *self._deployments.values()):
            for kind, most in limit.most.items():
                used = limit.used.get(kind, Fraction(0))
                if used > most:
                    yield Overrun(limit.owner, _overrun(limit, kind, used))

    def _limits(self, key: NamespacedName) -> list[Limit]:
        """Return the limits of a deployment: its own, then its namespace's."""
        return [each for each in (self._deployments.get(key), self._namespaces.get(key[0])) if each is not None]


def least(olds: Sequence[Amounts]) -> Amounts:
    """Return what each successor may count on, whichever of ``olds`` go for it: the least of every kind."""
    return {kind: min(each.get(kind, Fraction(0)) for each in olds) for kind in olds[0]}


def _most(quota: Quota) -> Amounts:
    most = {devices(name): Fraction(quota.devices[name]) for name in sorted(quota.devices)}
    if quota.nodes is not None:
        most[NODES] = Fraction(quota.nodes)
    return most if quota.max_cost_per_hour is None else {**most, **_priced(quota.max_cost_per_hour)}


def _priced(most: Decimal) -> Amounts:
    """Limit the cost, and let in nothing of which nobody knows what it costs."""
    return {COST: Fraction(most), UNPRICED: Fraction(0)}


def _refused(limit: Limit, kind: Kind, more: Fraction) -> Refused:
    """Say which limit refuses how much more of a kind."""
    whose = _whose(limit)
    most, used = limit.most[kind], limit.taken(kind)
    message = f"wanted {_words(more, kind)}; {whose} is {amount(most)}, used {amount(used)}"
    numbers = (int(more), max(0, int(most - used))) if more.denominator == 1 else (None, None)
    return Refused(limit.code, message, f"{whose} is raised to {_words(used + more, kind)}", *numbers)


def _whose(limit: Limit) -> str:
    return f"the {_word(limit)} of {limit.owner}"


def _word(limit: Limit) -> str:
    return "quota" if limit.code is Code.OVER_QUOTA else "limit"


def _words(number: Fraction, kind: Kind) -> str:
    """Write so much of a kind in words."""
    if kind == COST:
        return usd(number)
    unit, of = ("node", "") if kind == NODES else ("device", f" of {kind[1]}")
    return f"{amount(number)} {unit}{'' if number == 1 else 's'}{of}"


def _overrun(limit: Limit, kind: Kind, used: Fraction) -> str:
    """Say how a limit does not hold."""
    if kind == UNPRICED:
        return f"has a {_word(limit)} on cost, and {nobody_knows(limit.pools)}: it gets nothing more that costs"
    most = amount(limit.most[kind])
    return f"takes {_words(used, kind)}, and the {_word(limit)} is {most}: it gets nothing more of them"
