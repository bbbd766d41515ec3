"""The worst that a scheduler may do with the pods of a pool: which nodes they could block for one of them.

It knows pods only as numbers of devices by kind, tries every packing, and is for a few nodes and pods.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Taken = tuple[int, ...]
"""Devices by kind."""


@dataclass(frozen=True, slots=True)
class Attack:
    """Pods (positions) that start first, each on a node, and the pod for which they then block ``blocked`` nodes."""

    victim: int
    starts: tuple[tuple[int, int], ...] = ()
    blocked: int = 0


def worst(has: Taken, nodes: int, pods: Sequence[Taken]) -> Attack:
    """Return the packing that blocks the most nodes for one pod, with as few others as that takes."""
    attacks = [_against(has, nodes, pods, victim) for victim in range(len(pods)) if pods.index(pods[victim]) == victim]
    return max(attacks, key=lambda attack: attack.blocked, default=Attack(0))


def whole(has: Taken, nodes: int, pods: Sequence[Taken]) -> tuple[tuple[int, int], ...]:
    """Return a packing of all pods, the largest first; raises ValueError when there is none."""
    order = sorted(range(len(pods)), key=lambda number: pods[number], reverse=True)
    for starts, _ in _packings(has, nodes, [(number, pods[number]) for number in order]):
        if len(starts) == len(pods):
            return starts
    raise ValueError("these pods do not fit on these nodes")


def _against(has: Taken, nodes: int, pods: Sequence[Taken], victim: int) -> Attack:
    need = pods[victim]
    others = sorted((number for number in range(len(pods)) if number != victim), key=lambda each: pods[each])
    best = Attack(victim)
    for starts, used in _packings(has, nodes, [(number, pods[number]) for number in others]):
        blocked = sum(not _fits(has, node, need) for node in used)
        if (blocked, -len(starts)) > (best.blocked, -len(best.starts)):
            best = Attack(victim, starts, blocked)
    return best


def _packings(
    has: Taken, nodes: int, pods: Sequence[tuple[int, Taken]]
) -> Iterator[tuple[tuple[tuple[int, int], ...], tuple[Taken, ...]]]:
    """Yield every way to start any of some pods, and what is then used; nodes that are alike are told apart once."""
    empty = (0,) * len(has)
    stack: list[tuple[int, tuple[tuple[int, int], ...], tuple[Taken, ...]]] = [(0, (), (empty,) * nodes)]
    seen = set()
    while stack:
        position, starts, used = stack.pop()
        key = (position, tuple(sorted(used)))
        if key in seen:
            continue
        seen.add(key)
        yield starts, used
        for number, (pod, need) in enumerate(pods[position:], start=position):
            for node in {free: index for index, free in enumerate(used)}.values():
                if _fits(has, used[node], need):
                    after = tuple(map(int.__add__, used[node], need))
                    stack.append((number + 1, (*starts, (pod, node)), (*used[:node], after, *used[node + 1 :])))


def _fits(has: Taken, used: Taken, need: Taken) -> bool:
    return all(not each or taken + each <= most for most, taken, each in zip(has, used, need, strict=True))
