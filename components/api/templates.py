"""Names the files that are templates: they hold text for another tool, which must render them first."""

import re
from typing import Final

from components.api.codes import Code
from components.api.composed import Composed
from components.api.doubts import template
from components.api.nodes import MappingNode
from components.errors import Problem

_SIGNS: Final = re.compile(r"\{\{|\{%|<%")
_CHART_FILES: Final = frozenset({"chart.yaml", "chart.yml", "values.yaml", "values.yml"})
_KUSTOMIZE_FILES: Final = frozenset({"kustomization.yaml", "kustomization.yml"})
_SYNTAX: Final = frozenset({Code.YAML_SYNTAX, Code.YAML_KEY, Code.YAML_TAB, Code.YAML_DUPLICATE_KEY})


def template_problem(composed: Composed) -> Problem | None:
    """Return the one problem of a file that is a Helm or kustomize file, or None."""
    file = composed.file
    name = file.rsplit("/", 1)[-1].lower()
    if name in _CHART_FILES and not any(_manifest(node) for node in composed.documents):
        return _problem(composed, 0, "this file belongs to a Helm chart; it is not a manifest", _HELM)
    if name in _KUSTOMIZE_FILES or any(_kustomize(node) for node in composed.documents):
        return _problem(composed, 0, "this file is for kustomize; Berth does not run it", _KUSTOMIZE)
    if any(problem.code in _SYNTAX for problem in composed.problems):
        for number, line in enumerate(composed.lines, 1):
            found = _SIGNS.search(line)
            said = template(line[found.start() :]) if found else None
            if said is not None:
                return _problem(composed, number, said.message, said.help)
    return None


_HELM: Final = "render the chart with `helm template`, and keep its output here instead"
_KUSTOMIZE: Final = "build it with `kustomize build`, and keep its output here instead"


def _problem(composed: Composed, line: int, message: str, hint: str) -> Problem:
    text = composed.line(line)
    found = _SIGNS.search(text)
    column = found.start() + 1 if found else 0
    return Problem(Code.TEMPLATE_FILE, message, composed.file, line, column, text=text, help=hint)


def _manifest(node: object) -> bool:
    return isinstance(node, MappingNode) and bool(node.text("kind"))


def _kustomize(node: object) -> bool:
    return isinstance(node, MappingNode) and node.text("apiVersion").startswith("kustomize.config.k8s.io/")
