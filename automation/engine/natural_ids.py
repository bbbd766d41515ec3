"""Ids that follow from a resource's inputs, so that one can be found without a search.

Kubernetes and some cloud APIs let the caller choose the id. For these an interrupted creation needs no detective: the
id is known, and reading it says whether the resource exists. Sources: the import sections of the providers' reference
pages (pulumi-kubernetes 4.34, pulumi-aws 7.51), read in November 2026. What is not listed has an id that its cloud
invents.
"""

from collections.abc import Callable, Mapping
from typing import Any

HELM_RELEASE = "kubernetes:helm.sh/v3:Release"

Inputs = Mapping[str, Any]


def natural_id(type_: str, inputs: Inputs) -> str:
    """Return the id that a resource of this type and inputs has, empty when it cannot be told."""
    if type_ == HELM_RELEASE:
        return _joined("/", inputs.get("namespace") or "default", inputs.get("name"))
    if type_.startswith("kubernetes:"):
        metadata = inputs.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        name, namespace = metadata.get("name"), metadata.get("namespace")
        return _joined("/", namespace, name) if namespace else _text(name)
    rule = _RULES.get(type_)
    return rule(inputs) if rule else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _joined(separator: str, *parts: Any) -> str:
    """Join the parts; empty when one of them is not a known text."""
    texts = [_text(part) for part in parts]
    return separator.join(texts) if all(texts) else ""


_RULES: Mapping[str, Callable[[Inputs], str]] = {
    "aws:eks/cluster:Cluster": lambda inputs: _text(inputs.get("name")),
    "aws:eks/nodeGroup:NodeGroup": lambda inputs: _joined(":", inputs.get("clusterName"), inputs.get("nodeGroupName")),
    "aws:eks/addon:Addon": lambda inputs: _joined(":", inputs.get("clusterName"), inputs.get("addonName")),
    "aws:iam/role:Role": lambda inputs: _text(inputs.get("name")),
    "aws:iam/rolePolicy:RolePolicy": lambda inputs: _joined(":", inputs.get("role"), inputs.get("name")),
}
