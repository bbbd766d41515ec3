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
from components.cel.environment import DEFAULT_MINOR, MINORS
from components.cel.problem import SelectorError
from components.cel.selector import compile_selector


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
                message = f"the selector does not compile: {failure.message}"
                source.add(Code.SELECTOR_INVALID, message, path, hint=_hint(failure), inner=inner)


_MADE = {
    "kubernetes.Quantity": "a quantity is written quantity('20Gi')",
    "kubernetes.Semver": "a version is written semver('9.0.0')",
}
"""How to write a value of a type that is often written as plain text, by the type's name."""


def _hint(failure: SelectorError) -> str:
    """Say how the other side is written where a text stands beside a value that is none."""
    overload = failure.message if "no matching overload" in failure.message and "string" in failure.message else ""
    return next((f"{words}, not as text" for name, words in _MADE.items() if name in overload), "")


def newest_minor(reading: Reading) -> str:
    """Return the newest Kubernetes version of the clusters that the selector language knows."""
    minors = [known_minor(cluster.kubernetes_minor) for _, cluster in reading.documents(InferenceCluster)]
    return max(minors, key=_number, default=DEFAULT_MINOR)


def known_minor(minor: str) -> str:
    """Return the newest version that the selector language knows and that is not newer than ``minor``.

    A cluster that does not say its version is taken for the oldest with devices in the stable API.
    """
    older = [known for known in MINORS if minor and _number(known) <= _number(minor)]
    return max(older, key=_number, default=DEFAULT_MINOR)


def _number(minor: str) -> int:
    return int(minor.partition(".")[2])


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
        compile_selector(expression, minor=minor)
    except SelectorError as error:
        return error
    return None
