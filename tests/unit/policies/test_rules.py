"""Each rule finds what it names: a stack in order, a stack that breaks the rule, and a component that lies."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from policies.finding import judge
from policies.pack import RULES
from policies.wire import UNKNOWN
from tests.support.policy_stack import POD_SPEC, Parts, fleet, pod, props, request, stack_of

QWEN = "ml/qwen/eks-a/0"
WORKLOAD = "ml/qwen/eks-a/0-workload"
Change = Callable[[Parts], object]


def broken(change: Change, config: dict[str, Any] | None = None) -> list[str]:
    """Return the rules that a changed fleet breaks, with their subjects."""
    parts = fleet()
    change(parts)
    settings = {rule.name: config or {} for rule in RULES}
    findings = judge(stack_of(parts), RULES, settings)
    return sorted({f"{found.rule.name} {found.subject}" for found in findings if not found.deferred})


def drain(parts: Parts, stays: str = "") -> None:
    """Taint the cluster."""
    props(parts, "eks-a")["taints"] = [{"key": "maintenance", "value": "", "effect": "NoExecute"}]
    props(parts, QWEN)["stays"] = stays


def chart(name: str, values: dict[str, Any] | None = None) -> Change:
    """Install another chart."""
    return lambda parts: parts.update(
        other={"type": "kubernetes:helm.sh/v3:Release", "props": {"chart": name, "values": values or {}}}
    )


def elsewhere(parts: Parts) -> None:
    """Add a second cluster, and put the replica's workload there."""
    parts["eks-b"] = {"type": "berth:index:ExistingCluster", "props": {"cluster": "eks-b", "taints": []}}
    parts["eks-b-kubernetes"] = {"type": "pulumi:providers:kubernetes", "parent": "eks-b", "props": {}}
    for part in ("workload", "claims"):
        parts[f"{QWEN}-{part}"]["provider"] = "eks-b-kubernetes"


def in_terms(*terms: list[tuple[str, list[str]]]) -> dict[str, Any]:
    """Pin pods by required node affinity, each term with expressions of its own."""
    pools = [[{"key": "modelplane.ai/pool", "operator": how, "values": names} for how, names in term] for term in terms]
    selector = {"nodeSelectorTerms": [{"matchExpressions": each} for each in pools]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}}


def helper(parts: Parts, spec: dict[str, Any]) -> None:
    """Add a workload of somebody's own."""
    parts["helper"] = {"type": "kubernetes:apps/v1:Deployment", "props": {"spec": {"template": {"spec": spec}}}}


def in_pool(pool: str) -> dict[str, Any]:
    """Pin pods to a pool by their node selector."""
    return {"nodeSelector": {"modelplane.ai/pool": pool}}


def required(*terms: list[str]) -> dict[str, Any]:
    """Pin pods by required node affinity, each term to some pools."""
    return in_terms(*([("In", term)] for term in terms))


def renamed(parts: Parts, pool: str) -> None:
    """Give the GPU pool another name, and take the toleration from its pods."""
    props(parts, "eks-a/l4")["pool"] = pool
    props(parts, "eks-a/l4-nodes")["labels"]["modelplane.ai/pool"] = pool
    props(parts, QWEN)["placement"][0]["members"][0]["pool"] = pool
    pod(parts).update(in_pool(pool), tolerations=[])


def thief(parts: Parts, claims: str = "claims") -> None:
    """Add a replica that says it claims nothing, and whose 50 pods claim through a template all the same."""
    name = "ml/thief/eks-a/0"
    parts[name] = copy.deepcopy(parts[QWEN])
    said = props(parts, name)
    said["deployment"], said["cacheFootprint"], said["shape"]["cache"] = "thief", None, None
    said["shape"]["engines"][0]["members"][0]["requests"] = []
    said["placement"][0]["members"][0]["claims"] = []
    parts[f"{name}-workload"] = copy.deepcopy({**parts[WORKLOAD], "parent": name})
    spec = props(parts, f"{name}-workload")["spec"]
    spec["replicas"] = 50
    spec["template"]["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] = claims
    del spec["template"]["spec"]["volumes"]


def at_the_root(parts: Parts) -> None:
    """Put the template that a thief uses at the root of the stack."""
    parts["extra"] = copy.deepcopy({**parts[f"{QWEN}-claims"], "parent": ""})
    props(parts, "extra")["metadata"]["name"] = "big"
    thief(parts, "big")


def nameless(parts: Parts) -> None:
    """Use a template that may be one whose name only the cluster will say."""
    pod(parts)["resourceClaims"][0]["resourceClaimTemplateName"] = "late"
    props(parts, f"{QWEN}-claims")["metadata"]["name"] = UNKNOWN


TAINTS: list[tuple[str, Change, list[str]]] = [
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
        "the nodes have a taint that the pool does not tell of",
        lambda parts: props(parts, "eks-a/l4-nodes")["taints"].append({"key": "dedicated", "effect": "NO_EXECUTE"}),
        ["component-truthful eks-a/l4"],
    ),
    (
        "GPU nodes outside any pool",
        lambda parts: parts.update(
            stray={
                "type": "aws:eks/nodeGroup:NodeGroup",
                "provider": "aws",
                "props": {"labels": {"modelplane.ai/gpu": "l4"}},
            }
        ),
        ["gpu-pool-tainted stray"],
    ),
    (
        "nodes that are no GPU pool need no taint",
        lambda parts: parts.update(
            system={
                "type": "aws:eks/nodeGroup:NodeGroup",
                "provider": "aws",
                "props": {"labels": {"modelplane.ai/pool": "berth-system"}, "instanceTypes": ["m6i.xlarge"]},
            }
        ),
        [],
    ),
    (
        "the pods do not tolerate the taint",
        lambda parts: pod(parts).update(tolerations=[]),
        [f"gpu-taint-tolerated {WORKLOAD}"],
    ),
    (
        "the toleration has another value",
        lambda parts: pod(parts).update(
            tolerations=[{"key": "nvidia.com/gpu", "operator": "Equal", "value": "present"}]
        ),
        [f"gpu-taint-tolerated {WORKLOAD}"],
    ),
    (
        "GPU nodes without a label that says so",
        lambda parts: parts.update(
            stray={
                "type": "aws:eks/nodeGroup:NodeGroup",
                "provider": "aws",
                "props": {"instanceTypes": ["m6i.large", "p5.48xlarge"]},
            }
        ),
        ["gpu-pool-tainted stray"],
    ),
    ("the system's own pool is free for all", lambda parts: helper(parts, in_pool("berth-system")), []),
    (
        "a GPU pool that took the name of the system's",
        lambda parts: renamed(parts, "berth-system"),
        [f"gpu-taint-tolerated {WORKLOAD}"],
    ),
    (
        "pinned by affinity to a pool that they do not tolerate",
        lambda parts: helper(parts, required(["l4"])),
        ["gpu-taint-tolerated helper"],
    ),
    (
        "pinned by affinity to pools of which they tolerate none",
        lambda parts: helper(parts, required(["l4"], ["l5"])),
        ["gpu-taint-tolerated helper"],
    ),
    ("free to use another pool", lambda parts: helper(parts, required(["l4", "berth-system"])), []),
    (
        "another term of the affinity leaves the pool open",
        lambda parts: helper(parts, in_terms([("In", ["l4"])], [("NotIn", ["l5"])])),
        [],
    ),
    (
        "a term without an expression leaves no pool open",
        lambda parts: helper(parts, in_terms([("In", ["l4"])], [])),
        ["gpu-taint-tolerated helper"],
    ),
    (
        "all expressions of a term count",
        lambda parts: helper(parts, in_terms([("In", ["l4", "berth-system"]), ("In", ["l4", "l5"])])),
        ["gpu-taint-tolerated helper"],
    ),
    ("the cluster is drained", drain, [f"cluster-taint-tolerated {QWEN}"]),
    ("it was there before the drain", lambda parts: drain(parts, "maintenance:NoExecute"), []),
]

DEVICES: list[tuple[str, Change, list[str]]] = [
    (
        "the pool is promised twice",
        lambda parts: props(parts, "eks-a/l4").update(nodes=0),
        ["devices-within-pool eks-a/l4"],
    ),
    (
        "the workload has more pods than the replica says, and more than the pool holds",
        lambda parts: props(parts, WORKLOAD)["spec"].update(replicas=5),
        [f"component-truthful {QWEN}", "devices-within-pool eks-a/l4"],
    ),
    (
        "the workload is on another cluster than the replica says",
        elsewhere,
        [f"component-truthful {QWEN}", "devices-within-pool eks-b/l4"],
    ),
    (
        "the workload is on a cluster of nobody's",
        lambda parts: parts[WORKLOAD].update(provider="eks-a-kubernetes-2"),
        [f"component-truthful {QWEN}", f"devices-within-pool {WORKLOAD}"],
    ),
    (
        "pods claim through another replica's template",
        thief,
        [
            *("component-truthful ml/thief/eks-a/0", "device-one-owner ml/thief/eks-a/0-workload"),
            "devices-within-pool eks-a/l4",
        ],
    ),
    (
        "pods claim through a template that is nobody's",
        at_the_root,
        ["component-truthful ml/thief/eks-a/0", "devices-within-pool eks-a/l4"],
    ),
    (
        "the claim template does not exist",
        lambda parts: pod(parts)["resourceClaims"].append({"name": "b", "resourceClaimTemplateName": "gone"}),
        [f"devices-within-pool {WORKLOAD}"],
    ),
    (
        "the claim template is in another namespace",
        lambda parts: props(parts, f"{QWEN}-claims")["metadata"].update(namespace="other"),
        [f"component-truthful {QWEN}", f"devices-within-pool {WORKLOAD}"],
    ),
    ("the claim template may be one whose name is not known", nameless, []),
    (
        "a second provider of the same cluster makes the claim template",
        lambda parts: (
            parts.update({"eks-a-again": {"type": "pulumi:providers:kubernetes", "parent": "eks-a", "props": {}}}),
            parts[f"{QWEN}-claims"].update(provider="eks-a-again"),
        ),
        [],
    ),
    (
        "pods claim on one of several pools",
        lambda parts: (pod(parts).pop("nodeSelector"), pod(parts).update(required(["l4", "l5"]))),
        [f"component-truthful {QWEN}", "devices-within-pool eks-a/(no pool)"],
    ),
    (
        "pods claim on the pool that they are pinned to by affinity",
        lambda parts: (pod(parts).pop("nodeSelector"), pod(parts).update(required(["l4"]))),
        [],
    ),
    (
        "the claim takes all devices of a node",
        lambda parts: request(parts)["exactly"].update(allocationMode="All"),
        [f"devices-within-pool {WORKLOAD}"],
    ),
    (
        "the claim takes one of several kinds",
        lambda parts: request(parts).update(firstAvailable=[{"deviceClassName": "a"}]),
        [f"devices-within-pool {WORKLOAD}"],
    ),
    (
        "the claim looks into devices of others",
        lambda parts: request(parts)["exactly"].update(adminAccess=True),
        [f"device-one-owner {WORKLOAD}"],
    ),
    (
        "a device plugin's resource beside the claim",
        lambda parts: pod(parts)["containers"][0].update(resources={"limits": {"nvidia.com/gpu": 1}}),
        [f"device-one-owner {WORKLOAD}"],
    ),
    (
        "a privileged serving container",
        lambda parts: pod(parts)["containers"][0].update(securityContext={"privileged": True}),
        [f"device-one-owner {WORKLOAD}"],
    ),
    (
        "a variable that takes devices",
        lambda parts: pod(parts)["containers"][0].update(
            env=[{"name": "A", "value": "b"}, {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
        ),
        [f"device-one-owner {WORKLOAD}"],
    ),
    (
        "a container with settings that give it no device",
        lambda parts: pod(parts)["containers"][0].update(securityContext={"privileged": False, "runAsUser": 1000}),
        [],
    ),
    (
        "a shared claim",
        lambda parts: pod(parts)["resourceClaims"].append({"name": "b", "resourceClaimName": "shared"}),
        [f"device-one-owner {WORKLOAD}"],
    ),
    (
        "claims outside any replica",
        lambda parts: parts[WORKLOAD].update(parent=""),
        [f"component-truthful {QWEN}", f"device-one-owner {WORKLOAD}"],
    ),
    ("a device plugin beside the driver", chart("nvidia-device-plugin"), ["device-one-owner other"]),
    ("a device plugin from a folder", chart("./charts/nvidia-device-plugin/"), ["device-one-owner other"]),
    ("an operator that serves devices", chart("gpu-operator"), ["device-one-owner other"]),
    ("an operator that does not", chart("gpu-operator", {"devicePlugin": {"enabled": False}}), []),
    (
        "a device plugin from a chart that the program renders",
        lambda parts: parts.update(
            other={"type": "kubernetes:helm.sh/v4:Chart", "props": {"chart": "nvidia-device-plugin"}}
        ),
        ["device-one-owner other"],
    ),
    (
        "an operator told to serve devices",
        lambda parts: parts.update(other={"type": "kubernetes:nvidia.com/v1:ClusterPolicy", "props": {"spec": {}}}),
        ["device-one-owner other"],
    ),
    (
        "an operator told not to",
        lambda parts: parts.update(
            other={
                "type": "kubernetes:nvidia.com/v1:ClusterPolicy",
                "props": {"spec": {"devicePlugin": {"enabled": False}}},
            }
        ),
        [],
    ),
    (
        "a device plugin without a chart",
        lambda parts: parts.update(
            plugin={
                "type": "kubernetes:apps/v1:DaemonSet",
                "props": {
                    "spec": {
                        "template": {"spec": {"containers": [{"image": "nvcr.io/nvidia/k8s-device-plugin:v0.19"}]}}
                    }
                },
            }
        ),
        ["device-one-owner plugin"],
    ),
    (
        "a device plugin on a cluster without the driver",
        lambda parts: parts.update(
            plugin={
                "type": "kubernetes:helm.sh/v3:Release",
                "provider": "another",
                "props": {"chart": "nvidia-device-plugin"},
            }
        ),
        [],
    ),
]

CACHES: list[tuple[str, Change, list[str]]] = [
    (
        "the cache is elsewhere",
        lambda parts: props(parts, "ml/weights/eks-a/0").update(cluster="eks-b"),
        ["component-truthful ml/weights/eks-a/0", f"replica-in-cache-footprint {QWEN}"],
    ),
    (
        "outside the footprint",
        lambda parts: props(parts, QWEN).update(cacheFootprint=["eks-b"]),
        [f"replica-in-cache-footprint {QWEN}"],
    ),
    (
        "the replica hides its cache",
        lambda parts: props(parts, QWEN).update(shape={**props(parts, QWEN)["shape"], "cache": None}),
        [f"component-truthful {QWEN}"],
    ),
    (
        "the pods do not read the cache",
        lambda parts: pod(parts).update(volumes=[]),
        [f"component-truthful {QWEN}"],
    ),
    (
        "the cache has no volume",
        lambda parts: parts.pop("ml/weights/eks-a/0-volume"),
        [f"component-truthful {QWEN}", "component-truthful ml/weights/eks-a/0"],
    ),
    (
        "the cache does not fit its volume",
        lambda parts: props(parts, "ml/weights/eks-a/0").update(shape={"sizeGiB": 20}),
        ["cache-fits-volume ml/weights/eks-a/0"],
    ),
    (
        "the volume asks for nothing",
        lambda parts: props(parts, "ml/weights/eks-a/0-volume").update(spec={}),
        ["cache-fits-volume ml/weights/eks-a/0"],
    ),
    (
        "the volume asks for nonsense",
        lambda parts: props(parts, "ml/weights/eks-a/0-volume")["spec"].update(
            resources={"requests": {"storage": "10 GiB"}}
        ),
        ["cache-fits-volume ml/weights/eks-a/0"],
    ),
    (
        "a cache's volume that nobody owns",
        lambda parts: parts.update(
            stray={
                "type": "kubernetes:core/v1:PersistentVolumeClaim",
                "props": {"metadata": {"labels": {"modelplane.ai/modelcache": "weights"}}},
            }
        ),
        ["cache-fits-volume stray"],
    ),
]

LIES: list[tuple[str, Change, list[str]]] = [
    (
        "the pool lies about its size",
        lambda parts: props(parts, "eks-a/l4").update(nodes=9),
        ["component-truthful eks-a/l4"],
    ),
    (
        "the pool has no nodes",
        lambda parts: parts.pop("eks-a/l4-nodes"),
        ["component-truthful eks-a/l4"],
    ),
    (
        "the nodes belong to another pool",
        lambda parts: props(parts, "eks-a/l4-nodes")["labels"].update({"modelplane.ai/pool": "h100"}),
        ["component-truthful eks-a/l4"],
    ),
    (
        "the nodes belong to another cluster",
        lambda parts: parts.update(
            {
                "eks-b": {"type": "berth:index:EksCluster", "props": {"cluster": "eks-b", "taints": []}},
                "eks-b-cluster": {
                    "type": "aws:eks/cluster:Cluster",
                    "parent": "eks-b",
                    "provider": "aws",
                    "props": {"name": "b"},
                },
                "eks-a/l4-nodes": {
                    **parts["eks-a/l4-nodes"],
                    "props": {**props(parts, "eks-a/l4-nodes"), "clusterName": "b"},
                },
            }
        ),
        ["component-truthful eks-a/l4"],
    ),
    (
        "the replica lies about what it claims",
        lambda parts: request(parts)["exactly"].update(count=1),
        [f"component-truthful {QWEN}"],
    ),
    (
        "a component says one thing in its inputs and another in its outputs",
        lambda parts: parts["eks-a/l4"].update(inputs={**props(parts, "eks-a/l4"), "nodes": 20}),
        ["component-truthful eks-a/l4"],
    ),
    (
        "a component's inputs and outputs agree",
        lambda parts: parts["eks-a/l4"].update(inputs=dict(props(parts, "eks-a/l4"))),
        [],
    ),
    (
        "a description that cannot be read",
        lambda parts: props(parts, "ml/weights/eks-a/0").update(shape={"size": "large"}),
        ["component-truthful ml/weights/eks-a/0", f"replica-in-cache-footprint {QWEN}"],
    ),
    (
        "a description without its parts",
        lambda parts: props(parts, "eks-a").pop("taints"),
        ["component-truthful eks-a"],
    ),
    (
        "a description that is not known",
        lambda parts: props(parts, "eks-a")["taints"].append(UNKNOWN),
        ["component-truthful eks-a"],
    ),
]

CASES = [*TAINTS, *DEVICES, *CACHES, *LIES]


@pytest.mark.parametrize(("change", "want"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_exactly_the_named_rules_are_broken(change: Change, want: list[str]) -> None:
    """Neither more nor fewer, and each by the right subject."""
    assert broken(change) == want


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        pytest.param(lambda parts: drain(parts, "maintenance:NoExecute"), "cluster-taint-tolerated", id="taint"),
        pytest.param(
            lambda parts: props(parts, QWEN).update(cacheFootprint=["eks-b"], stays="cache-footprint"),
            "replica-in-cache-footprint",
            id="footprint",
        ),
    ],
)
def test_a_replica_may_not_pretend_to_have_been_there(change: Change, rule: str) -> None:
    """The driver says what exists; a mark without existence is a violation."""
    assert broken(change, {"existing": ["ml/other/eks-a/0"]}) == [f"{rule} {QWEN}"]
    assert broken(change, {"existing": [QWEN]}) == []
    assert broken(change) == []


def test_a_template_that_may_be_the_one_is_waited_for() -> None:
    """Its name is not known yet, so what its pods claim is neither right nor wrong."""
    parts = fleet()
    nameless(parts)
    deferred = {found.rule.name for found in judge(stack_of(parts), RULES, {}) if found.deferred}
    assert {"devices-within-pool", "component-truthful", "device-one-owner"} <= deferred


@pytest.mark.parametrize(
    ("types", "gpus"),
    [
        *((name, True) for name in ("g4dn.xlarge", "g6e.48xlarge", "gr6.4xlarge", "p4d.24xlarge", "p6-b200.48xlarge")),
        *((name, False) for name in ("m6g.large", "c7gn.large", "t3.medium", "inf2.xlarge", "hpc7g.4xlarge")),
        (UNKNOWN, None),
        (None, False),
    ],
)
def test_machine_types_with_gpus_are_known_by_their_series(types: Any, gpus: bool | None) -> None:
    """A node group of them needs the taint; one whose type is not known yet is judged later."""
    parts = fleet()
    props_ = {"instanceTypes": [types] if isinstance(types, str) else types}
    parts["stray"] = {"type": "aws:eks/nodeGroup:NodeGroup", "provider": "aws", "props": props_}
    judged = [each for each in judge(stack_of(parts), RULES, {}) if each.rule.name == "gpu-pool-tainted"]
    assert [(each.subject, each.deferred) for each in judged] == ([] if gpus is False else [("stray", gpus is None)])


def test_gangs_count_leader_and_workers() -> None:
    """Two groups of one leader and two workers, two devices a pod, are twelve devices."""
    parts = fleet()
    parts[WORKLOAD] = {
        "type": "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
        "parent": QWEN,
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
    found = [finding.message for finding in judge(stack_of(parts), RULES, {})]
    assert any("12 devices" in message for message in found)


def test_every_rule_says_what_it_is_and_what_to_do() -> None:
    """Names are stable and kebab-case, and none is given twice."""
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule.name == rule.name.lower().replace("_", "-").replace(" ", "-")
        assert rule.description.endswith(".")
        assert rule.remediation.endswith(".")
