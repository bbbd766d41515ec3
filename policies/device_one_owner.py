"""A device has one owner: no device plugin beside the DRA driver, no shared claim, no extended resource."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.checks.ownership import OWNER_RULE, check_owners, pod_owners
from components.checks.violation import Violation
from policies.facts import facts_of
from policies.pods import pod_groups
from policies.resources import REPLICA, Resource, Stack
from policies.rule import Rule

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
DRA_CHARTS: Final = frozenset({"dra-driver-nvidia-gpu", "nvidia-dra-driver-gpu"})
PLUGIN_CHARTS: Final = frozenset({"nvidia-device-plugin", "k8s-device-plugin"})
OPERATOR_CHARTS: Final = frozenset({"gpu-operator"})


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Find second owners of devices: in the shapes, in the raw pods, and among the charts of a cluster."""
    del config
    yield from check_owners(facts_of(stack))
    for group in pod_groups(stack):
        for message in pod_owners(group.spec):
            yield Violation(OWNER_RULE, group.workload.name, message, RULE.remediation)
        owner = stack.owner(group.workload, REPLICA)
        if group.spec.get("resourceClaims") and owner is None:
            yield Violation(
                OWNER_RULE,
                group.workload.name,
                "it claims devices outside any replica, so nobody counts them",
                RULE.remediation,
            )
    yield from _charts(stack)


def _charts(stack: Stack) -> Iterator[Violation]:
    drivers: dict[str, Resource] = {}
    plugins: list[Resource] = []
    for release in stack.of_type(RELEASE):
        chart = str(stack.read(release, "chart") or "").rpartition("/")[2]
        if chart in DRA_CHARTS:
            drivers[release.provider] = release
        elif chart in PLUGIN_CHARTS or (chart in OPERATOR_CHARTS and _operator_serves_devices(stack, release)):
            plugins.append(release)
    for plugin in plugins:
        driver = drivers.get(plugin.provider)
        if driver is not None:
            yield Violation(
                OWNER_RULE,
                plugin.name,
                f"it runs a device plugin on a cluster where {driver.name} runs the DRA driver: both would hand out"
                " the same GPUs",
                RULE.remediation,
            )


def _operator_serves_devices(stack: Stack, release: Resource) -> bool:
    enabled = stack.read(release, "values", "devicePlugin", "enabled")
    return enabled is not False


RULE: Final = Rule(
    name=OWNER_RULE,
    description="A device has one owner: DRA claims, one per pod, and no device plugin beside them.",
    severity="critical",
    remediation="Claim devices through the member's nodeSelector only, and switch the device plugin off.",
    check=check,
)
