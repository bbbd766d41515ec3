"""Compiles every selector of every deployment, and reports what Kubernetes would refuse inside the expression.

An expression is refused when no cluster of the fleet could take it: it is compiled for every Kubernetes minor that a
cluster has. Which of them take it is the scheduler's question. What Kubernetes takes and no device
can make succeed, such as `quantity('80GB')`, is warned of.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from components.api import syntax
from components.api.codes import Code
from components.api.inference_cluster import InferenceCluster
from components.api.model_deployment import DeviceRequest, ModelDeployment
from components.api.near import did_you_mean
from components.api.nodes import PathPart
from components.api.reading import Reading
from components.cel.environment import DEFAULT_MINOR, MINORS, environment, minor_of, written_minor
from components.cel.failing import FailingCall, failing_calls
from components.cel.problem import Position, SelectorError
from components.cel.selector import compile_selector, first_minor_that_takes


@dataclass(frozen=True, slots=True)
class _Judgement:
    """What is wrong inside one expression: why it is refused, or the calls of it that always fail."""

    refusal: SelectorError | None = None
    failing: tuple[FailingCall, ...] = ()


Failing = Mapping[str, Sequence[FailingCall]]
"""By expression, the calls in it that can only fail; each was warned of where it stands."""


def check_selectors(reading: Reading) -> Failing:
    """Record a problem for every selector that does not compile, and for every call in one that can only fail."""
    clusters = _clusters_by_minor(reading)
    judged: dict[str, _Judgement] = {}
    for source, deployment in reading.documents(ModelDeployment):
        for path, expression in expressions(deployment):
            if expression not in judged:
                judged[expression] = _judge(expression, tuple(clusters))
            refusal = judged[expression].refusal
            if refusal is not None:
                message, hint = _words(expression, refusal, clusters)
                source.add(Code.SELECTOR_INVALID, message, path, hint=hint, inner=inner(refusal.position))
            for call in judged[expression].failing:
                message = f"this part of the selector fails on every device: {_reason(call)}"
                source.warn(Code.SELECTOR_FAILS, message, path, inner=inner(call.position))
    return {expression: each.failing for expression, each in judged.items() if each.failing}


def inner(position: Position) -> tuple[int, int]:
    """Return a place inside an expression as line and column from 0."""
    return position.line - 1, position.column


_CHECKS = {"quantity": syntax.quantity, "semver": syntax.semantic_version}


def _reason(call: FailingCall) -> str:
    """Say what the text of a call must be; in the words of fields of that type, where a field has it."""
    check = _CHECKS.get(call.function)
    wanted = check(call.text) if check else ""
    return f"`{call.text}` must {wanted}" if wanted else call.message


_MADE = {
    "kubernetes.Quantity": "a quantity is written quantity('20Gi')",
    "kubernetes.Semver": "a version is written semver('9.0.0')",
}
"""How to write a value of a type that is often written as plain text, by the type's name."""


_UNKNOWN: Final = re.compile(r"undeclared reference to (?:function )?'([\w.]+)'")


def _hint(failure: SelectorError, minor: str) -> str:
    """Say what name was meant, or how the other side is written where a text stands beside a value that is none."""
    unknown = _UNKNOWN.fullmatch(failure.message)
    if unknown:
        known = environment(minor, stored=False)
        macros = {name for name, _, _ in known.macros}
        return did_you_mean(unknown[1], {"device"} | macros | {name for name in known.functions if name[0].isalpha()})
    overload = failure.message if "no matching overload" in failure.message and "string" in failure.message else ""
    return next((f"{words}, not as text" for name, words in _MADE.items() if name in overload), "")


def _words(expression: str, refusal: SelectorError, clusters: Mapping[str, str]) -> tuple[str, str]:
    """Say why no cluster takes an expression, and what to do about it."""
    minor, cluster = next(iter(clusters.items()))
    needs = first_minor_that_takes(expression, after=minor)
    if not needs:
        return f"the selector does not compile: {refusal.message}", _hint(refusal, minor)
    newest = f" (the newest is {cluster})" if cluster else ""
    return (
        f"the selector needs Kubernetes {needs}, and no cluster is said to have it: {refusal.message}",
        f"upgrade a cluster{newest}, or write the `kubernetesVersion` of one that has it",
    )


def _clusters_by_minor(reading: Reading) -> dict[str, str]:
    """Return the minors of the clusters, newest first, each with words for a cluster that says its own; never none.

    A cluster that names no minor (it says nothing, or a channel such as `latest`) is judged as one of the oldest, and
    is not said to be one.
    """
    found: dict[str, str] = {}
    for _, cluster in reading.documents(InferenceCluster):
        minor, own = minor_of(cluster.kubernetes_version), written_minor(cluster.kubernetes_version)
        found[minor] = found.get(minor) or (f"`{cluster.name}` with {own}" if own else "")
    return {minor: found[minor] for minor in reversed(MINORS) if minor in found} or {DEFAULT_MINOR: ""}


SPEC: Final = ("spec", "template", "spec")
"""The path of a deployment's replica."""


def requests(deployment: ModelDeployment) -> Iterator[tuple[tuple[PathPart, ...], DeviceRequest]]:
    """Yield every request for devices of a deployment with its path."""
    for number, engine in enumerate(deployment.spec.template.spec.engines):
        for index, member in enumerate(engine.members):
            for position, request in enumerate(member.node_selector.devices if member.node_selector else ()):
                head = (*SPEC, "engines", number, "members", index)
                yield (*head, "nodeSelector", "devices", position), request


def expressions(deployment: ModelDeployment) -> Iterator[tuple[tuple[PathPart, ...], str]]:
    """Yield every CEL expression of a deployment with its path."""
    for path, request in requests(deployment):
        for place, selector in enumerate(request.selectors):
            yield (*path, "selectors", place, "cel"), selector.cel or ""


def _judge(expression: str, minors: Sequence[str]) -> _Judgement:
    """Judge for the first of some minors that takes an expression; where none does, the first says why."""
    refusal: SelectorError | None = None
    for minor in minors:
        try:
            selector = compile_selector(expression, minor=minor)
        except SelectorError as error:
            refusal = refusal or error
        else:
            return _Judgement(failing=tuple(failing_calls(selector)))
    return _Judgement(refusal)
