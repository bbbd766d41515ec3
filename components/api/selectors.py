"""Compiles every selector of every deployment, and reports what Kubernetes would refuse inside the expression.

An expression is refused when no cluster of the fleet could take it: it is compiled for the newest Kubernetes version
that a cluster has. Whether an older cluster takes it is the scheduler's question.
"""

from collections.abc import Iterator

from components.api.codes import Code
from components.api.inference_cluster import InferenceCluster
from components.api.model_deployment import ModelDeployment
from components.api.nodes import PathPart
from components.api.reading import Reading
from components.cel.problem import SelectorError

DEFAULT_MINOR = "1.34"
"""The version taken when no cluster says its own: the oldest with devices in the stable API."""


def check_selectors(reading: Reading) -> None:
    """Record a problem for every selector that does not compile."""
    minor = newest_minor(reading)
    failures: dict[str, SelectorError | None] = {}
    for source, deployment in reading.documents(ModelDeployment):
        for path, expression in expressions(deployment):
            if expression not in failures:
                failures[expression] = _failure(expression, minor)
            failure = failures[expression]
            if failure is not None:
                inner = (failure.position.line - 1, failure.position.column)
                source.add(
                    Code.SELECTOR_INVALID, f"the selector does not compile: {failure.message}", path, inner=inner
                )


def newest_minor(reading: Reading) -> str:
    """Return the newest Kubernetes version of the clusters, as ``1.N``."""
    found = {cluster.kubernetes_minor for _, cluster in reading.documents(InferenceCluster)} - {""}
    return max(found | {DEFAULT_MINOR}, key=lambda minor: int(minor.partition(".")[2]))


def expressions(deployment: ModelDeployment) -> Iterator[tuple[tuple[PathPart, ...], str]]:
    """Yield every CEL expression of a deployment with its path."""
    for number, engine in enumerate(deployment.spec.template.spec.engines):
        for index, member in enumerate(engine.members):
            for position, request in enumerate(member.node_selector.devices if member.node_selector else ()):
                for place, selector in enumerate(request.selectors):
                    head = ("spec", "template", "spec", "engines", number, "members", index)
                    tail = ("nodeSelector", "devices", position, "selectors", place, "cel")
                    yield (*head, *tail), selector.cel or ""


def _failure(expression: str, minor: str) -> SelectorError | None:
    try:
        from components.cel.selector import compile_selector  # noqa: PLC0415
    except ModuleNotFoundError:
        return None
    try:
        compile_selector(expression, minor=minor)
    except SelectorError as error:
        return error
    return None
