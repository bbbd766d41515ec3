"""What was read of a cluster, as the scheduler takes it: it can only lower what the pools promise.

Nodes that cannot take pods do not count, and devices that somebody outside the fleet holds are held. What could not be
read lowers nothing and is said: without the nodes a pool keeps what its manifest declares.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from automation.observe.facts import Claim, ClusterFacts, Published
from automation.observe.kinds import kind_of, view_of
from automation.observe.pool import SeenPool, seen_pool
from automation.scheduling.observation import ClusterObservation, ForeignPod, PoolObservation
from components.cel.semver import Semver
from components.checks.versions import numbers_of
from components.clusters.pool_facts import PoolFacts

_DRIVER_VERSION: Final = "driverVersion"


@dataclass(frozen=True, slots=True)
class Holder:
    """A pod outside the fleet, or a claim that no pod uses, and what it holds of a pool."""

    name: str
    pool: str
    devices: Mapping[str, int]
    """By kind of the pool's class."""


@dataclass(frozen=True, slots=True)
class ReplicaPods:
    """The pods of one replica in one pool that claim devices: how many there are, and how many are ready."""

    replica: str
    pool: str
    pods: int
    ready: int


@dataclass(frozen=True, slots=True)
class SeenCluster:
    """One cluster: its pools, who else is on them, its replicas' pods, and what could not be read."""

    facts: ClusterFacts
    pools: tuple[SeenPool, ...]
    holders: tuple[Holder, ...]
    replicas: tuple[ReplicaPods, ...]

    @property
    def observation(self) -> ClusterObservation:
        """The cluster as the scheduler takes it."""
        pools = {}
        if self.facts.nodes.known:
            for pool in self.pools:
                foreign = tuple(
                    ForeignPod(tuple(sorted(each.devices.items()))) for each in self.holders if each.pool == pool.name
                )
                pools[pool.name] = PoolObservation(pool.usable, pool.unusable, foreign)
        nodes = [each.node.kubelet for pool in self.pools for each in pool.nodes if each.node.kubelet]
        return ClusterObservation(
            at=self.facts.oldest,
            pools=pools,
            api_server=self.facts.version.value or "",
            kubelet=min(nodes, key=version_key, default=""),
            driver=_oldest_driver(self.pools, self.facts.devices.value or ()),
        )


def seen_cluster(facts: ClusterFacts, pools: Iterable[PoolFacts]) -> SeenCluster:
    """Look at a cluster through what was read of it."""
    devices = facts.devices.value if facts.devices.known else None
    seen = tuple(seen_pool(each, facts.nodes.value or (), devices) for each in pools)
    return SeenCluster(facts, seen, tuple(_holders(facts, seen)), _replicas(facts))


def version_key(text: str) -> tuple[int, ...]:
    """Return what orders versions such as ``v1.34.4``; one that cannot be read counts as the newest."""
    return numbers_of(text) or (1 << 30,)


def _holders(facts: ClusterFacts, pools: Sequence[SeenPool]) -> list[Holder]:
    """Return who holds devices of the pools without being a pod of the fleet.

    Nobody is taken for a stranger while the fleet's own pods could not be told from others.
    """
    if not (facts.claims.known and facts.templates.known and facts.pods.known and facts.devices.known):
        return []
    templates = facts.templates.value
    assert templates is not None
    ours = {pod.uid for pod in facts.pods.value or () if templates.replica(pod)}
    devices = {each.key: each for each in facts.devices.value or ()}
    pool_of = {node.node.name: pool for pool in pools for node in pool.nodes}
    held: dict[tuple[str, str], Holder] = {}
    for claim in facts.claims.value or ():
        if any(uid in ours for uid, _ in claim.users):
            continue
        who = _who(claim)
        for key in claim.devices:
            device = devices.get(key)
            pool = pool_of.get(device.node) if device is not None else None
            kind = kind_of(view_of(device), pool.kinds) if device is not None and pool is not None else None
            if pool is not None and kind is not None:
                before = held.get((who, pool.name), Holder(who, pool.name, {}))
                counts = {**before.devices, kind.name: before.devices.get(kind.name, 0) + 1}
                held[who, pool.name] = replace(before, devices=counts)
    return [held[key] for key in sorted(held)]


def _who(claim: Claim) -> str:
    """Return who uses a claim: of several pods that share it the first, which then stands for all."""
    if claim.users:
        return min(name for _, name in claim.users)
    return f"claim {claim.namespace}/{claim.name}"


def _replicas(facts: ClusterFacts) -> tuple[ReplicaPods, ...]:
    templates = facts.templates.value
    found: dict[tuple[str, str], list[bool]] = {}
    for pod in facts.pods.value or ():
        replica = templates.replica(pod) if templates is not None else ""
        if replica:
            found.setdefault((replica, pod.pool), []).append(pod.ready)
    return tuple(ReplicaPods(*key, len(found[key]), sum(found[key])) for key in sorted(found))


def _oldest_driver(pools: Iterable[SeenPool], devices: Iterable[Published]) -> str:
    """Return the oldest version that a driver of the pools' first claimed kinds publishes."""
    drivers, nodes = set(), set()
    for pool in pools:
        drivers |= {kind.driver for kind in pool.kinds[:1]}
        nodes |= {each.node.name for each in pool.nodes}
    found = [
        value
        for each in devices
        if each.driver in drivers and each.node in nodes
        for value in [view_of(each).attributes.get(each.driver, {}).get(_DRIVER_VERSION)]
        if isinstance(value, Semver)
    ]
    return str(min(found)) if found else ""
