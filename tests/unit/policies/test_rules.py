"""Each rule finds what it names: a stack in order, a stack that breaks the rule, and a component that lies."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from policies.pack import RULES
from policies.resources import UNKNOWN, Resource, Stack

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
POD_SPEC = {
    "nodeSelector": {"modelplane.ai/pool": "l4"},
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "claims"}],
    "containers": [{"name": "engine", "image": "vllm:1"}],
}


def fleet() -> dict[str, dict[str, Any]]:
    """Return a stack in order: by name, the resources with type, parent and properties."""
    return {
        "eks-a": {
            "type": "berth:index:EksCluster",
            "props": {"cluster": "eks-a", "taints": [], "endpoint": UNKNOWN},
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
            "props": {
                "arn": UNKNOWN,
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
            "props": {"spec": {"resources": {"requests": {"storage": "10Gi"}}}},
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
                "placement": [
                    {
                        "engine": "vllm",
                        "members": [{"pool": "l4", "claims": [{"request": "gpu", "deviceClass": "gpu.nvidia.com"}]}],
                    }
                ],
                "tolerations": [],
                "cacheFootprint": ["eks-a"],
            },
        },
        "ml/qwen/eks-a/0-claims": {
            "type": "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate",
            "parent": "ml/qwen/eks-a/0",
            "props": {
                "metadata": {"name": "claims"},
                "spec": {
                    "spec": {
                        "devices": {
                            "requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}]
                        }
                    }
                },
            },
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


def stack_of(parts: dict[str, dict[str, Any]]) -> Stack:
    """Make a stack; a resource's URN is its name, and all share one provider."""
    return Stack(
        [
            Resource(part["type"], name, name, part["props"], part.get("parent", ""), "provider")
            for name, part in parts.items()
        ]
    )


def broken(change: Callable[[dict[str, dict[str, Any]]], object], config: dict[str, Any] | None = None) -> list[str]:
    """Return the rules that a changed fleet breaks, with their subjects."""
    parts = copy.deepcopy(fleet())
    change(parts)
    stack = stack_of(parts)
    return sorted({f"{found.rule} {found.subject}" for rule in RULES for found in rule.check(stack, config or {})})


def props(parts: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """Return a resource's properties."""
    found: dict[str, Any] = parts[name]["props"]
    return found


def pod(parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the pod specification of the workload."""
    found: dict[str, Any] = props(parts, "ml/qwen/eks-a/0-workload")["spec"]["template"]["spec"]
    return found


def drain(parts: dict[str, dict[str, Any]], stays: str = "") -> None:
    """Taint the cluster."""
    props(parts, "eks-a")["taints"] = [{"key": "maintenance", "value": "", "effect": "NoExecute"}]
    props(parts, "ml/qwen/eks-a/0")["stays"] = stays


CASES: list[tuple[str, Callable[[dict[str, dict[str, Any]]], object], list[str]]] = [
    ("in order", lambda parts: None, []),
    (
        "the pool has no taint and says so",
        lambda parts: (
            props(parts, "eks-a/l4").update(taints=[]),
            props(parts, "eks-a/l4-nodes").update(taints=[]),
        ),
        ["gpu-pool-tainted eks-a/l4", "gpu-pool-tainted eks-a/l4-nodes"],
    ),
    (
        "the pool lies about its taint",
        lambda parts: props(parts, "eks-a/l4-nodes").update(taints=[]),
        ["component-truthful eks-a/l4", "gpu-pool-tainted eks-a/l4-nodes"],
    ),
    (
        "the pool lies about its size",
        lambda parts: props(parts, "eks-a/l4").update(nodes=9),
        ["component-truthful eks-a/l4"],
    ),
    (
        "the pods do not tolerate the taint",
        lambda parts: pod(parts).update(tolerations=[]),
        ["gpu-taint-tolerated ml/qwen/eks-a/0-workload"],
    ),
    (
        "the toleration has another value",
        lambda parts: pod(parts).update(
            tolerations=[{"key": "nvidia.com/gpu", "operator": "Equal", "value": "present"}]
        ),
        ["gpu-taint-tolerated ml/qwen/eks-a/0-workload"],
    ),
    ("the cluster is drained", drain, ["cluster-taint-tolerated ml/qwen/eks-a/0"]),
    ("it was there before the drain", lambda parts: drain(parts, "maintenance:NoExecute"), []),
    (
        "the pool is promised twice",
        lambda parts: props(parts, "eks-a/l4").update(nodes=0),
        ["devices-within-pool eks-a/l4"],
    ),
    (
        "the replica lies about what it claims",
        lambda parts: props(parts, "ml/qwen/eks-a/0-claims")["spec"]["spec"]["devices"]["requests"][0][
            "exactly"
        ].update(count=4),
        ["component-truthful ml/qwen/eks-a/0"],
    ),
    (
        "the workload has more pods than the replica says, and more than the pool holds",
        lambda parts: props(parts, "ml/qwen/eks-a/0-workload")["spec"].update(replicas=5),
        ["component-truthful ml/qwen/eks-a/0", "devices-within-pool eks-a/l4"],
    ),
    (
        "a device plugin's resource beside the claim",
        lambda parts: pod(parts)["containers"][0].update(resources={"limits": {"nvidia.com/gpu": 1}}),
        ["device-one-owner ml/qwen/eks-a/0-workload"],
    ),
    (
        "a shared claim",
        lambda parts: pod(parts)["resourceClaims"].append({"name": "b", "resourceClaimName": "shared"}),
        ["device-one-owner ml/qwen/eks-a/0-workload"],
    ),
    (
        "a device plugin beside the driver",
        lambda parts: parts.update(
            plugin={"type": "kubernetes:helm.sh/v3:Release", "props": {"chart": "nvidia-device-plugin"}}
        ),
        ["device-one-owner plugin"],
    ),
    (
        "an operator that serves devices",
        lambda parts: parts.update(
            operator={"type": "kubernetes:helm.sh/v3:Release", "props": {"chart": "gpu-operator", "values": {}}}
        ),
        ["device-one-owner operator"],
    ),
    (
        "an operator that does not",
        lambda parts: parts.update(
            operator={
                "type": "kubernetes:helm.sh/v3:Release",
                "props": {"chart": "gpu-operator", "values": {"devicePlugin": {"enabled": False}}},
            }
        ),
        [],
    ),
    (
        "claims outside any replica",
        lambda parts: parts["ml/qwen/eks-a/0-workload"].update(parent=""),
        ["component-truthful ml/qwen/eks-a/0", "device-one-owner ml/qwen/eks-a/0-workload"],
    ),
    (
        "the cache is elsewhere",
        lambda parts: props(parts, "ml/weights/eks-a/0").update(cluster="eks-b"),
        ["replica-in-cache-footprint ml/qwen/eks-a/0"],
    ),
    (
        "the cache does not fit its volume",
        lambda parts: props(parts, "ml/weights/eks-a/0").update(shape={"sizeGiB": 20}),
        ["cache-fits-volume ml/weights/eks-a/0"],
    ),
]


@pytest.mark.parametrize(("change", "want"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_exactly_the_named_rules_are_broken(
    change: Callable[[dict[str, dict[str, Any]]], object], want: list[str]
) -> None:
    """Neither more nor fewer, and each by the right subject."""
    assert broken(change) == want


def test_a_replica_may_not_pretend_to_have_been_there() -> None:
    """The driver says what exists; a mark without existence is a violation."""
    config = {"existing": ["ml/other/eks-a/0"]}
    assert broken(lambda parts: drain(parts, "maintenance:NoExecute"), config) == [
        "cluster-taint-tolerated ml/qwen/eks-a/0"
    ]
    assert broken(lambda parts: drain(parts, "maintenance:NoExecute"), {"existing": ["ml/qwen/eks-a/0"]}) == []


def test_unknown_values_are_deferred_and_never_passed() -> None:
    """What a rule needs and cannot read is remembered; what it does not need may be unknown."""
    parts = fleet()
    stack = stack_of(parts)
    for rule in RULES:
        assert list(rule.check(stack, {})) == []
    assert stack.deferred == []
    props(parts, "eks-a/l4-nodes")["taints"] = UNKNOWN
    stack = stack_of(parts)
    for rule in RULES:
        list(rule.check(stack, {}))
    assert any("eks-a/l4-nodes: taints" in place for place in stack.deferred)


def test_gangs_count_leader_and_workers() -> None:
    """Two groups of one leader and two workers, two devices a pod, are twelve devices."""
    parts = fleet()
    parts["ml/qwen/eks-a/0-workload"] = {
        "type": "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
        "parent": "ml/qwen/eks-a/0",
        "props": {
            "spec": {
                "replicas": 2,
                "leaderWorkerTemplate": {
                    "size": 3,
                    "leaderTemplate": {"spec": POD_SPEC},
                    "workerTemplate": {"spec": POD_SPEC},
                },
            }
        },
    }
    stack = stack_of(parts)
    found = [violation.message for rule in RULES for violation in rule.check(stack, {})]
    assert any("12 devices" in message for message in found)


def test_every_rule_says_what_it_is_and_what_to_do() -> None:
    """Names are stable and kebab-case, and none is given twice."""
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule.name == rule.name.lower().replace("_", "-").replace(" ", "-")
        assert rule.description.endswith(".")
        assert rule.remediation.endswith(".")
