"""A component's description agrees with the raw resources under it: what the other rules judge is true."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.facts import MemberFact, PoolFact, ReplicaFact
from components.checks.violation import Violation
from components.labels import Label
from policies.facts import KEYS, Fleet, cluster_name, fleet_of
from policies.nodes import NodeGroup, node_groups
from policies.pods import PodGroup, pod_groups
from policies.resources import CACHE, REPLICA, Resource, Stack
from policies.rule import Rule
from policies.volumes import staged, volumes_of
from policies.wire import UNKNOWN


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Compare clusters, pools, replicas and caches with the resources that are made for them."""
    del config
    fleet = fleet_of(stack)
    for resource, reason in fleet.unreadable:
        yield _lie(resource.name, f"its description cannot be read: {reason}")
    yield from _two_faced(stack)
    yield from _pools(stack, fleet)
    yield from _replicas(stack, fleet)
    yield from _caches(stack, fleet)
    yield from _places(stack, fleet)


def _two_faced(stack: Stack) -> Iterator[Violation]:
    """Find components whose inputs say one thing and whose outputs another: planning reads the first."""
    for resource in stack.of_type(*KEYS):
        if resource.inputs is None or not resource.props:
            continue
        for key in KEYS[resource.type]:
            given, published = resource.inputs.get(key), resource.props.get(key)
            if given != published and UNKNOWN not in (given, published):
                yield _lie(resource.name, f"{key} is one thing in its inputs and another in its outputs")


def _pools(stack: Stack, fleet: Fleet) -> Iterator[Violation]:
    groups: dict[str, list[NodeGroup]] = {}
    for group in node_groups(stack):
        if group.pool is not None:
            groups.setdefault(group.pool.urn, []).append(group)
    for urn, pool in fleet.pools.items():
        name = f"{pool.cluster}/{pool.pool}"
        own = groups.get(urn, [])
        if pool.provisioned and not own:
            yield _lie(name, "it says that Berth makes its nodes; there is no node group for it")
        most = [group.most for group in own if group.most is not None]
        if own and len(most) == len(own) and pool.nodes > sum(most):
            yield _lie(name, f"it says that it has {pool.nodes} nodes; its node group has {sum(most)} at most")
        for group in (each for each in own if each.certain):
            yield from _nodes(fleet, pool, group)


def _nodes(fleet: Fleet, pool: PoolFact, group: NodeGroup) -> Iterator[Violation]:
    name = f"{pool.cluster}/{pool.pool}"
    real, said = frozenset(group.taints), frozenset(pool.taints)
    if said - real:
        taints = ", ".join(map(str, sorted(said - real)))
        yield _lie(name, f"it says that its nodes have the taint {taints}; its node group does not give it")
    if real - said:
        taints = ", ".join(map(str, sorted(real - said)))
        yield _lie(name, f"its node group gives its nodes the taint {taints}, of which it says nothing")
    label = group.labels.get(Label.POOL.value)
    if label != pool.pool:
        yield _lie(name, f"its nodes are labelled as pool {label or '(none)'}, not {pool.pool}")
    cluster = fleet.clusters.get(group.cluster.urn) if group.cluster else None
    if cluster and cluster.cluster != pool.cluster:
        yield _lie(name, f"its nodes belong to cluster {cluster.cluster}, not {pool.cluster}")


def _replicas(stack: Stack, fleet: Fleet) -> Iterator[Violation]:
    groups: dict[str, list[PodGroup]] = {}
    for group in pod_groups(stack):
        if group.replica is not None:
            groups.setdefault(group.replica.urn, []).append(group)
    for urn, replica in fleet.replicas.items():
        own = groups.get(urn, [])
        if not all(group.certain for group in own):
            continue
        said, real = _said(replica.members), _real(own)
        if said != real:
            yield _lie(replica.replica, f"it says that it claims {_words(said)}; its pods claim {_words(real)}")
        yield from _cache_use(stack, fleet, replica, own)


def _said(members: tuple[MemberFact, ...]) -> Counter[tuple[str, str]]:
    said: Counter[tuple[str, str]] = Counter()
    for member in members:
        for device_class, count in member.claims:
            said[(member.pool, device_class)] += count * member.pods
    return +said


def _real(groups: list[PodGroup]) -> Counter[tuple[str, str]]:
    real: Counter[tuple[str, str]] = Counter()
    for group in groups:
        for request in group.requests:
            real[(group.pool, request.device_class)] += request.count * group.count
    return +real


def _cache_use(stack: Stack, fleet: Fleet, replica: ReplicaFact, groups: list[PodGroup]) -> Iterator[Violation]:
    volumes = staged(stack)
    owners = {
        owner.urn
        for group in groups
        for name in group.volume_claims
        if (owner := volumes.get((group.workload.provider, replica.namespace, name))) is not None
    }
    if not owners <= fleet.caches.keys():
        return  # the cache's own description cannot be read, and that is said
    read = {(fleet.caches[urn].cache, fleet.caches[urn].shape) for urn in owners}
    said = {replica.cache} if replica.cache else set()
    for name, _ in sorted(read - said):
        yield _lie(replica.replica, f"its pods read cache {name}, of which it says nothing")
    for name, _ in sorted(said - read):
        yield _lie(replica.replica, f"it says that it reads cache {name}; its pods do not mount it")


def _caches(stack: Stack, fleet: Fleet) -> Iterator[Violation]:
    owners = {owner.urn for claim in volumes_of(stack) if (owner := stack.owner(claim, CACHE)) is not None}
    for urn in fleet.caches:
        resource = stack.get(urn)
        if resource is not None and urn not in owners:
            yield _lie(resource.name, "it says that it is staged; there is no volume claim for it")


def _places(stack: Stack, fleet: Fleet) -> Iterator[Violation]:
    """Find components that are not on the cluster that they name, by the provider of what is under them."""
    said = {urn: fact.cluster for urn, fact in (*fleet.replicas.items(), *fleet.caches.items())}
    seen: set[tuple[str, str]] = set()
    for resource in stack.resources:
        if not resource.type.startswith("kubernetes:"):
            continue
        owner: Resource | None = stack.owner(resource, REPLICA, CACHE)
        if owner is None or owner.urn not in said:
            continue
        real = cluster_name(stack, resource)
        if real != said[owner.urn] and (owner.urn, real) not in seen:
            seen.add((owner.urn, real))
            where = f"cluster {real}" if real else "no cluster of this fleet"
            yield _lie(owner.name, f"it says that it is on cluster {said[owner.urn]}; {resource.name} is on {where}")


def _words(claims: Counter[tuple[str, str]]) -> str:
    parts = (
        f"{count} x {device} on {pool or '(no pool)'}" for (pool, device), count in sorted(claims.items()) if count
    )
    return ", ".join(parts) or "nothing"


def _lie(component: str, message: str) -> Violation:
    return Violation(RULE.name, component, message, RULE.remediation)


RULE: Final = Rule(
    name="component-truthful",
    description="What a component registers about itself agrees with the resources under it.",
    severity="critical",
    remediation="Fix the component; if it is Berth's own, this is a bug to report.",
    check=check,
)
