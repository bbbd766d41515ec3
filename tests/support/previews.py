"""Two plans of one environment, one on simulated and one on real Kubernetes, and all that differs between them.

Compared are the target lock, the steps, and of the engine's preview every operation with its URN, what differs and
what it would be given, and the verdicts of the policies. What clusters answer (outputs) is theirs and is not compared,
but for what Berth's own components make of it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from fnmatch import fnmatchcase
from typing import Any, Final

import yaml

from automation.driver.planner import Plan
from automation.engine.events import PolicyFinding, ResourceStep
from automation.engine.runner import Preview
from components.lock import dump_lock

_MARK: Final = "the mark of a backed run"
_SERVER: Final = "a control plane of this machine answers elsewhere"
_BALANCER: Final = "a load balancer has a host name in the simulated cloud, and a documentation address by its stand-in"

ALLOWED: Final[Mapping[str, str]] = {
    "lock platform.yaml.backed": _MARK,
    "pulumi:pulumi:Stack *.outputs.backed": _MARK,
    "berth:index:EksCluster *.outputs.endpoint": _SERVER,
    "pulumi:pulumi:Stack *.outputs.clusters.*.endpoint": _SERVER,
    "berth:index:* *.outputs.*ddress": _BALANCER,
    "pulumi:pulumi:Stack *.outputs.clusters.*.gatewayAddress": _BALANCER,
    "pulumi:pulumi:Stack *.outputs.frontDoors.*": _BALANCER,
    "pulumi:pulumi:Stack *.outputs.services.*": _BALANCER,
    "kubernetes:discovery.k8s.io/v1:EndpointSlice *puts.addressType": _BALANCER,
    "kubernetes:discovery.k8s.io/v1:EndpointSlice *puts.endpoints.*.addresses.*": _BALANCER,
    "pulumi:providers:* *.id": "the engine draws the ids of providers at random",
}
"""What may differ, as globs of a type, a name and a path; and why."""

_COMPARED: Final = (
    "provider",
    "parent",
    "custom",
    "protected",
    "retained",
    "logical",
    "replace_keys",
    "inputs",
    "old_inputs",
    "init_errors",
)


def differences(one: Plan, other: Plan) -> list[str]:
    """Say what differs between two plans and is not allowed to."""
    found = [*_lock_differences(one, other), *_differing("steps", _steps(one), _steps(other))]
    found += _differing("stacks", sorted(map(str, one.previews)), sorted(map(str, other.previews)))
    for stack, preview in one.previews.items():
        if stack in other.previews:
            found += _preview_differences(preview, other.previews[stack])
    return [f"{where}: {left} / {right}" for where, left, right in found if not allowed(where)]


def allowed(where: str) -> bool:
    """Whether a place may differ."""
    return any(fnmatchcase(where, pattern) for pattern in ALLOWED)


def _lock_differences(one: Plan, other: Plan) -> Iterator[tuple[str, Any, Any]]:
    locks = [{name: yaml.safe_load(text) for name, text in dump_lock(plan.target).items()} for plan in (one, other)]
    for where, left, right in _differing("", *locks):
        yield f"lock {where.removeprefix('.')}", left, right


def _steps(plan: Plan) -> list[Any]:
    return [(step.kind.value, asdict(step.summary)) for step in plan.steps]


def _preview_differences(one: Preview, other: Preview) -> Iterator[tuple[str, Any, Any]]:
    left, right = Counter(map(_operation, one.steps)), Counter(map(_operation, other.steps))
    yield from ((f"only simulated: {key}", number, 0) for key, number in sorted((left - right).items()))
    yield from ((f"only backed: {key}", 0, number) for key, number in sorted((right - left).items()))
    there = {_operation(step): step for step in other.steps}
    for step in one.steps:
        if _operation(step) in there:
            subject = f"{step.type} {step.name} {step.op.value}"
            yield from _differing(subject, _compared(step), _compared(there[_operation(step)]))
    yield from _differing("verdicts", _verdicts(one), _verdicts(other))
    yield from _differing("result", _result(one), _result(other))


def _operation(step: ResourceStep) -> tuple[str, str]:
    return step.urn, step.op.value


def _compared(step: ResourceStep) -> dict[str, Any]:
    found = {name: getattr(step, name) for name in _COMPARED}
    found["diffs"] = sorted((each.path, each.kind, each.inputs_only) for each in step.diffs)
    if step.is_provider:
        found["id"] = step.id
    if not step.custom:
        found["outputs"] = step.outputs
    return found


def _verdicts(preview: Preview) -> dict[str, Any]:
    """Give what the policies said, without times and places in the stream; a local pack is also named by its path."""
    said = preview.policies
    return {
        "findings": sorted(map(_finding, said.findings)),
        "deferred": sorted(map(_finding, said.deferred)),
        "remediated": sorted((each.rule, each.urn) for each in said.remediations),
        "judged": sorted((each.urn, each.analysis.value, each.passed, each.failed) for each in said.summaries),
        "packs": sorted((name.partition("|")[0], version) for name, version in said.packs.items()),
    }


def _finding(found: PolicyFinding) -> tuple[str, str, str, str]:
    return found.rule, found.level.value, found.urn, found.message


def _result(preview: Preview) -> dict[str, Any]:
    counts = {op.value: number for op, number in preview.changes.items()}
    return {"ok": preview.ok, "refused": preview.refused, "changes": counts, "failures": preview.failures}


def _differing(where: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the places at which two values differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}, key=str):
            yield from _differing(f"{where}.{key}", one.get(key), other.get(key))
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differing(f"{where}.{index}", left, right)
    elif one != other:
        yield where, one, other
