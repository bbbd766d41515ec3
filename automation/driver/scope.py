"""Which stacks a step has business with, so that with one stack per cluster the others are not even asked.

A step is a lock of the whole fleet. A stack's share of it is compared with what the state says of the same share; where
they are equal the engine would find nothing to do. What no lock speaks of is seen in the plan's previews.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from automation.driver.reading import Situation
from automation.planning.doors import carry
from automation.planning.parts import Parts
from automation.planning.removed import clusters_gone
from automation.planning.step import Step, StepKind
from components.lock import Phase
from stacks.shard import Shard


def concerns(step: Step, situation: Situation, shard: Shard, *, disturbed: bool) -> bool:
    """Return whether a step may change anything in the stack of ``shard``.

    ``disturbed`` says that the plan's preview of the stack had changes; whatever their cause, they are the build's.
    """
    if disturbed and step.kind is StepKind.BUILD:
        return True
    existing, fleet = situation.existing, situation.fleet
    if step.kind is StepKind.RETIRE and any(shard.holds(name) for name in clusters_gone(existing, fleet)):
        return True
    before, after = Parts.of_existing(existing, fleet, marked=False), Parts.of_lock(step.lock)
    doors = [name for name in after.doors if shard.holds(name)]
    return _share(before, shard) != _share(after, shard) or not carry(existing, after, doors)


def _share(parts: Parts, shard: Shard) -> tuple[Parts, Mapping[Any, Any]]:
    """Return the parts that a stack holds, and the endpoints of replicas on its front doors."""
    held = replace(
        parts,
        clusters={name: entry for name, entry in parts.clusters.items() if shard.holds(name)},
        replicas={identity: pair for identity, pair in parts.replicas.items() if shard.holds(identity.cluster)},
        caches={identity: pair for identity, pair in parts.caches.items() if shard.holds(identity.cluster)},
        namespaces={key: created for key, created in parts.namespaces.items() if shard.holds(key[1])},
        doors=frozenset(door for door in parts.doors if shard.holds(door)),
    )
    if not shard.routes:
        return replace(held, services={}, endpoints={}), {}
    routed = {
        identity: (entry.name, entry.labels)
        for identity, (entry, _) in parts.replicas.items()
        if entry.phase is not Phase.STARTING
    }
    return held, routed
