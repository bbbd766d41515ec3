"""The order of goals: which of several possible clusters a new replica goes to.

A key compares clusters; the smallest wins. Keys are absolute: that of a cluster depends on the cluster, the request,
what is already placed and what the fleet wants, never on the other candidates, so taking away a cluster that was not
chosen never changes the choice. Clusters that compare equal until something is placed on them form a *bucket*, which is
kept sorted once; only the heads of buckets and the clusters that hold own replicas are compared at run time.
"""

from collections.abc import Callable
from typing import NamedTuple

from automation.scheduling.hosting import Rank
from automation.scheduling.snapshot import Deployment, Strategy

Key = tuple[object, ...]


class Standing(NamedTuple):  # made for every look at a cluster, so it is the cheapest kind of value
    """What a key is made of for one cluster at one moment."""

    own: int
    """Own replicas on the cluster."""
    region: int
    """Own replicas in its region."""
    mixes: bool
    """Whether it would put pods of different sizes on one pool, which costs room."""
    rank: Rank
    position: int
    """The cluster's place in the order of names."""


def strategy_for(deployment: Deployment, environment: Strategy) -> Strategy:
    """Return the order of goals of a deployment; the predecessor's holds for the whole environment."""
    return environment if environment is Strategy.COMPATIBLE else deployment.strategy or environment


def key_of(strategy: Strategy) -> Callable[[Standing], Key]:
    """Return the key of a strategy."""
    return _KEYS[strategy]


def bucket_of(strategy: Strategy, region: str, rank: Rank) -> Key:
    """Return what clusters of one bucket have in common, besides having no own replicas."""
    if strategy is Strategy.COMPATIBLE:
        return ()
    return (rank[0], rank[1], region) if strategy is Strategy.COST else (region,)


def rank_in(strategy: Strategy, rank: Rank) -> Key:
    """Return what orders the clusters of one bucket, before their names."""
    return () if strategy is Strategy.COMPATIBLE else rank


def order_of(strategy: Strategy) -> tuple[str, ...]:
    """Return what a strategy compares clusters by, in words, what counts first before the rest."""
    return _WORDS[strategy]


def _spread(each: Standing) -> Key:
    return (each.own, each.region, each.mixes, *each.rank, each.position)


def _compatible(each: Standing) -> Key:
    return (each.own, each.position)


def _pack(each: Standing) -> Key:
    return (-each.own, each.mixes, *each.rank, each.position)


def _cost(each: Standing) -> Key:
    return (*each.rank[:2], each.own, each.region, each.mixes, each.rank[2], each.position)


_KEYS: dict[Strategy, Callable[[Standing], Key]] = {
    Strategy.SPREAD: _spread,
    Strategy.COMPATIBLE: _compatible,
    Strategy.PACK: _pack,
    Strategy.COST: _cost,
}
_OWN, _REGION, _MIXES = "fewest own replicas", "fewest own replicas in the region", "pods of one size"
_RANK = ("a known price", "lowest cost", "hardware that the fleet wants least")
_WORDS: dict[Strategy, tuple[str, ...]] = {
    Strategy.SPREAD: (_OWN, _REGION, _MIXES, *_RANK, "name"),
    Strategy.COMPATIBLE: (_OWN, "name"),
    Strategy.PACK: ("most own replicas", _MIXES, *_RANK, "name"),
    Strategy.COST: (*_RANK[:2], _OWN, _REGION, _MIXES, _RANK[2], "name"),
}
"""The keys above in words."""
