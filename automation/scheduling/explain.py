"""Explaining: the verdict of every cluster for a deployment, from the state in which the decision ended.

The filters are the very ones that decided, the room is asked of the very ledger, so trace and decision cannot disagree.
Since pods are only added while a pass places, what had no room when it was asked has none at the end.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain
from operator import or_

from automation.scheduling.bill import Bill
from automation.scheduling.existing import NamespacedName
from automation.scheduling.filters import Clusters, Filters
from automation.scheduling.hosting import Hosting, Hostings, Option
from automation.scheduling.ledger import Ledger
from automation.scheduling.order import order_of, strategy_for
from automation.scheduling.place import Placer
from automation.scheduling.pools import PoolExplainer
from automation.scheduling.remedy import Holds, Remedies
from automation.scheduling.result import WrongSelector
from automation.scheduling.room import RoomExplainer
from automation.scheduling.scores import Scores, Spread
from automation.scheduling.snapshot import Cluster, ClusterState, Deployment, Strategy
from automation.scheduling.trace import DeploymentTrace, Verdicts
from automation.scheduling.verdict import Code, PoolVerdict, Verdict
from automation.scheduling.work import Work
from components.checks.taints import untolerated


class Explainer:
    """Explains one finished pass."""

    def __init__(
        self,
        filters: Filters,
        ledger: Ledger,
        hostings: Hostings,
        rooms: RoomExplainer,
        works: Mapping[NamespacedName, Work],
        *,
        strategy: Strategy,
        placer: Placer,
        sight: Callable[[Cluster], str],
        holds: Holds,
        bill: Bill | None,
    ) -> None:
        self._filters = filters
        self._ledger = ledger
        self._rooms = rooms
        self._placer = placer
        self._strategy = strategy
        self._scores = Scores(filters, ledger)
        self._pools = PoolExplainer(filters, ledger, hostings, rooms)
        self.remedies = Remedies(filters, ledger, placer, self._pools, holds=holds, bill=bill)
        self._works = works
        self._shared: dict[tuple[int, tuple[str, ...], bool], dict[tuple[int, int, int], Verdict]] = {}
        """Verdicts of clusters that hold no own replica: by what is asked, by cluster and what is beside it."""
        self._sight = sight
        """Says what a cluster's nodes are counted by, where that is more than the manifest."""

    def explain(self, key: NamespacedName) -> DeploymentTrace:
        """Return the whole record of one deployment."""
        work = self._works[key]
        taken = Counter(identity.cluster for identity in work.current)
        taken.update(replica.id.cluster for replica in (*work.waiting, *work.stranded, *work.deferred))
        refused = tuple(self._filters.refused(work.deployment, work.need))
        spread = self._scores.spread(work.own)
        names = tuple(engine.name for engine in work.deployment.shape.engines)
        alike = self._shared.setdefault((work.need.number, names, work.deployment.fabric is None), {})

        def verdict(position: int) -> Verdict:
            code = self._first(work, refused, position)
            here = taken.get(self._filters.clusters[position].name, 0)
            shared = not here and work.account is None and (code is None or code in _OF_POOLS)
            if not shared:
                return self._verdict(work, position, code, here, spread)
            key = (position, *spread.at(position, self._filters.clusters[position].region))
            known = alike.get(key)
            if known is None:
                known = alike[key] = self._verdict(work, position, code, here, spread)
            return known

        return DeploymentTrace(
            *key,
            work.deployment.replicas,
            work.placed,
            Verdicts(self._filters.position, verdict),
            self.summary(work),
            order_of(strategy_for(work.deployment, self._strategy)),
            tuple(self._scores.chosen(work)),
            partial(self.remedies.next, work),
        )

    def summary(self, work: Work) -> str:
        """Return one line: how many clusters would take one more replica, and how many were refused for what."""
        total = len(self._filters.clusters)
        if not total:
            return "there are no clusters"
        if work.placed >= work.deployment.replicas and not work.stranded:
            clusters = sorted({identity.cluster for identity in work.current} | {r.id.cluster for r in work.waiting})
            where = f" on {', '.join(clusters)}" if clusters else ""
            return f"{work.placed} of {work.deployment.replicas} placed{where}"
        codes = self._counts(work)
        left = work.allowed
        limited = list(self._placer.limited(work))
        for refused, ended in limited:
            codes[refused.code] += ended.bit_count()
            left &= ~ended
        free = self._placer.open(work, left) if work.preempted else 0
        apart = self._pools.apart(work, left & ~free)
        codes[Code.NO_FABRIC] += apart.bit_count()
        codes[Code.NO_ROOM] += (left & ~free & ~apart).bit_count()
        parts = [f"{codes[code]} {code.noun}" for code in sorted(codes, key=lambda code: code.rank) if codes[code]]
        numbers = f" ({limited[0][0].message})" if limited else ""
        refusals = f": {', '.join(parts)}" if parts else ""
        return f"{free.bit_count()}/{total} clusters{refusals}{numbers}"

    def wrong_selectors(self, work: Work) -> Iterator[WrongSelector]:
        """Yield the selectors that fail on devices they are about, where no cluster that is asked for has a match.

        Clusters count whether or not they take replicas now: a selector that matches on a drained one is not wrong.
        """
        refused = dict(self._filters.refused(work.deployment, work.need))
        asked = self._filters.everywhere & ~reduce(or_, (refused.get(code, 0) for code in _NOT_ASKED))
        if asked & self._filters.hosting_clusters(work.need):
            return
        codes = {position: self._pools.code(work, position) for position in self._filters.members(asked)}
        if not set(codes.values()) <= _MATCHLESS:
            return
        said: set[str] = set()
        for position in (position for position, code in codes.items() if code is Code.SELECTOR_ERROR):
            for pool in chain.from_iterable(self._pools.unsuited(work, position)):
                if pool.meant and pool.expression not in said:
                    said.add(pool.expression)
                    name = self._filters.clusters[position].name
                    text = pool.message.partition(f" cannot be evaluated on {pool.device}: ")[2]
                    yield WrongSelector(*work.deployment.key, pool.expression, name, pool.pool, pool.device, text)

    def refusals(self, work: Work) -> dict[int, str]:
        """Return why a filter refuses each cluster on which replicas wait with an older shape, by position."""
        refused = tuple(self._filters.refused(work.deployment, work.need))
        found = {}
        for position in sorted({self._filters.position[replica.id.cluster] for replica in work.waiting}):
            code = self._first(work, refused, position)
            if code is not None:
                name = self._filters.clusters[position].name
                head = "the new one suits no pool of" if code in _OF_POOLS else "nothing new is put on"
                found[position] = f"{head} cluster {name}: {self._refusal(work, position, code)[0]}"
        return found

    def _first(self, work: Work, refused: Sequence[tuple[Code, Clusters]], position: int) -> Code | None:
        """Return the first failing filter of a cluster, room aside."""
        code = next((code for code, clusters in refused if clusters >> position & 1), None)
        return self._pools.code(work, position) if code is Code.NO_MATCH else code

    def _counts(self, work: Work) -> Counter[Code]:
        """Count the clusters by the first filter that refuses them, room aside; alike ones are looked at once."""
        counts: Counter[Code] = Counter()
        seen: Clusters = 0
        for code, clusters in self._filters.refused(work.deployment, work.need):
            left = clusters & ~seen
            seen |= clusters
            if code is not Code.NO_MATCH:
                counts[code] += left.bit_count()
                continue
            for alike in self._filters.sorts:
                some = alike & left
                if some:
                    counts[self._pools.code(work, some.bit_length() - 1)] += some.bit_count()
        return counts

    def _verdict(self, work: Work, position: int, code: Code | None, taken: int, spread: Spread) -> Verdict:
        cluster = self._filters.clusters[position]
        planned = cluster.state is ClusterState.PLANNED
        if code is not None and not taken:
            message, worst, pools = self._refusal(work, position, code)
            wanted, free = (worst.wanted, worst.free) if worst else (None, None)
            return Verdict(cluster.name, code, message, planned, taken, wanted, free, pools)
        pools = self._pools.verdicts(work, position)
        hosting = self._filters.hosting(work.need, position) if code is None else None
        options = self._room(work, position, hosting) if hosting else None
        limit = self._placer.limit(work, position) if code is None else None
        score = self._scores.of(spread, position, options) if options and limit is None else None
        if taken:
            message = f"holds {taken} of its replicas"
            if code is not None:
                message += f"; gets no more: {self._refusal(work, position, code)[0]}"
            elif limit is not None:
                message += f"; gets no more: {limit.message}"
            elif options is None and self._sight(cluster):
                message += f"; gets no more ({self._sight(cluster)})"
            return Verdict(cluster.name, Code.TAKEN, message, planned, taken, pools=pools, score=score)
        if limit is not None:
            return Verdict(cluster.name, limit.code, limit.message, planned, 0, limit.wanted, limit.free, pools)
        assert hosting is not None
        if options is not None:
            message = "has room; nothing is missing that it could take"
            return Verdict(cluster.name, Code.FITS, message, planned, pools=pools, score=score)
        fabric = self._pools.fabric(work, position)
        if fabric:
            return Verdict(cluster.name, Code.NO_FABRIC, fabric, planned, pools=pools)
        worst = next((each for each in pools if each.code is Code.NO_ROOM), None)
        engines = [engine.name for engine in work.deployment.shape.engines]
        together = self._rooms.together(position, engines, hosting) if worst is None else ""
        message = worst.message if worst else together or "its engines fit one by one, and not together"
        wanted, free = (worst.wanted, worst.free) if worst else (None, None)
        sight = self._sight(cluster)
        message += f" ({sight})" if sight else ""
        return Verdict(cluster.name, Code.NO_ROOM, message, planned, 0, wanted, free, pools)

    def _room(self, work: Work, position: int, hosting: Hosting) -> tuple[Option, ...] | None:
        """Return what the ledger says of room; it is not asked where some engine has been told no by every pool."""
        for options, found in zip(hosting, self._pools.found(work, position), strict=True):
            spans = any(len(set(option.pools)) > 1 for option in options)
            if not spans and all(each.code is not Code.FITS for each in found):
                return None
        return self._ledger.room(position, hosting)

    def _refusal(
        self, work: Work, position: int, code: Code
    ) -> tuple[str, PoolVerdict | None, tuple[PoolVerdict, ...]]:
        """Say why a filter refuses a cluster, with the pool that decided and all pools where pools are the reason."""
        cluster = self._filters.clusters[position]
        of_pools = code in _OF_POOLS or (code is Code.GOING_AWAY and cluster.state is not ClusterState.GOING_AWAY)
        pools = self._pools.verdicts(work, position) if of_pools else ()
        worst = self._pools.decisive(work, position, code) if of_pools else None
        failure = self._filters.staging_failure(work.deployment, position)
        message = worst.message if worst else _message(code, cluster, work.deployment, failure)
        if code is Code.NO_FABRIC:
            message = self._pools.fabric(work, position) or message
        return message, worst, pools


_NOT_ASKED = (Code.DESELECTED, Code.OUTSIDE_CACHE, Code.NO_STORAGE)
"""Refusals by what the deployment itself asks for."""
_MATCHLESS = frozenset({Code.SELECTOR_ERROR, Code.NO_MATCH})
_OF_POOLS = frozenset(
    {
        Code.NO_MATCH,
        Code.SELECTOR_ERROR,
        Code.POD_TOO_LARGE,
        Code.SELECTOR_TOO_NEW,
        Code.SPOT_ONLY,
        Code.NO_FABRIC,
    }
)


def _message(code: Code, cluster: Cluster, deployment: Deployment, failure: str) -> str:
    cache = deployment.cache
    name = f"cache {cache.name}" if cache else "the cache"
    match code:
        case Code.TOO_OLD:
            text = cluster.outdated
        case Code.TAINTED:
            repelled = untolerated(cluster.taints, deployment.tolerations)
            text = f"the cluster has the taint {repelled[0]}, which the deployment does not tolerate"
        case Code.DESELECTED:
            text = _missing_labels("the deployment's clusterSelector", deployment.selector or {}, cluster)
        case Code.OUTSIDE_CACHE:
            text = _missing_labels(f"the clusterSelector of {name}", (cache.selector if cache else None) or {}, cluster)
        case Code.NO_STORAGE:
            text = f"it has no storage class that many nodes can mount, so {name} cannot be staged on it"
        case Code.CACHE_FAILED:
            text = f"staging {name} failed on it: {failure}"
        case Code.NO_POOLS:
            text = "it has no GPU pools"
        case _:
            text = cluster.why or f"the cluster is {cluster.state.value}"
    return text


def _missing_labels(who: str, selector: Mapping[str, str], cluster: Cluster) -> str:
    missing = [
        f"{key}={value} (the cluster has {cluster.labels.get(key, 'no such label')})"
        for key, value in sorted(selector.items())
        if cluster.labels.get(key) != value
    ]
    return f"{who} asks for {', '.join(missing)}"
