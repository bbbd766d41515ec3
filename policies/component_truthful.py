"""A component's description agrees with the raw resources under it: what the other rules judge is true."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.facts import PoolFact, ReplicaFact
from components.checks.violation import Violation
from components.labels import Label
from policies.facts import described
from policies.gpu_pool_tainted import NODE_GROUP
from policies.pods import PodGroup, claimed_devices, pod_groups
from policies.resources import POOL, REPLICA, Stack
from policies.rule import Rule

_EFFECTS: Final = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Compare pools with their node groups, and replicas with their workloads and claims."""
    del config
    yield from _pools(stack)
    yield from _replicas(stack)


def _pools(stack: Stack) -> Iterator[Violation]:
    groups = {owner.urn: group for group in stack.of_type(NODE_GROUP) if (owner := stack.owner(group, POOL))}
    for urn, props in described(stack, POOL):
        pool = PoolFact.from_props(props)
        component = f"{pool.cluster}/{pool.pool}"
        group = groups.get(urn)
        if group is None:
            continue
        ceiling = stack.read(group, "scalingConfig", "maxSize")
        if ceiling is not None and pool.nodes > int(ceiling):
            yield _lie(component, f"it says that it has {pool.nodes} nodes, its node group has {int(ceiling)} at most")
        real = {
            (taint.get("key"), taint.get("value") or "", _EFFECTS.get(taint.get("effect"), taint.get("effect")))
            for taint in stack.read(group, "taints") or []
        }
        said = {(taint.key, taint.value, taint.effect) for taint in pool.taints}
        if said - real:
            names = ", ".join(f"{key}={value}:{effect}" for key, value, effect in sorted(said - real))
            yield _lie(component, f"it says that its nodes have the taint {names}; its node group does not give it")
        label = (stack.read(group, "labels") or {}).get(Label.POOL.value)
        if label != pool.pool:
            yield _lie(component, f"its nodes are labelled as pool {label or '(none)'}, not {pool.pool}")


def _replicas(stack: Stack) -> Iterator[Violation]:
    groups: dict[str, list[PodGroup]] = {}
    for group in pod_groups(stack):
        owner = stack.owner(group.workload, REPLICA)
        if owner is not None:
            groups.setdefault(owner.urn, []).append(group)
    for urn, props in described(stack, REPLICA):
        replica = ReplicaFact.from_props(props)
        said: Counter[tuple[str, str]] = Counter()
        for member in replica.members:
            for device_class, count in member.claims:
                said[(member.pool, device_class)] += count * member.pods
        real: Counter[tuple[str, str]] = Counter()
        for group in groups.get(urn, ()):
            for device_class, count in claimed_devices(stack, group):
                real[(group.pool, device_class)] += count * group.count
        if +said != +real:
            yield _lie(replica.replica, f"it says that it claims {_words(said)}; its pods claim {_words(real)}")


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
