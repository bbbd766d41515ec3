"""A stack as the policies see it: one cluster with a pool, a cache and a replica that reads it, all in order.

``fleet`` gives the resources by logical name; a test changes them and makes a stack of them.
"""

import copy
from typing import Any

from policies.resources import Resource, Stack
from policies.wire import UNKNOWN

Parts = dict[str, dict[str, Any]]

TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "vllm:1"}]}}
SHAPE = {
    "kind": "Replica",
    "servingMode": "Unified",
    "cache": {"name": "weights", "shape": "sha256:c"},
    "engines": [
        {
            "name": "vllm",
            "copies": 2,
            "members": [
                {
                    "role": "Standalone",
                    "requests": [{"name": "gpu", "count": 2, "selectors": ["true"]}],
                    "template": TEMPLATE,
                }
            ],
        }
    ],
}
PLACEMENT = [
    {
        "engine": "vllm",
        "members": [{"pool": "l4", "claims": [{"request": "gpu", "deviceClass": "gpu.nvidia.com"}]}],
    }
]
POD_SPEC: dict[str, Any] = {
    "nodeSelector": {"modelplane.ai/pool": "l4"},
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "claims"}],
    "containers": [{"name": "engine", "image": "vllm:1"}],
    "volumes": [
        {"name": "dshm", "emptyDir": {"medium": "Memory"}},
        {"name": "model-cache", "persistentVolumeClaim": {"claimName": "weights"}},
    ],
}
REQUEST = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}

_PARTS: Parts = {
    "eks-a": {
        "type": "berth:index:EksCluster",
        "props": {"cluster": "eks-a", "taints": [], "endpoint": UNKNOWN},
    },
    "eks-a-kubernetes": {"type": "pulumi:providers:kubernetes", "parent": "eks-a", "props": {"kubeconfig": UNKNOWN}},
    "eks-a-cluster": {
        "type": "aws:eks/cluster:Cluster",
        "parent": "eks-a",
        "provider": "aws",
        "props": {"name": "berth-eks-a"},
    },
    "eks-a/l4": {
        "type": "berth:index:Pool",
        "props": {
            "cluster": "eks-a",
            "pool": "l4",
            "nodes": 2,
            "provisioned": True,
            "taints": [TAINT],
            "devices": [{"name": "gpu", "deviceClass": "gpu.nvidia.com", "claim": "DRA", "count": 4}],
        },
    },
    "eks-a/l4-nodes": {
        "type": "aws:eks/nodeGroup:NodeGroup",
        "parent": "eks-a/l4",
        "provider": "aws",
        "props": {
            "arn": UNKNOWN,
            "clusterName": "berth-eks-a",
            "labels": {"modelplane.ai/pool": "l4", "modelplane.ai/gpu": "l4"},
            "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
            "scalingConfig": {"maxSize": 2},
        },
    },
    "ml/weights/eks-a/0": {
        "type": "berth:index:Cache",
        "props": {
            "namespace": "ml",
            "cache": "weights",
            "cluster": "eks-a",
            "shapeDigest": "sha256:c",
            "shape": {"sizeGiB": 10},
        },
    },
    "ml/weights/eks-a/0-volume": {
        "type": "kubernetes:core/v1:PersistentVolumeClaim",
        "parent": "ml/weights/eks-a/0",
        "props": {
            "metadata": {"name": "weights", "namespace": "ml", "uid": UNKNOWN},
            "spec": {"resources": {"requests": {"storage": "10Gi"}}},
        },
    },
    "ml/qwen/eks-a/0": {
        "type": "berth:index:Replica",
        "props": {
            "namespace": "ml",
            "deployment": "qwen",
            "cluster": "eks-a",
            "index": 0,
            "phase": "Serving",
            "shape": SHAPE,
            "placement": PLACEMENT,
            "tolerations": [],
            "cacheFootprint": ["eks-a"],
        },
    },
    "ml/qwen/eks-a/0-claims": {
        "type": "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate",
        "parent": "ml/qwen/eks-a/0",
        "props": {"metadata": {"name": "claims"}, "spec": {"spec": {"devices": {"requests": [REQUEST]}}}},
    },
    "ml/qwen/eks-a/0-workload": {
        "type": "kubernetes:apps/v1:Deployment",
        "parent": "ml/qwen/eks-a/0",
        "props": {"spec": {"replicas": 2, "template": {"spec": POD_SPEC}}},
    },
    "eks-a/serving-dra": {
        "type": "kubernetes:helm.sh/v3:Release",
        "props": {"chart": "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu"},
    },
}


def fleet() -> Parts:
    """Return a stack in order: by name, the resources with type, parent, provider and properties."""
    return copy.deepcopy(_PARTS)


def stack_of(parts: Parts) -> Stack:
    """Make a stack; a resource's URN is its name, and Kubernetes objects have the cluster's provider."""
    return Stack(
        Resource(
            type=part["type"],
            name=name,
            urn=name,
            props=part["props"],
            inputs=part.get("inputs"),
            parent=part.get("parent", ""),
            provider=part.get("provider", "eks-a-kubernetes" if part["type"].startswith("kubernetes:") else ""),
        )
        for name, part in parts.items()
    )


def props(parts: Parts, name: str) -> dict[str, Any]:
    """Return a resource's properties."""
    found: dict[str, Any] = parts[name]["props"]
    return found


def pod(parts: Parts) -> dict[str, Any]:
    """Return the pod specification of the workload."""
    found: dict[str, Any] = props(parts, "ml/qwen/eks-a/0-workload")["spec"]["template"]["spec"]
    return found


def request(parts: Parts) -> dict[str, Any]:
    """Return the request of the claim template."""
    found: dict[str, Any] = props(parts, "ml/qwen/eks-a/0-claims")["spec"]["spec"]["devices"]["requests"][0]
    return found
