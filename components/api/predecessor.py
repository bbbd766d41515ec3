"""What other versions of the predecessor have, and v0.3, whose manifests are read here, has not.

Taken from its repository and its notes on v0.5 (October 2026). Only what says which version a manifest was written
for; what such a field would be here stands with it, where there is something.
"""

from typing import Final

READ: Final = "v0.3"
"""The version of the predecessor whose manifests are read."""

_OLDER: Final = f"before {READ}"
_NEWER: Final = f"after {READ}"
_V0_5: Final = "since v0.5"

_FIELDS: Final[dict[tuple[str, str], tuple[str, str]]] = {
    ("InferenceGatewaySpec", "clusterName"): (_V0_5, "`frontDoors` of the Environment names the clusters of gateways"),
    ("InferenceGatewaySpec", "tls"): (_V0_5, ""),
    ("InferenceGatewaySpec", "auth"): (_V0_5, ""),
    ("InferenceGatewaySpec", "serviceSelector"): (_V0_5, ""),
    ("EndpointGroup", "name"): (_V0_5, "remove it"),
    ("ModelEndpointSpec", "origin"): (_V0_5, "write it as `url`, with the path"),
    ("ModelEndpointSpec", "api"): (_V0_5, ""),
    ("ModelEndpointSpec", "model"): (_V0_5, ""),
    ("ModelEndpointSpec", "credential"): (_V0_5, ""),
    ("ClusterSource", "civo"): (_V0_5, ""),
    ("ClusterSource", "endpointAccess"): (_NEWER, ""),
    ("ExistingSource", "components"): (_NEWER, ""),
    ("InferenceClusterSpec", "stack"): (_NEWER, ""),
    ("NodePool", "role"): (_NEWER, "remove a pool for the system's own pods; there is one anyway"),
    ("NodePool", "instanceType"): (_NEWER, "`className` names the machine's class"),
    ("ModelDeploymentSpec", "modelRef"): (_OLDER, "`template.spec.engines` says what serves the model"),
    ("ModelDeploymentSpec", "environments"): (_OLDER, "`replicas` says how many there are"),
    ("ModelReplicaSpec", "workers"): (_OLDER, ""),
}
_KINDS: Final[dict[str, tuple[str, str]]] = {
    "TelemetryDestination": (_V0_5, ""),
    "MetricMapping": (_V0_5, ""),
    "InferenceEnvironment": (_OLDER, "InferenceCluster takes its place"),
    "Model": (_OLDER, "ModelDeployment says what serves a model"),
    "ClusterModel": (_OLDER, "ModelDeployment says what serves a model"),
    "ModelPlacement": (_OLDER, "ModelReplica takes its place"),
}


def field_of_another_version(model: str, key: str) -> str:
    """Say which version of the predecessor has a field that a model has not; empty when none is known to."""
    return _said("field", _FIELDS.get((model, key)))


def kind_of_another_version(kind: str) -> str:
    """Say which version of the predecessor has a kind that is none here; empty when none is known to."""
    return _said("kind", _KINDS.get(kind))


def fields_of_other_versions() -> tuple[tuple[str, str], ...]:
    """Return the models and keys that are known, so that a field that is built here leaves the list."""
    return tuple(_FIELDS)


def _said(what: str, found: tuple[str, str] | None) -> str:
    if found is None:
        return ""
    when, instead = found
    return f"the predecessor has this {what} {when}, and Berth reads {READ}" + (f"; {instead}" if instead else "")
