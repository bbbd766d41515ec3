"""A device has one owner: no device plugin beside the DRA driver, no shared claim, no privileged serving pod."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.ownership import OWNER_RULE, check_owners, pod_owners, sees_every_device
from components.checks.violation import Violation
from policies.facts import fleet_of
from policies.pods import DAEMON_SET, pod_groups
from policies.resources import Resource, Stack
from policies.rule import Rule

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
DRA_CHARTS: Final = frozenset({"dra-driver-nvidia-gpu", "nvidia-dra-driver-gpu"})
PLUGIN_CHARTS: Final = frozenset({"nvidia-device-plugin", "k8s-device-plugin"})
OPERATOR_CHARTS: Final = frozenset({"gpu-operator"})


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Find second owners of devices: in the shapes, in the raw pods, and among what runs on a cluster."""
    del config
    yield from check_owners(fleet_of(stack).facts)
    for group in pod_groups(stack):
        problems = [*pod_owners(group.spec)]
        if group.replica is not None or group.requests or group.pool:
            problems += sees_every_device(group.spec)  # agents of an operator, elsewhere, may have to
        if group.spec.get("resourceClaims") and group.replica is None:
            problems.append("it claims devices outside any replica, so nobody counts them")
        if any(request.shares for request in group.requests):
            problems.append("its claim asks for admin access, which shares devices that somebody else holds")
        for problem in problems:
            yield Violation(OWNER_RULE, group.workload.name, problem, RULE.remediation)
    yield from _plugins(stack)


def _plugins(stack: Stack) -> Iterator[Violation]:
    drivers: dict[str, Resource] = {}
    plugins: list[Resource] = []
    for release in stack.of_type(RELEASE):
        chart = str(stack.read(release, "chart") or "").rstrip("/").rpartition("/")[2]
        if chart in DRA_CHARTS:
            drivers[_where(stack, release)] = release
        elif chart in PLUGIN_CHARTS or (chart in OPERATOR_CHARTS and _operator_serves_devices(stack, release)):
            plugins.append(release)
    plugins += [
        group.workload
        for group in pod_groups(stack)
        if group.workload.type == DAEMON_SET and any(map(_is_plugin, group.spec["containers"]))
    ]
    for plugin in plugins:
        driver = drivers.get(_where(stack, plugin))
        if driver is not None:
            yield Violation(
                OWNER_RULE,
                plugin.name,
                f"it runs a device plugin on a cluster where {driver.name} runs the DRA driver: both would hand out"
                " the same GPUs",
                RULE.remediation,
            )


def _where(stack: Stack, resource: Resource) -> str:
    """Return the cluster that something is on; outside Berth's clusters, the provider stands for it."""
    cluster = stack.cluster_of(resource)
    return cluster.urn if cluster else resource.provider


def _is_plugin(container: Mapping[str, Any]) -> bool:
    """Say whether a container runs NVIDIA's device plugin, by its image's repository."""
    repository = str(container.get("image") or "").rpartition("@")[0] or str(container.get("image") or "")
    return repository.rpartition("/")[2].partition(":")[0] in PLUGIN_CHARTS


def _operator_serves_devices(stack: Stack, release: Resource) -> bool:
    enabled = stack.read(release, "values", "devicePlugin", "enabled")
    return enabled is not False


RULE: Final = Rule(
    name=OWNER_RULE,
    description="A device has one owner: DRA claims, one per pod, and no device plugin beside them.",
    severity="critical",
    remediation="Claim devices through the member's nodeSelector only; no device plugin, no privileged container.",
    check=check,
)
