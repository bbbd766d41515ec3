"""Projection: the pods of a pool without the kinds that cannot decide anything.

A node has several kinds of things, and most never run out first: eight pods of one GPU each that take a tenth of its
CPU fill its GPUs and leave CPU. Such a kind tells pods apart that are the same for every purpose. Without it sets have
fewer sizes, which the search for bad packings answers exactly, and often by arithmetic.

Kind k cannot decide beside kind e if pods that share a node within e are within k as well. That is so when each pod's
part of k is no larger than its part of e; pods that take nothing of e are first taken off the node's k, all of them.
The answer is then the same without k: whoever is kept off a node by k is kept off by e.
"""

from collections.abc import Mapping, Sequence

from automation.scheduling.patterns import Demand, Node

Counts = Sequence[tuple[Demand, int]]
"""Distinct demands with their numbers of pods."""


def projected(node: Node, pods: Counts) -> tuple[Node, Mapping[Demand, Demand]]:
    """Return a node without the kinds that cannot decide for ``pods``, and what is left of each demand.

    Each of ``pods`` fits on an empty node. The node is the same object when every kind may decide. What is left of a
    demand may be all zeros: such a pod finds room on any node.
    """
    if len(pods) == 1 or len(node.has) == 1:  # arithmetic answers these
        return node, {demand: demand for demand, _ in pods}
    kinds = list(range(len(node.has)))
    for kind in reversed(range(len(node.has))):
        if any(other != kind and _never_first(node, pods, kind, other) for other in kinds):
            kinds.remove(kind)
    if len(kinds) == len(node.has):
        return node, {demand: demand for demand, _ in pods}
    lean = Node(_only(node.has, kinds), _only(node.room, kinds))
    return lean, {demand: _only(demand, kinds) for demand, _ in pods}


def _never_first(node: Node, pods: Counts, kind: int, other: int) -> bool:
    """Whether ``kind`` holds on every node on which ``other`` does."""
    if node.has[kind] != node.room[kind] or node.has[other] != node.room[other]:
        return False  # kinds of which a request may take one or another are counted in two ways
    spare = node.has[kind] - sum(demand[kind] * count for demand, count in pods if not demand[other])
    return spare >= 0 and all(
        demand[kind] * node.has[other] <= spare * demand[other] for demand, _ in pods if demand[other]
    )


def _only(demand: Demand, kinds: Sequence[int]) -> Demand:
    return tuple(demand[kind] for kind in kinds)
