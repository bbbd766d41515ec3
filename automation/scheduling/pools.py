"""Pools: what each engine of a deployment would find on each pool of a cluster, and what came closest where none suits.

Devices, spot nodes and the network of a gang are asked about in this order; room comes last, and is said by ``room``.
Where no pool of a cluster suits some engine, that engine decides, by the pool that came closest; of several such
engines the one that is furthest from a place, since a replica needs room for all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from automation.scheduling.filters import Clusters, Filters
from automation.scheduling.hardware import Hardware
from automation.scheduling.hosting import Hostings, Option
from automation.scheduling.ledger import Ledger
from automation.scheduling.matching import Mismatch
from automation.scheduling.needs import EngineNeed, Lenience, Need
from automation.scheduling.room import RoomExplainer
from automation.scheduling.snapshot import Cluster, FabricNeed, Pool, Purchase
from automation.scheduling.verdict import FABRIC_LINES, Code, PoolVerdict
from automation.scheduling.work import Work
from components.cel.environment import MINORS, written_minor

Found = tuple[PoolVerdict, ...]
"""What an engine would find on the pools of a cluster, in their order."""
_DEVICES_ALONE = Lenience(spot=True, leaving=True, fabric=True, upgraded=True)


class PoolExplainer:
    """Explains the pools of one finished pass."""

    def __init__(self, filters: Filters, ledger: Ledger, hostings: Hostings, rooms: RoomExplainer) -> None:
        self._filters = filters
        self._ledger = ledger
        self._hostings = hostings
        self._rooms = rooms
        self._unsuited: dict[tuple[int, int], Code] = {}
        self._spanned: dict[int, Clusters] = {}
        self._apart: dict[tuple[int, int], bool] = {}
        self._known: dict[tuple[int, int, str, bool], Found] = {}
        """By cluster, what an engine needs, its name, and whether somebody has to be told of a network."""
        self._mismatches: dict[tuple[int, int, str, str], PoolVerdict | None] = {}
        """By hardware, what an engine needs, and the names of pool and engine."""

    def found(self, work: Work, position: int) -> list[Found]:
        """Return what every engine would find on every pool: its first failure, or that it fits."""
        return [self._engine(work, position, index) for index in range(len(work.need.engines))]

    def verdicts(self, work: Work, position: int) -> Found:
        """Return the same pool by pool; what several engines in a row are told is told once."""
        found = self.found(work, position)
        if len(found) == 1:
            return found[0]
        return tuple(
            next(alike)
            for verdicts in zip(*found, strict=True)
            for _, alike in groupby(verdicts, key=attrgetter("code", "message"))
        )

    def code(self, work: Work, position: int) -> Code:
        """Say why no pools of a cluster host a need."""
        key = (work.need.number, self._filters.profiles[position].number)
        known = self._unsuited.get(key)
        if known is None:
            if self._filters.whatever_fabric(work.need, position):
                known = Code.NO_FABRIC
            else:
                closest = (_closest(each).code for each in self.unsuited(work, position) if each)
                known = min(closest, key=lambda code: code.rank, default=Code.NO_MATCH)
            self._unsuited[key] = known
        return known

    def unsuited(self, work: Work, position: int) -> Iterator[Found]:
        """Yield what each engine that no pools of a cluster host would find on them."""
        profile = self._filters.profiles[position]
        for index, engine in enumerate(work.need.engines):
            if not self._hostings.options(engine, profile):
                yield self._engine(work, position, index)

    def decisive(self, work: Work, position: int, code: Code) -> PoolVerdict | None:
        """Return the first verdict by which no pools of a cluster host a need, for this reason."""
        verdicts = (verdict for each in self.unsuited(work, position) for verdict in each)
        return next((verdict for verdict in verdicts if verdict.code is code), None)

    def closest(self, work: Work) -> str:
        """Say what keeps devices from a need on the cluster that comes closest, whatever else is in the way there."""
        found: list[tuple[int, int, PoolVerdict]] = []
        for alike in self._filters.sorts:
            position = (alike & -alike).bit_length() - 1
            failures = list(self._without_devices(work, position))
            if failures:
                worst = min(failures, key=lambda each: each.code.rank)
                found.append((-worst.code.rank, position, worst))
        if not found:
            return "no cluster has GPU pools" if self._filters.clusters else "there are no clusters"
        _, position, worst = min(found, key=lambda each: each[:2])
        return f"{worst.message} ({self._filters.clusters[position].name}/{worst.pool} comes closest)"

    def apart(self, work: Work, clusters: Clusters) -> Clusters:
        """Return where a gang has room on pools that share no network only, of clusters that have none otherwise."""
        spanned = self._spanned.get(work.need.number)
        if spanned is None:
            spanned = self._spanned[work.need.number] = self._spanning(work.need)
        found: Clusters = 0
        for position in self._filters.members(clusters & spanned):
            key = (work.need.number, position)
            if key not in self._apart:
                hosting = self._filters.hosting(work.need, position)
                alone = hosting is not None and self._ledger.room(position, hosting) is not None
                self._apart[key] = not alone and bool(self.fabric(work, position))
            found |= self._apart[key] << position
        return found

    def fabric(self, work: Work, position: int) -> str:
        """Say which pools would hold a gang together if they shared a fabric; empty when they would not either."""
        hosting = self._filters.whatever_fabric(work.need, position)
        options = self._ledger.room(position, hosting) if hosting else None
        if hosting and self._filters.hosting(work.need, position) is None:
            options = tuple(options[0] for options in hosting)  # room does not matter where nothing suits
        pools = self._filters.clusters[position].pools
        for option in options or ():
            spanned = [pools[number] for number in dict.fromkeys(option.pools)]
            if len(spanned) > 1:
                named = " and ".join(f"{pool.name} ({pool.fabric or 'no fabric'})" for pool in spanned)
                needed = next((each.fabric for each in work.need.engines if each.fabric), None)
                text = f"its pods would fit on pools {named} together, which do not share {_network(needed)}"
                return text + _ways_out(work)
        return ""

    def needed_minor(self, work: Work, position: int) -> str:
        """Return the Kubernetes minor that a cluster, whose own is too old for a need's selectors, has to have."""
        found = (
            self._hostings.matcher.match(member.requests, hardware, member.resources)
            for hardware in self._filters.hardware[position]
            for engine in work.need.engines
            for member in engine.members
        )
        return max((each.needs for each in found if isinstance(each, Mismatch) and each.needs), key=MINORS.index)

    def _spanning(self, need: Need) -> Clusters:
        """Return the clusters that would host a need in more ways if their pools shared a network."""
        found: Clusters = 0
        for alike in self._filters.sorts:
            position = alike.bit_length() - 1
            whatever = self._filters.whatever_fabric(need, position) or ()
            own = self._filters.hosting(need, position) or ()
            if sum(map(len, whatever)) > sum(map(len, own)):
                found |= alike
        return found

    def _engine(self, work: Work, position: int, index: int) -> Found:
        """Say what one engine would find on each pool; deployments that ask the same share the answer."""
        name = work.deployment.shape.engines[index].name
        key = (position, work.need.engines[index].number, name, work.deployment.fabric is None)
        known = self._known.get(key)
        if known is None:
            pools = range(len(self._filters.clusters[position].pools))
            known = self._known[key] = tuple(self._look(work, position, number, index) for number in pools)
        return known

    def _look(self, work: Work, position: int, number: int, index: int) -> PoolVerdict:
        pool = self._filters.clusters[position].pools[number]
        if pool.leaving:
            return PoolVerdict(pool.name, Code.GOING_AWAY, pool.leaving)
        need, name = work.need.engines[index], work.deployment.shape.engines[index].name
        mismatch = self._mismatch(work, position, number, index)
        if mismatch is not None:
            return mismatch
        if pool.purchase is Purchase.SPOT and not need.spot:
            text = "its nodes are spot ones, which the deployment does not allow"
            return PoolVerdict(pool.name, Code.SPOT_ONLY, text, name)
        if not self._filters.profiles[position].kinds[number].connects(need):
            text = f"the gang needs {_network(need.fabric)} between its nodes, and they share {_network_of(pool)}"
            return PoolVerdict(pool.name, Code.NO_FABRIC, text + _ways_out(work), name)
        option = self._option(position, number, need)
        if option is None:
            text = "its requests match devices that are only described, and real ones are elsewhere"
            return PoolVerdict(pool.name, Code.NO_MATCH, text, name)
        return self._rooms.verdict(position, number, name, option)

    def _mismatch(self, work: Work, position: int, number: int, index: int) -> PoolVerdict | None:
        """Say why the devices of a pool do not suit an engine; None when they do."""
        pool = self._filters.clusters[position].pools[number]
        hardware = self._filters.hardware[position][number]
        need, name = work.need.engines[index], work.deployment.shape.engines[index].name
        key = (hardware.number, need.number, pool.name, name)
        if key not in self._mismatches:
            self._mismatches[key] = self._compare(pool, hardware, need, name)
        found = self._mismatches[key]
        if found is None or found.code is not Code.SELECTOR_TOO_NEW:
            return found
        return replace(found, message=f"{found.message}, and {_runs(self._filters.clusters[position])}")

    def _compare(self, pool: Pool, hardware: Hardware, need: EngineNeed, name: str) -> PoolVerdict | None:
        claims = False
        for member in need.members:
            match = self._hostings.matcher.match(member.requests, hardware, member.resources)
            if isinstance(match, Mismatch):
                return PoolVerdict(
                    pool.name,
                    match.code,
                    match.message,
                    name,
                    member.role,
                    match.request,
                    match.expression,
                    match.device,
                    match.wanted,
                    match.free,
                    match.meant or match.final,
                )
            claims = claims or bool(match.claims)
        return (
            None if claims else PoolVerdict(pool.name, Code.NO_MATCH, "none of its members claims a device here", name)
        )

    def _without_devices(self, work: Work, position: int) -> Iterator[PoolVerdict]:
        """Yield what came closest for each engine for which no pools of a cluster have devices, whatever is asked."""
        profile = self._filters.profiles[position]
        for index, engine in enumerate(work.need.engines):
            if not any(self._hostings.lenient(engine, profile, _DEVICES_ALONE)):
                found = (self._mismatch(work, position, number, index) for number in range(len(profile.kinds)))
                mismatches = [each for each in found if each is not None]
                if mismatches:
                    yield _closest(mismatches)

    def _option(self, position: int, number: int, engine: EngineNeed) -> Option | None:
        """Return the option that has the whole engine on one pool."""
        options = self._hostings.options(engine, self._filters.profiles[position])
        return next((option for option in options if set(option.pools) == {number}), None)


def _closest(verdicts: Sequence[PoolVerdict]) -> PoolVerdict:
    """Return the verdict of what came closest for one engine: an error of a selector if there is one."""
    return min(verdicts, key=lambda each: (each.code is not Code.SELECTOR_ERROR, -each.code.rank))


def _runs(cluster: Cluster) -> str:
    """Say what Kubernetes a cluster has or is to have, and who says so; where nobody knows, what to do about that."""
    version = cluster.versions.api_server
    if version is None:
        return f"nobody says what {cluster.name} runs: write its `kubernetesVersion`, or observe it"
    if not written_minor(version.text):
        return (
            f"{cluster.name} is said to run `{version}`, which names no minor and counts as {cluster.minor}: write a"
            " version, or observe it"
        )
    if version.seen is not None:
        return f"{cluster.name} runs {version}"
    if cluster.to_be_made:
        return f"{cluster.name} is to run {version}"
    return f"{cluster.name} runs {version}, as its manifest says"


def _ways_out(work: Work) -> str:
    """Say what to write where a deployment is refused for a network of which it says nothing itself."""
    return f"; {FABRIC_LINES}" if work.deployment.fabric is None else ""


def _network(need: FabricNeed | None) -> str:
    return "a fast network" if need in {None, FabricNeed.ANY} else str(need)


def _network_of(pool: Pool) -> str:
    if not pool.fabric:
        return "none"
    return pool.fabric_kind or f"one of which only the name is known ({pool.fabric})"
