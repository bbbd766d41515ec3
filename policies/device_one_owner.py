"""A device has one owner: no device plugin beside the DRA driver, no shared claim, no privileged serving pod."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.ownership import OWNER_RULE, check_owners, pod_owners, sees_every_device
from components.checks.violation import Violation
from policies.facts import fleet_of
from policies.pods import DAEMON_SET, pod_groups
from policies.resources import REPLICA, Resource, Stack
from policies.rule import Rule

RELEASES: Final = ("kubernetes:helm.sh/v3:Release", "kubernetes:helm.sh/v4:Chart")
"""A chart that the program renders (v4) publishes no more than its objects as a rule: those are judged themselves."""
OPERATOR_POLICY: Final = "kubernetes:nvidia.com/v1:ClusterPolicy"
"""What NVIDIA's GPU operator is told by, also when its chart is rendered or came from elsewhere."""
DRA_CHARTS: Final = frozenset({"dra-driver-nvidia-gpu", "nvidia-dra-driver-gpu"})
PLUGIN_CHARTS: Final = frozenset({"nvidia-device-plugin", "k8s-device-plugin"})
OPERATOR_CHARTS: Final = frozenset({"gpu-operator"})


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Find second owners of devices: in the shapes, in the raw pods, and among what runs on a cluster."""
    del config
    yield from check_owners(fleet_of(stack).facts)
    for group in pod_groups(stack):
        problems = [*pod_owners(group.spec)]
        if group.replica is not None or group.requests:
            problems += sees_every_device(group.spec)  # an operator's agents, beside them, may have to
        if group.spec.get("resourceClaims") and group.replica is None:
            problems.append("it claims devices outside any replica, so nobody counts them")
        if group.replica is not None:
            owners = ((each, stack.owner(each, REPLICA)) for each in group.templates)
            problems += [
                f"its claims come from {template.name}, which belongs to {owner.name} and changes with that"
                for template, owner in owners
                if owner is not None and owner.urn != group.replica.urn
            ]
        if any(request.shares for request in group.requests):
            problems.append("its claim asks for admin access, which shares devices that somebody else holds")
        for problem in problems:
            yield Violation(OWNER_RULE, group.workload.name, problem, RULE.remediation)
    yield from _plugins(stack)


def _plugins(stack: Stack) -> Iterator[Violation]:
    drivers: dict[str, Resource] = {}
    plugins: list[Resource] = []
    for release in stack.of_type(*RELEASES):
        chart = str(stack.read(release, "chart") or "").rstrip("/").rpartition("/")[2]
        if chart in DRA_CHARTS:
            drivers[stack.place_of(release)] = release
        elif chart in PLUGIN_CHARTS or (chart in OPERATOR_CHARTS and _serves_devices(stack, release, "values")):
            plugins.append(release)
    plugins += [each for each in stack.of_type(OPERATOR_POLICY) if _serves_devices(stack, each, "spec")]
    plugins += [
        group.workload
        for group in pod_groups(stack)
        if group.workload.type == DAEMON_SET and any(map(_is_plugin, group.spec["containers"]))
    ]
    for plugin in plugins:
        driver = drivers.get(stack.place_of(plugin))
        if driver is not None:
            yield Violation(
                OWNER_RULE,
                plugin.name,
                f"it runs a device plugin on a cluster where {driver.name} runs the DRA driver: both would hand out"
                " the same GPUs",
                RULE.remediation,
            )


def _is_plugin(container: Mapping[str, Any]) -> bool:
    """Say whether a container runs NVIDIA's device plugin, by its image's repository."""
    repository = str(container.get("image") or "").rpartition("@")[0] or str(container.get("image") or "")
    return repository.rpartition("/")[2].partition(":")[0] in PLUGIN_CHARTS


def _serves_devices(stack: Stack, operator: Resource, settings: str) -> bool:
    """Say whether NVIDIA's operator runs its device plugin, which it does unless it is told not to."""
    return stack.read(operator, settings, "devicePlugin", "enabled") is not False


RULE: Final = Rule(
    name=OWNER_RULE,
    description="A device has one owner: DRA claims, one per pod, and no device plugin beside them.",
    severity="critical",
    remediation="Claim devices through the member's nodeSelector only; no device plugin, no privileged container.",
    check=check,
)
