"""Every field of Berth's own with a value that is right, and the document of the sample environment it goes into.

A row sets values at paths of one document; ``own`` names which of them are Berth's own fields, by path. Tests check
that no own field of any model is without a row, so a new field is tried in every way from its first day.
"""

import copy
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from components.api.nodes import PathPart
from tests.support.api_manifests import FILES, NAMES

POD: Final = "spec.template.spec.engines.0.members.0.template.spec"
ENGINE: Final = f"{POD}.containers.0"
PROBE: Final = {
    "httpGet": {"path": "/live", "port": 8000, "scheme": "HTTPS"},
    "initialDelaySeconds": 1,
    "periodSeconds": 5,
    "timeoutSeconds": 2,
}
HELPER: Final = {
    "name": "tokenizer",
    "image": "ghcr.io/team/tokenizer:1.2",
    "command": ["serve"],
    "args": ["--port=9000"],
    "env": [{"name": "LOG", "value": "info"}],
    "resources": {"requests": {"cpu": "500m"}, "limits": {"memory": "1Gi"}},
    "securityContext": {"runAsGroup": 7, "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True},
    "volumeMounts": [{"name": "shared", "mountPath": "/shared"}],
}
SHARED: Final = [{"name": "shared", "emptyDir": {}}]
GKE: Final = {"source": "GKE", "gke": {"region": "us-central1"}}
GKE_NETWORK: Final = {"nodeCidr": "10.0.0.0/20", "podCidr": "10.4.0.0/14", "serviceCidr": "10.8.0.0/20"}
AKS: Final = {"source": "AKS", "aks": {"location": "westeurope"}}


@dataclass(frozen=True)
class OwnField:
    """One row: which document, what is set in it, and which of it is Berth's own; the first path unless said."""

    file: str
    values: dict[str, Any]
    own: tuple[str, ...] = field(default=())

    @property
    def paths(self) -> tuple[tuple[PathPart, ...], ...]:
        """The paths of Berth's own fields."""
        return tuple(_path(text) for text in self.own or (next(iter(self.values)),))

    def document(self, version: str) -> Any:
        """Return the document with the values set, under an apiVersion (empty keeps its own)."""
        found = copy.deepcopy(next(iter(yaml.safe_load_all(FILES[NAMES[self.file]]))))
        for text, value in self.values.items():
            *holders, last = _path(text)
            holder = found
            for part in holders:
                holder = holder[part] if isinstance(part, int) else holder.setdefault(part, {})
            holder[last] = copy.deepcopy(value)
        if version:
            found["apiVersion"] = version
        return found

    def __str__(self) -> str:
        return f"{self.file}:{'+'.join(self.own or (next(iter(self.values)),))}"


def _path(text: str) -> tuple[PathPart, ...]:
    return tuple(int(part) if part.isdecimal() else part for part in text.split("."))


LATER_FIELDS: Final[tuple[OwnField, ...]] = (
    OwnField("environment", {"spec.keepOld": "30m"}),
    OwnField(
        "environment",
        {
            "spec.secretCopies": [
                {"secret": "ml/hf", "namespaces": ["tools"], "clusterSelector": {"matchLabels": {"tier": "prod"}}}
            ]
        },
    ),
    OwnField(
        "environment",
        {
            "spec.registry": {
                "mirrors": [
                    {"source": "docker.io", "mirror": "registry.example.com/hub"},
                    {"source": "ghcr.io/team", "mirror": "registry.example.com:5000/team"},
                ],
                "requireMirror": True,
                "pullSecret": "modelplane-system/mirror",
            }
        },
    ),
    OwnField(
        "environment",
        {
            "spec.policies": {
                "settings": {"gpu-pool-tainted": {"level": "advisory", "parameters": {"most": 3, "on": True}}},
                "exceptions": [
                    {
                        "policy": "cache-fits-volume",
                        "subject": "ml/qwen",
                        "reason": "The volume grows next week.",
                        "until": "2027-03-31",
                        "owner": "platform-team",
                    }
                ],
            }
        },
    ),
    OwnField(
        "environment",
        {
            "spec.promotion": {
                "to": "staging",
                "gates": [
                    {"type": "Policy"},
                    {"type": "Health"},
                    {"type": "BakeTime", "duration": "2h"},
                    {"type": "Approval", "approvals": 2},
                ],
            }
        },
    ),
    OwnField(
        "east",
        {"spec.overrides": {"envoy-gateway": {"version": "v1.8.2", "values": {"a": {"b": [1, None, "x"]}, "c": None}}}},
    ),
    OwnField("east", {"spec.disabledComponents": ["cert-manager"]}),
    OwnField("east", {"spec.driverManagement": "Operator"}),
    OwnField(
        "edge",
        {
            "spec.cluster": GKE,
            "spec.cluster.gke.network": {
                "nodeCidr": "10.0.0.0/20",
                "podCidr": "10.4.0.0/14",
                "serviceCidr": "10.8.0.0/20",
            },
        },
        ("spec.cluster.gke.network",),
    ),
    OwnField(
        "edge",
        {"spec.cluster": AKS, "spec.cluster.aks.network": {"vnetCidr": "10.8.0.0/16", "subnetCidr": "10.8.0.0/20"}},
        ("spec.cluster.aks.network",),
    ),
    OwnField("qwen", {"spec.keepOld": "45s"}),
    OwnField("qwen", {"spec.secrets": ["tokens"]}),
    OwnField(
        "cache",
        {
            "spec.s3": {
                "bucket": "weights",
                "prefix": "qwen/3-8b",
                "region": "us-east-1",
                "endpoint": "https://minio.example.com:9000",
                "authSecret": {"name": "s3", "accessKeyIdKey": "id", "secretAccessKeyKey": "secret"},
                "sizeGiB": 40,
            },
            "spec.source": "S3",
        },
    ),
    OwnField(
        "cache",
        {
            "spec.gcs": {
                "bucket": "weights",
                "prefix": "qwen",
                "authSecret": {"name": "gcs", "key": "key.json"},
                "sizeGiB": 40,
            },
            "spec.source": "GCS",
        },
    ),
    OwnField(
        "cache",
        {
            "spec.oci": {"artifact": "ghcr.io/team/weights:1", "authSecret": {"name": "pull"}, "sizeGiB": 40},
            "spec.source": "OCI",
        },
    ),
    OwnField("cache", {"spec.pvc": {"claimName": "weights", "path": "qwen/3-8b"}, "spec.source": "PVC"}),
    OwnField(
        "cache",
        {
            "spec.ngc": {"model": "nvidia/nemo/llama:1.0", "authSecret": {"name": "ngc", "key": "KEY"}, "sizeGiB": 40},
            "spec.source": "NGC",
        },
    ),
    OwnField("cache", {"spec.checksum": "sha256:" + "0f" * 32}),
    OwnField(
        "service",
        {
            "spec.hostnames": ["chat.example.com", "*.models.example.com"],
            "spec.tls": {"issuerRef": {"name": "public", "kind": "ClusterIssuer"}, "minVersion": "1.3"},
        },
        ("spec.hostnames", "spec.tls"),
    ),
    OwnField(
        "service",
        {"spec.tls": {"certificateRef": {"name": "chat"}}, "spec.hostnames": ["chat.example.com"]},
        ("spec.hostnames", "spec.tls"),
    ),
    OwnField(
        "service",
        {
            "spec.authentication": {
                "apiKeys": {"secretRef": {"name": "callers"}, "header": "x-api-key"},
                "jwt": {
                    "issuer": "https://id.example.com",
                    "audiences": ["chat"],
                    "jwksUrl": "https://id.example.com/k",
                },
                "clientCertificate": {"caSecretRef": {"name": "ca", "key": "ca.pem"}},
            }
        },
    ),
    OwnField("service", {"spec.rateLimit": {"requests": 100, "unit": "Minute", "burst": 20, "per": "Address"}}),
    OwnField("service", {"spec.timeouts": {"request": "5m", "backendRequest": "2m", "idle": "30s"}}),
    OwnField("service", {"spec.endpoints.1.priority": 1}),
    OwnField(
        "endpoint",
        {"spec.credentials": {"secretRef": {"name": "together", "key": "token"}, "header": "x-key", "prefix": ""}},
    ),
    OwnField("endpoint", {"spec.rewriteHost": "api.together.xyz"}),
    OwnField("endpoint", {"spec.tls": {"serverName": "api.together.xyz", "caSecretRef": {"name": "ca"}}}),
)
"""Fields whose work is not built yet."""

OWN_FIELDS: Final[tuple[OwnField, ...]] = (
    OwnField("east", {"spec.nodePools.0.capacityType": "Spot"}),
    OwnField("qwen", {"spec.spot": True}),
    OwnField("qwen", {"spec.strategy": "Pack"}),
    OwnField("qwen", {"spec.maxCostPerHour": 12}),
    OwnField("qwen", {"spec.template.spec.fabric": "EFA"}),
    OwnField("cache", {"spec.image": "registry.example.com/python:3.12"}),
    OwnField("cache", {"spec.exclude": ["*.bin"]}),
    OwnField("cache", {"spec.include": ["*.safetensors", "tokenizer/*"]}),
    OwnField("qwen", {"spec.template.spec.blockSize": 64}),
    OwnField("qwen", {"spec.priority": -5}),
    OwnField("east", {"spec.nodePools.1.fabricId": "rail-1"}),
    OwnField("east", {"spec.nodePools.0.pricePerHour": 0.8048}),
    OwnField("qwen", {f"{ENGINE}.resources": {"requests": {"cpu": "4", "memory": "32Gi"}, "limits": {"cpu": "8"}}}),
    OwnField(
        "qwen",
        {
            f"{ENGINE}.securityContext": {
                "runAsUser": 1000,
                "runAsNonRoot": True,
                "privileged": False,
                "capabilities": {"add": ["IPC_LOCK"], "drop": ["ALL"]},
                "seccompProfile": {"type": "RuntimeDefault"},
            }
        },
    ),
    OwnField("qwen", {f"{ENGINE}.startupProbe": {**PROBE, "failureThreshold": 60}}),
    OwnField("qwen", {f"{ENGINE}.readinessProbe": {**PROBE, "successThreshold": 2}}),
    OwnField("qwen", {f"{ENGINE}.livenessProbe": {"exec": {"command": ["true"]}}}),
    OwnField(
        "qwen",
        {
            f"{POD}.volumes": [
                {"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": "10Gi"}},
                {"name": "settings", "configMap": {"name": "engine", "optional": False}},
                {"name": "keys", "secret": {"secretName": "tls", "optional": True}},
                {"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
                {"name": "node", "hostPath": {"path": "/opt/models", "type": "Directory"}},
            ],
            f"{ENGINE}.volumeMounts": [
                {"name": "scratch", "mountPath": "/scratch", "subPath": "a/b"},
                {"name": "settings", "mountPath": "/etc/engine", "readOnly": True},
            ],
        },
        (f"{POD}.volumes", f"{ENGINE}.volumeMounts"),
    ),
    OwnField(
        "qwen",
        {f"{POD}.initContainers": [{**HELPER, "name": "warm-up"}], f"{POD}.volumes": SHARED},
        (f"{POD}.initContainers", f"{POD}.volumes"),
    ),
    OwnField(
        "qwen",
        {
            f"{POD}.sidecars": [
                {
                    **HELPER,
                    "startupProbe": {"tcpSocket": {"port": 9000}},
                    "readinessProbe": {"grpc": {"port": 9000, "service": "tokenizer"}},
                    "livenessProbe": PROBE,
                }
            ],
            f"{POD}.volumes": SHARED,
        },
        (f"{POD}.sidecars", f"{POD}.volumes"),
    ),
    OwnField(
        "qwen",
        {
            f"{POD}.securityContext": {
                "runAsUser": 1000,
                "runAsGroup": 1000,
                "runAsNonRoot": True,
                "fsGroup": 2000,
                "fsGroupChangePolicy": "OnRootMismatch",
                "supplementalGroups": [44],
                "seccompProfile": {"type": "Localhost", "localhostProfile": "profiles/engine.json"},
                "sysctls": [{"name": "net.core.somaxconn", "value": "1024"}],
            }
        },
    ),
    OwnField("qwen", {"spec.surge": {"allowGap": True, "maxSurge": 1}}),
    OwnField("east", {"spec.release": "2026-11"}),
    OwnField("edge", {"spec.removing": False}),
    OwnField("edge", {"spec.lost": False}),
    OwnField("east", {"spec.cluster.eks.network": {"vpcCidr": "10.0.0.0/16"}}),
    OwnField("edge", {"spec.cluster.existing.region": "eu-west-1"}),
    OwnField("edge", {"spec.cluster.existing.zone": "eu-west-1a"}),
    OwnField("edge", {"spec.cluster.existing.kubernetesVersion": "1.35"}),
)
"""Fields that work."""
