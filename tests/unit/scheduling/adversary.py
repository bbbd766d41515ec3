"""An adversary of the promise: starts the pods of a pool one by one, in every order, each on every node, in every way.

It knows no demands and no accounting, only what the in-cluster scheduler and its allocator may do: a pod may start on
any node where its claims can be met, and each claim may take any devices of its DeviceClass that its selectors match.
CPU and memory are devices of which a pod takes so many; amounts are whole cores and bytes, and have to be small.
Whoever finds no node then is stranded. Exponential; a few nodes and pods are its limit.
"""

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations_with_replacement

from automation.scheduling.result import Schedule
from automation.scheduling.snapshot import Device, Pool, Snapshot, Strategy
from components.cel.selector import Outcome
from components.lock import EnginePlacement, MemberShape, ReplicaShape
from tests.unit.scheduling.builder import evaluate

Claimed = tuple[int, frozenset[int]]
"""A number of devices, and the positions of the kinds that it may be taken from."""
Pod = tuple[Claimed, ...]
Free = tuple[int, ...]
"""Devices left on a node, by position."""


def stranded(pool: Pool, nodes: int, pods: tuple[Pod, ...]) -> bool:
    """Whether some order and some choices of nodes and devices leave a pod without a node."""

    @cache
    def stuck(left: tuple[Pod, ...], state: tuple[Free, ...]) -> bool:
        for pod in dict.fromkeys(left):
            after = [(number, free) for number, node in enumerate(state) for free in outcomes(pod, node)]
            if not after:
                return True
            rest = list(left)
            rest.remove(pod)
            for number, free in after:
                if stuck(tuple(rest), tuple(sorted((*state[:number], free, *state[number + 1 :])))):
                    return True
        return False

    empty = (*(device.count for device in pool.devices), *_offered(pool).values())
    return stuck(tuple(sorted(pods, key=str)), (empty,) * nodes)


@cache
def outcomes(pod: Pod, node: Free) -> frozenset[Free]:
    """Return what may be left of a node once a pod has started on it; nothing when it cannot."""
    left = {node}
    for count, kinds in pod:
        left = {after for before in left for after in _taken(count, sorted(kinds), before)}
    return frozenset(left)


def _taken(count: int, kinds: list[int], node: Free) -> set[Free]:
    after = set()
    for chosen in combinations_with_replacement(kinds, count):
        free = tuple(have - chosen.count(position) for position, have in enumerate(node))
        if min(free) >= 0:
            after.add(free)
    return after


def pods_of(snapshot: Snapshot, made: Schedule) -> dict[tuple[str, str], list[Pod]]:
    """Return every claiming pod that can exist until a schedule is carried out, by cluster and pool."""
    pools = {(one.name, each.name): each for one in snapshot.clusters for each in one.pools}
    found: dict[tuple[str, str], list[Pod]] = defaultdict(list)

    def add(cluster: str, shape: ReplicaShape, placement: tuple[EnginePlacement, ...]) -> None:
        for engine, placing in zip(shape.engines, placement, strict=True):
            for member, place in zip(engine.members, placing.members, strict=True):
                pool = pools.get((cluster, place.pool))
                if pool is None:
                    continue
                requests = {request.name: request for request in member.requests}
                pod = tuple(
                    (
                        requests[claim.request].count,
                        _kinds(pool.devices, claim.device_class, requests[claim.request].selectors),
                    )
                    for claim in place.claims
                )
                if snapshot.options.strategy is not Strategy.COMPATIBLE:
                    pod += _asked(member, pool)
                if pod:
                    found[cluster, place.pool] += [pod] * (member.pods * engine.copies)

    live = {each.id: each for each in snapshot.replicas}
    placed = {each.id: each for each in made.placements}
    for each in made.placements:
        add(each.id.cluster, each.shape, each.placement)
    for identity, replica in live.items():
        if identity not in placed:
            add(identity.cluster, replica.shape, replica.entry.placement)
    return found


def _offered(pool: Pool) -> dict[str, int]:
    """Return what a node offers in whole units."""
    return {name: amount // {"cpu": 1000, "memory": 1}[name] for name, amount in pool.allocatable}


def _asked(member: MemberShape, pool: Pool) -> Pod:
    """Return what a pod takes of what its nodes offer; the kinds come after the devices."""
    containers = member.template.get("spec", {}).get("containers", [])
    asked: Counter[str] = Counter()
    for each in containers:
        asked.update({name: int(amount) for name, amount in each["resources"]["requests"].items()})
    return tuple(
        (asked[name], frozenset({kind})) for kind, name in enumerate(_offered(pool), len(pool.devices)) if asked[name]
    )


def _kinds(devices: tuple[Device, ...], device_class: str, selectors: tuple[str, ...]) -> frozenset[int]:
    return frozenset(
        position
        for position, device in enumerate(devices)
        if device.claimable
        and device.device_class == device_class
        and all(evaluate(selector, device)[0] is Outcome.MATCH for selector in selectors)
    )


def nodes_of(snapshot: Snapshot, pool: Pool) -> int:
    """Return the nodes that a strategy counts on."""
    return pool.maximum if snapshot.options.strategy is Strategy.COMPATIBLE else pool.nodes
