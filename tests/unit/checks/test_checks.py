"""The checks that program and policies share: each rule has a fleet that passes and one that breaks it."""

from dataclasses import replace
from typing import Any

import pytest

from components.checks import check_facts
from components.checks.facts import (
    CacheFact,
    ClusterFact,
    DeviceFact,
    FleetFacts,
    MemberFact,
    PoolFact,
    ReplicaFact,
    Taint,
    Toleration,
)
from components.checks.footprint import STAYS_OUTSIDE, volume_problem
from components.checks.ownership import pod_owners, sees_every_device
from components.checks.taints import untolerated

GPU = Taint("nvidia.com/gpu", "true", "NoSchedule")
POOL = PoolFact("eks-a", "l4", 2, True, (GPU,), (DeviceFact("gpu", "gpu.nvidia.com", "DRA", 4),))
MEMBER = MemberFact("engine", "Standalone", "l4", 2, (("gpu.nvidia.com", 4),), {})
REPLICA = ReplicaFact("ml/qwen/eks-a/0", "ml", "eks-a", "Serving", "", (), (MEMBER,), ("qwen", "sha256:c"), ("eks-a",))
CACHE = CacheFact("qwen", "ml", "eks-a", "sha256:c", 10)
FACTS = FleetFacts((ClusterFact("eks-a", ()),), (POOL,), (REPLICA,), (CACHE,))
DRAIN = Taint("maintenance", "", "NoExecute")


def with_member(**changes: Any) -> FleetFacts:
    """Change the replica's member."""
    return replace(FACTS, replicas=(replace(REPLICA, members=(replace(MEMBER, **changes),)),))


def with_taints(replica: ReplicaFact) -> FleetFacts:
    """Drain the cluster under a replica."""
    return replace(FACTS, clusters=(ClusterFact("eks-a", (DRAIN,)),), replicas=(replica,))


@pytest.mark.parametrize(
    ("facts", "rules"),
    [
        pytest.param(FACTS, [], id="a fleet in order"),
        pytest.param(replace(FACTS, pools=(replace(POOL, taints=()),)), ["gpu-pool-tainted"], id="no taint"),
        pytest.param(
            replace(FACTS, pools=(replace(POOL, taints=(replace(GPU, effect="PreferNoSchedule"),)),)),
            ["gpu-pool-tainted"],
            id="a taint that repels nothing",
        ),
        pytest.param(replace(FACTS, pools=(replace(POOL, taints=(), provisioned=False),)), [], id="a pool not ours"),
        pytest.param(with_taints(REPLICA), ["cluster-taint-tolerated"], id="untolerated"),
        pytest.param(
            with_taints(replace(REPLICA, tolerations=(Toleration("maintenance", "Exists"),))), [], id="tolerated"
        ),
        pytest.param(with_taints(replace(REPLICA, stays="maintenance:NoExecute")), [], id="there first"),
        pytest.param(
            with_taints(replace(REPLICA, stays="other:NoExecute")), ["cluster-taint-tolerated"], id="another mark"
        ),
        pytest.param(with_member(claims=(("gpu.nvidia.com", 5),), pods=1), ["devices-within-pool"], id="a big pod"),
        pytest.param(with_member(pods=3), ["devices-within-pool"], id="too many pods"),
        pytest.param(
            with_member(claims=(("gpu.nvidia.com", 3), ("gpu.nvidia.com", 2)), pods=1),
            ["devices-within-pool"],
            id="two requests of one pod add up",
        ),
        pytest.param(with_member(pool="gone"), ["devices-within-pool"], id="a pool that is not there"),
        pytest.param(
            with_member(template={"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}}),
            ["device-one-owner"],
            id="a device plugin's limit beside a claim",
        ),
        pytest.param(
            replace(FACTS, replicas=(replace(REPLICA, footprint=("eks-b",)),)),
            ["replica-in-cache-footprint"],
            id="outside the footprint",
        ),
        pytest.param(
            replace(FACTS, replicas=(replace(REPLICA, footprint=("eks-b",), stays=STAYS_OUTSIDE),)),
            [],
            id="outside a narrowed footprint until its successor serves",
        ),
        pytest.param(
            replace(FACTS, caches=(replace(CACHE, shape="sha256:d"),)),
            ["replica-in-cache-footprint"],
            id="another revision is staged",
        ),
        pytest.param(replace(FACTS, caches=()), ["replica-in-cache-footprint"], id="nothing is staged"),
    ],
)
def test_each_rule_judges_what_it_names(facts: FleetFacts, rules: list[str]) -> None:
    """Exactly the named rules are broken, and each says what to do."""
    found = check_facts(facts)
    assert [violation.rule for violation in found] == rules
    assert all(violation.remediation and violation.subject for violation in found)


@pytest.mark.parametrize(
    ("toleration", "taint", "covered"),
    [
        (Toleration("", "Exists"), DRAIN, True),
        (Toleration("maintenance", "Exists", effect="NoExecute"), DRAIN, True),
        (Toleration("maintenance", "Exists", effect="NoSchedule"), DRAIN, False),
        (Toleration("maintenance", "Equal"), DRAIN, True),
        (Toleration("maintenance", "Equal", "soon"), DRAIN, False),
        (Toleration("nvidia.com/gpu", "Equal", "present", "NoSchedule"), GPU, False),
        (Toleration("nvidia.com/gpu", "Exists", effect="NoSchedule"), GPU, True),
        (Toleration("other", "Exists"), DRAIN, False),
    ],
)
def test_tolerations_follow_kubernetes(toleration: Toleration, taint: Taint, covered: bool) -> None:
    """The matrix of operator, key, value and effect."""
    assert toleration.tolerates(taint) is covered
    assert (untolerated((taint,), (toleration,)) == ()) is covered


def test_owners_of_a_pod_are_found_in_every_container() -> None:
    """Init containers, requests and shared claims count as owners too."""
    spec = {
        "initContainers": [{"name": "warm", "resources": {"requests": {"nvidia.com/mig-1g.5gb": "1"}}}],
        "containers": [{"name": "engine", "resources": {"limits": {"cpu": "1"}}}],
        "resourceClaims": [
            {"name": "a", "resourceClaimName": "shared"},
            {"name": "b", "resourceClaimTemplateName": "t"},
        ],
    }
    found = list(pod_owners(spec))
    assert len(found) == 2
    assert "nvidia.com/mig-1g.5gb" in found[0]
    assert "shared" in found[1]


@pytest.mark.parametrize(
    ("variable", "takes"),
    [
        ({"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}, True),
        ({"name": "NVIDIA_VISIBLE_DEVICES", "value": "0,1"}, True),
        ({"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}, True),
        ({"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}, False),
        ({"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"}, False),
        ({"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "all"}, False),
    ],
)
def test_a_variable_that_takes_devices_is_an_owner(variable: dict[str, Any], *, takes: bool) -> None:
    """The container runtime gives them out past every claim; values that take none are harmless."""
    spec = {"containers": [{"name": "engine", "env": [variable]}]}
    want = ["container engine sets NVIDIA_VISIBLE_DEVICES, which takes devices that others claim"] if takes else []
    assert list(sees_every_device(spec)) == want


@pytest.mark.parametrize("group", ["initContainers", "containers", "sidecars"])
@pytest.mark.parametrize("privileged", [True, False, None])
def test_a_privileged_container_sees_what_others_own(group: str, *, privileged: bool | None) -> None:
    """It gets every device file of its node, claimed or not."""
    spec = {group: [{"name": "debug", "securityContext": {"privileged": privileged}}, {"name": "engine"}]}
    found = list(sees_every_device(spec))
    assert [("container debug is privileged" in each) for each in found] == ([True] if privileged else [])


def test_a_volume_must_hold_its_cache() -> None:
    """The message carries both numbers."""
    assert volume_problem(10, 10) == ""
    assert "20 GiB" in volume_problem(20, 10)
    assert "10 GiB" in volume_problem(20, 10)


def test_facts_are_read_from_what_components_register() -> None:
    """The engine gives numbers as floats and leaves absent fields out."""
    pool = PoolFact.from_props(
        {
            "cluster": "eks-a",
            "pool": "l4",
            "nodes": 2.0,
            "provisioned": True,
            "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
            "devices": [{"name": "gpu", "deviceClass": "gpu.nvidia.com", "claim": "DRA", "count": 4.0}],
        }
    )
    assert pool == POOL
    props = {
        "namespace": "ml",
        "deployment": "qwen",
        "cluster": "eks-a",
        "index": 0.0,
        "phase": "Serving",
        "shape": {
            "engines": [
                {
                    "name": "engine",
                    "copies": 2.0,
                    "members": [
                        {
                            "role": "Standalone",
                            "requests": [{"name": "g", "count": 4.0, "selectors": []}],
                            "template": {},
                        }
                    ],
                }
            ]
        },
        "placement": [
            {
                "engine": "engine",
                "members": [{"pool": "l4", "claims": [{"request": "g", "deviceClass": "gpu.nvidia.com"}]}],
            }
        ],
    }
    replica = ReplicaFact.from_props(props)
    assert replica == replace(REPLICA, cache=None, footprint=None)
