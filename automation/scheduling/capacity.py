"""Capacity as a promise: whether a set of pods fits a pool whatever the in-cluster scheduler does with it.

Each pod that claims devices runs on some node; who sits where is decided in the cluster, and again after every restart.
Under ``Device`` accounting a set of pods fits a pool when every pod of it would find a node whatever legal packing the
others took. The law is monotone: taking pods away or adding nodes never breaks it. ``Node`` is the predecessor's rule
(a pod takes a node) and ``BestFit`` the optimistic one (the pods fit somehow); both are here because an environment
chooses among the three.

Limit: pods of mixed sizes cost room. One 8-device pod on ten nodes of eight admits nine 1-device pods beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from automation.scheduling.patterns import Demand, Node, most_blocked
from automation.scheduling.projection import projected
from automation.scheduling.snapshot import Accounting

Pods = Mapping[Demand, int]
"""How many pods of each demand; a demand without pods may be absent or zero."""

_Key = tuple[tuple[Demand, int], ...]


@dataclass(slots=True)
class Capacity:
    """Answers for one accounting, each computed once."""

    accounting: Accounting = Accounting.DEVICE
    _fits: dict[tuple[Node, int, _Key], bool] = field(default_factory=dict)
    _blocked: dict[tuple[Node, Demand, _Key], int] = field(default_factory=dict)

    def fits(self, node: Node, nodes: int, pods: Pods) -> bool:
        """Return whether ``pods`` fit on ``nodes`` nodes of a kind."""
        key = (node, nodes, _key(pods))
        answer = self._fits.get(key)
        if answer is None:
            answer = self._fits[key] = self._answer(node, nodes, key[2])
        return answer

    def victim(self, node: Node, nodes: int, pods: Pods) -> Demand | None:
        """Return the largest demand whose pod could be left without a node by a bad packing; None when none could."""
        listed = _key(pods)
        if self.accounting is not Accounting.DEVICE:
            return None
        lean, left = projected(node, listed)
        others = _key(_merged(listed, left))
        return next(
            (
                each
                for each, _ in reversed(listed)
                if any(left[each]) and self.blocked(lean, left[each], others) >= nodes
            ),
            None,
        )

    def blocked(self, node: Node, demand: Demand, pods: _Key) -> int:
        """Return how many nodes the other pods can block for one pod of ``demand``, which is among ``pods``."""
        others = tuple((each, count - (each == demand)) for each, count in pods if count > (each == demand))
        key = (node, demand, others)
        answer = self._blocked.get(key)
        if answer is None:
            answer = self._blocked[key] = most_blocked(node, demand, others)
        return answer

    def _answer(self, node: Node, nodes: int, pods: _Key) -> bool:
        total = sum(count for _, count in pods)
        if not all(node.holds(demand) for demand, _ in pods):
            return False
        if total <= nodes or not nodes or self.accounting is Accounting.NODE:
            return total <= nodes
        lean, left = projected(node, pods)
        if lean is not node:
            return self.fits(lean, nodes, _merged(pods, left))
        return self._packed(node, nodes, pods)

    def _packed(self, node: Node, nodes: int, pods: _Key) -> bool:
        """Return whether pods that have to share nodes fit; each fits on an empty one."""
        if self.accounting is Accounting.BEST_FIT:
            return _packs(node, nodes, pods)
        if len(pods) == 1:
            return pods[0][1] <= nodes * per_node(node, pods[0][0])
        if any(sum(demand[kind] * count for demand, count in pods) > has * nodes for kind, has in enumerate(node.room)):
            return False
        return all(self.blocked(node, demand, pods) < nodes for demand, _ in pods)


def per_node(node: Node, demand: Demand) -> int:
    """Return how many pods of one demand a node is sure to take."""
    return min(has // wanted for has, wanted in zip(node.has, demand, strict=True) if wanted)


def _merged(pods: _Key, left: Mapping[Demand, Demand]) -> Pods:
    """Count pods by what is left of their demands; those of which nothing is left find room anyway."""
    merged: dict[Demand, int] = {}
    for demand, count in pods:
        if any(left[demand]):
            merged[left[demand]] = merged.get(left[demand], 0) + count
    return merged


def _key(pods: Pods) -> _Key:
    if len(pods) == 1:
        return tuple(item for item in pods.items() if item[1])
    return tuple(sorted(item for item in pods.items() if item[1]))


def _packs(node: Node, nodes: int, pods: _Key) -> bool:
    """First fit, largest pods first: exact for one kind and sizes that divide each other, else it may say no early."""
    free: dict[Demand, int] = {node.room: nodes}
    for demand, count in reversed(pods):
        left = count
        while left:
            tightest = min(
                (each for each, number in free.items() if number and all(map(int.__le__, demand, each))), default=None
            )
            if tightest is None:
                return False
            free[tightest] -= 1
            rest: Demand = tuple(map(int.__sub__, tightest, demand))
            free[rest] = free.get(rest, 0) + 1
            left -= 1
    return True
