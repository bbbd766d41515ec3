"""The endpoint picker of a replica: the program that the gateway asks which pod should answer a request.

It prefers pods that have a request's prefix in their cache, then those with a short queue. Its own objects bear one
name. The configuration's hash stands on its pods, so that a changed configuration rolls them.
"""

import hashlib
from typing import Any, Final

import yaml

from components.labels import Label
from components.models.images import PICKER
from components.models.manifest import Manifest, Owner
from components.naming import picker_name, pool_service_name

PICKER_PORT: Final = 9002
"""Where the gateway asks."""
_HEALTH_PORT: Final = 9003

POOL_GROUP: Final = "inference.networking.k8s.io"
_OBJECTIVE_GROUP: Final = "inference.networking.x-k8s.io"

_CONFIG_FILE: Final = "picker.yaml"
_CONFIG_FOLDER: Final = "/config"

_SCORERS: Final = (
    {"pluginRef": "max-score-picker"},
    {"pluginRef": "prefix-cache-scorer", "weight": 2},
    {"pluginRef": "queue-scorer", "weight": 1},
)


def unified_config(block_size: int) -> dict[str, Any]:
    """Return the configuration of a picker whose pods are all alike; blocks are those of the engine's own cache."""
    return _config(
        plugins=[_producer(block_size), *_plain("prefix-cache-scorer", "queue-scorer", "max-score-picker")],
        profiles=[{"name": "default", "plugins": list(_SCORERS)}],
    )


def disaggregated_config(block_size: int) -> dict[str, Any]:
    """Return the configuration of a picker that chooses a prefill and a decode pod.

    Three values differ from the picker's defaults, because with those it never sends a prompt to a prefill pod and
    says nothing: the decider's threshold (0 turns it off), the explicit producer, and its fixed block size.
    """
    return _config(
        plugins=[
            _producer(block_size),
            *_plain("prefix-cache-scorer", "disagg-headers-handler", "queue-scorer"),
            *_plain("prefill-filter", "decode-filter", "max-score-picker"),
            {"type": "prefix-based-pd-decider", "parameters": {"nonCachedTokens": 16}},
            {"type": "disagg-profile-handler", "parameters": {"deciders": {"prefill": "prefix-based-pd-decider"}}},
        ],
        profiles=[
            {"name": phase, "plugins": [{"pluginRef": f"{phase}-filter"}, *_SCORERS]} for phase in ("prefill", "decode")
        ],
    )


def _config(*, plugins: list[dict[str, Any]], profiles: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": plugins,
        "schedulingProfiles": profiles,
    }


def _plain(*types: str) -> list[dict[str, Any]]:
    return [{"type": each} for each in types]


def _producer(block_size: int) -> dict[str, Any]:
    return {
        "type": "approx-prefix-cache-producer",
        "parameters": {
            "autoTune": False,
            "blockSizeTokens": block_size,
            "maxPrefixBlocksToMatch": 256,
            "lruCapacityPerServer": 31250,
        },
    }


def picker(owner: Owner, *, replica: str, config: dict[str, Any]) -> tuple[Manifest, ...]:
    """Return everything a replica's picker is made of."""
    name = picker_name(replica)
    text = yaml.safe_dump(config, sort_keys=False)
    return (
        Manifest("picker-account", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": owner.metadata(name)}),
        Manifest("picker-role", _role(owner, name)),
        Manifest("picker-binding", _binding(owner, name), after=("picker-account", "picker-role")),
        Manifest(
            "picker-config",
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": owner.metadata(name),
                "data": {_CONFIG_FILE: text},
            },
        ),
        Manifest(
            "picker",
            _deployment(owner, name, replica=replica, checksum=hashlib.sha256(text.encode()).hexdigest()),
            after=("picker-binding", "picker-config", "pool"),
        ),
        Manifest("picker-service", _service(owner, name)),
    )


def _role(owner: Owner, name: str) -> dict[str, Any]:
    read = ["get", "watch", "list"]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": owner.metadata(name),
        "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": read},
            {"apiGroups": [POOL_GROUP], "resources": ["inferencepools"], "verbs": read},
            {"apiGroups": [_OBJECTIVE_GROUP], "resources": ["inferenceobjectives"], "verbs": read},
        ],
    }


def _binding(owner: Owner, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": owner.metadata(name),
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": owner.namespace}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
    }


def _deployment(owner: Owner, name: str, *, replica: str, checksum: str) -> dict[str, Any]:
    container = {
        "name": "epp",
        "image": PICKER,
        "args": [
            f"--pool-name={pool_service_name(replica)}",
            f"--pool-namespace={owner.namespace}",
            f"--pool-group={POOL_GROUP}",
            f"--config-file={_CONFIG_FOLDER}/{_CONFIG_FILE}",
            f"--grpc-port={PICKER_PORT}",
        ],
        "ports": [
            {"name": "grpc", "containerPort": PICKER_PORT},
            {"name": "grpc-health", "containerPort": _HEALTH_PORT},
        ],
        "volumeMounts": [{"name": "config", "mountPath": _CONFIG_FOLDER}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": owner.metadata(name),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": {Label.PICKER_CHECKSUM.value: checksum}},
                "spec": {
                    "serviceAccountName": name,
                    "containers": [container],
                    "volumes": [{"name": "config", "configMap": {"name": name}}],
                },
            },
        },
    }


def _service(owner: Owner, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": owner.metadata(name, annotations=_NO_WAIT),
        "spec": {
            "selector": {"app": name},
            "ports": [
                {"name": "grpc-ext-proc", "port": PICKER_PORT, "targetPort": PICKER_PORT, "appProtocol": "http2"}
            ],
        },
    }


_NO_WAIT: Final = {"pulumi.com/skipAwait": "true"}
"""The picker's Deployment is awaited; waiting for the Service's endpoints as well would only wait for it twice."""
