"""The pack: every rule as a policy of the engine, mandatory unless a configuration says otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    PolicyPack,
    PolicyResource,
    ReportViolation,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError

from policies import (
    cache_fits_volume,
    cluster_taint_tolerated,
    component_truthful,
    device_one_owner,
    devices_within_pool,
    gpu_pool_tainted,
    gpu_taint_tolerated,
    replica_in_cache_footprint,
)
from policies.resources import UNKNOWN, Resource, Stack
from policies.rule import Rule

NAME: Final = "berth"
RULES: Final[tuple[Rule, ...]] = (
    gpu_pool_tainted.RULE,
    gpu_taint_tolerated.RULE,
    cluster_taint_tolerated.RULE,
    device_one_owner.RULE,
    devices_within_pool.RULE,
    replica_in_cache_footprint.RULE,
    cache_fits_volume.RULE,
    component_truthful.RULE,
)
_SEVERITIES: Final = {each.value: each for each in Severity}


def policies() -> list[Policy]:
    """Return every rule as a policy of the engine."""
    return [_policy(rule) for rule in RULES]


def serve() -> None:
    """Serve the pack to the engine; returns when the engine is done."""
    PolicyPack(
        name=NAME,
        enforcement_level=EnforcementLevel.MANDATORY,
        policies=policies(),
    )


def _policy(rule: Rule) -> StackValidationPolicy:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        stack = Stack(list(read(args.resources)))
        urns = {resource.name: resource.urn for resource in stack.resources}
        for violation in dict.fromkeys(rule.check(stack, args.get_config() if rule.config else {})):
            report(f"{violation.subject}: {violation.message}. {violation.remediation}", urns.get(violation.subject))
        if stack.deferred:
            # The engine then says that the rule could not run; what could be judged has been reported above.
            raise UnknownValueError(UNKNOWN_STRING_VALUE, sorted(set(stack.deferred))[:1])

    schema = PolicyConfigSchema(properties=dict(rule.config)) if rule.config else None
    return StackValidationPolicy(
        name=rule.name,
        description=rule.description,
        validate=validate,
        enforcement_level=EnforcementLevel.MANDATORY,
        severity=_SEVERITIES[rule.severity],
        remediation_steps=rule.remediation,
        config_schema=schema,
    )


def read(resources: Sequence[PolicyResource]) -> Iterator[Resource]:
    """Turn the engine's resources into plain ones; what is not known becomes ``UNKNOWN``."""
    for each in resources:
        yield Resource(
            type=each.resource_type,
            name=each.name,
            urn=each.urn,
            props=plain(each.props),
            parent=each.parent.urn if each.parent else "",
            provider=each.provider.urn if each.provider else "",
        )


def plain(value: Any) -> Any:
    """Copy a value out of the engine's proxies; reading an unknown part of one raises there and is ``UNKNOWN`` here."""
    if isinstance(value, Mapping):
        return {key: _item(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_item(value, position) for position in range(len(value))]
    return value


def _item(container: Any, key: Any) -> Any:
    try:
        return plain(container[key])
    except UnknownValueError:
        return UNKNOWN
