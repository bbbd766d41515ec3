"""A pool as it was seen: its nodes, which of them can take the pods that are promised there, and why others cannot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from automation.observe.facts import Node, NodeTaint, Published
from automation.observe.kinds import Difference, Kind, differences, kind_of, view_of
from components.clusters.pool_facts import PoolFacts
from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY, Label


@dataclass(frozen=True, slots=True)
class SeenNode:
    """One node of a pool. ``why_unusable`` is empty where the pods of a replica can come."""

    node: Node
    why_unusable: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """By kind, the devices that its drivers publish and that no taint bars."""
    differences: tuple[tuple[str, Difference], ...] = ()
    """Where its devices are not as the class says, by kind, each once."""

    @property
    def usable(self) -> bool:
        """Whether it can take the pods that are promised on it."""
        return not self.why_unusable


@dataclass(frozen=True, slots=True)
class SeenPool:
    """One pool; its nodes by name. ``devices_known`` is False where nobody could read what drivers publish."""

    name: str
    kinds: tuple[Kind, ...] = ()
    nodes: tuple[SeenNode, ...] = ()
    devices_known: bool = True

    @property
    def usable(self) -> int:
        """How many nodes can take pods."""
        return sum(each.usable for each in self.nodes)

    @property
    def unusable(self) -> int:
        """How many nodes are there and cannot."""
        return len(self.nodes) - self.usable


def seen_pool(facts: PoolFacts, nodes: Iterable[Node], devices: Sequence[Published] | None) -> SeenPool:
    """Look at a pool: its nodes are those that bear its name in the pool label.

    Without ``devices`` (nobody could read them) a node counts by its own condition. With them a node that publishes
    fewer devices than its class has cannot keep what is promised on it, so it does not count.
    """
    kinds = Kind.all_of(facts.devices)
    by_node: dict[str, list[Published]] = {}
    for device in devices or ():
        by_node.setdefault(device.node, []).append(device)
    seen = [
        _seen_node(node, kinds, by_node.get(node.name, []) if devices is not None else None)
        for node in sorted(nodes, key=lambda each: each.name)
        if node.labels.get(Label.POOL.value) == facts.pool
    ]
    return SeenPool(facts.pool, kinds, tuple(seen), devices is not None)


def tolerated(taint: NodeTaint) -> bool:
    """Whether every serving pod tolerates a taint, whatever its value: that of GPU pools."""
    return taint.key == GPU_TAINT_KEY and taint.effect == GPU_TAINT_EFFECT


def _seen_node(node: Node, kinds: Sequence[Kind], devices: Sequence[Published] | None) -> SeenNode:
    why = []
    if not node.ready:
        why.append(f"not ready ({node.why_not})")
    if node.cordoned:
        why.append("cordoned")
    # Kubernetes marks a node that is cordoned or not ready with taints of its own; they say nothing more.
    own = "node.kubernetes.io/"
    why += [f"tainted {each}" for each in node.taints if not tolerated(each) and not each.key.startswith(own)]
    if not why:
        why += [f"tainted {each}" for each in node.taints if not tolerated(each)]
    if devices is None:
        return SeenNode(node, tuple(why))
    counts = dict.fromkeys((kind.name for kind in kinds), 0)
    found: dict[tuple[str, Difference], None] = {}
    for device in devices:
        view = view_of(device)
        kind = kind_of(view, kinds)
        if kind is not None:
            counts[kind.name] += not device.barred
            found |= dict.fromkeys((kind.name, each) for each in differences(kind.view, view))
    why += [
        f"publishes {counts[kind.name]} of {kind.count} {kind.name}" for kind in kinds if counts[kind.name] < kind.count
    ]
    return SeenNode(node, tuple(why), counts, tuple(sorted(found)))
