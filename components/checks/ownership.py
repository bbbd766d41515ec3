"""Ownership: a device has one owner, and no pool promises more devices than it has."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from components.checks.facts import FleetFacts, PoolFact
from components.checks.violation import Violation

CAPACITY_RULE = "devices-within-pool"
OWNER_RULE = "device-one-owner"

_EXTENDED = "nvidia.com/"
"""Prefix of the resources that a device plugin hands out; beside a DRA claim they would own the device twice."""
VISIBLE_DEVICES = "NVIDIA_VISIBLE_DEVICES"
"""Variable by which NVIDIA's container runtime gives a container devices whatever the pod claims (its default for
unprivileged containers: accept-nvidia-visible-devices-envvar-when-unprivileged, read 2026-08)."""
_TAKES_NONE = frozenset({"", "void", "none"})


def check_capacity(facts: FleetFacts) -> Iterator[Violation]:
    """No pod asks for more devices than a node has, and a pool's pods together for no more than the pool has.

    This is the bound that needs no trust in the scheduler: the promise it keeps is stricter.
    """
    pools = {(pool.cluster, pool.pool): pool for pool in facts.pools}
    asked: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for replica in facts.replicas:
        for member in replica.members:
            pool = pools.get((replica.cluster, member.pool))
            if pool is None:
                yield Violation(
                    CAPACITY_RULE,
                    replica.replica,
                    f"engine {member.engine} is placed on pool {member.pool or '(none)'}, which cluster"
                    f" {replica.cluster} does not have",
                    "plan again",
                )
                continue
            per_pod: defaultdict[str, int] = defaultdict(int)
            for device_class, count in member.claims:
                per_pod[device_class] += count
            for device_class, count in per_pod.items():
                per_node = devices_per_node(pool, device_class)
                if count > per_node:
                    yield Violation(
                        CAPACITY_RULE,
                        replica.replica,
                        f"a pod of engine {member.engine} claims {count} devices of {device_class}; a node of"
                        f" {pool.cluster}/{pool.pool} has {per_node}",
                        "ask for fewer devices per pod, or split the engine over more nodes",
                    )
                asked[(pool.cluster, pool.pool, device_class)] += count * member.pods
    for (cluster, name, device_class), total in sorted(asked.items()):
        pool = pools[(cluster, name)]
        available = pool.nodes * devices_per_node(pool, device_class)
        if total > available:
            yield Violation(
                CAPACITY_RULE,
                f"{cluster}/{name}",
                f"{total} devices of {device_class} are promised; the pool has {available}"
                f" ({pool.nodes} nodes of {devices_per_node(pool, device_class)})",
                "place fewer replicas on the pool, or raise its maxNodeCount",
            )


def devices_per_node(pool: PoolFact, device_class: str) -> int:
    """Count the devices of a DeviceClass that one node of the pool has."""
    return sum(each.count for each in pool.devices if each.claim == "DRA" and each.device_class == device_class)


def check_owners(facts: FleetFacts) -> Iterator[Violation]:
    """No container takes a device from a device plugin or sees those of others, and no pod shares another's claim."""
    for replica in facts.replicas:
        for member in replica.members:
            spec = member.template.get("spec") or {}
            for message in (*pod_owners(spec), *sees_every_device(spec)):
                yield Violation(
                    OWNER_RULE,
                    replica.replica,
                    f"engine {member.engine}: {message}",
                    "claim devices through the member's nodeSelector only",
                )


def pod_owners(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield what in a pod's specification would give a device a second owner, in words.

    Judges extended resources of a device plugin in any container, and claims that are shared by name.
    """
    for container in _containers(spec):
        resources = container.get("resources") or {}
        for kind in ("limits", "requests"):
            for resource in sorted(resources.get(kind) or {}):
                if resource.startswith(_EXTENDED):
                    name = container.get("name")
                    yield f"container {name} has {resource} in its {kind}, which a device plugin would serve"
    for claim in spec.get("resourceClaims") or ():
        if claim.get("resourceClaimName"):
            yield f"the pod shares the claim {claim['resourceClaimName']}; every pod needs a claim of its own"


def sees_every_device(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the containers of a serving pod that see devices past its claims, in words.

    A privileged container gets all device files of its node, claimed or not (Kubernetes, "Linux kernel security
    constraints for Pods and containers", 2026), and the container runtime gives those that a variable names.
    """
    for container in _containers(spec):
        name = container.get("name")
        if (container.get("securityContext") or {}).get("privileged"):
            yield f"container {name} is privileged, so it sees the devices that other pods on its node own"
        for variable in container.get("env") or ():
            if variable.get("name") == VISIBLE_DEVICES and variable.get("value", "all") not in _TAKES_NONE:
                yield f"container {name} sets {VISIBLE_DEVICES}, which takes devices that others claim"


def _containers(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield every container of a pod; a manifest has sidecars by themselves, a pod has them among the first ones."""
    for group in ("initContainers", "containers", "sidecars"):
        yield from spec.get(group) or ()
