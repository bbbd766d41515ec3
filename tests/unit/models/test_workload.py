"""Workloads and claim templates of an engine."""

import pytest

from components.lock import (
    Claim,
    EnginePlacement,
    EngineShape,
    MemberPlacement,
    MemberShape,
    ReplicaShape,
    RequestShape,
)
from components.models.claims import claim_templates
from components.models.manifest import Owner
from components.models.replica_objects import ReplicaPlan, replica_objects
from components.models.workload import engine_workload_name, start_minutes, workload
from components.naming import workload_name
from tests.support.samples import engine, member, template

OWNER = Owner("ml/qwen/eks-a/0", "ml", "dev")


def built(what: EngineShape, replica: str = "qwen-5ab63", minutes: int = 30) -> dict:
    """Return the body of an engine's workload with placeholder pods."""
    pods = {each.role: {"spec": {"role": each.role}} for each in what.members}
    return dict(workload(OWNER, replica=replica, engine=what, pods=pods, after=(), minutes=minutes).body)


def test_single_pod_is_a_deployment_that_never_surges() -> None:
    """Its pods hold whole devices: an extra one could not bind while the old one runs."""
    body = built(engine(copies=3))
    name = workload_name("qwen-5ab63", "main")
    assert (body["apiVersion"], body["kind"], body["metadata"]["name"]) == ("apps/v1", "Deployment", name)
    assert body["metadata"]["namespace"] == "ml"
    assert body["spec"] == {
        "replicas": 3,
        "selector": {"matchLabels": {"modelplane.ai/workload": name}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "progressDeadlineSeconds": 1800,
        "template": {"spec": {"role": "Standalone"}},
    }


def test_gang_is_a_leader_worker_set_of_leader_and_followers() -> None:
    """Its size counts the leader; the engine's provider is told what ready means for it."""
    body = built(engine("main", member("Leader"), member("Worker", pods=3), copies=2))
    assert (body["apiVersion"], body["kind"]) == ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    assert body["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Available"
    assert body["spec"] == {
        "replicas": 2,
        "leaderWorkerTemplate": {
            "size": 4,
            "leaderTemplate": {"spec": {"role": "Leader"}},
            "workerTemplate": {"spec": {"role": "Worker"}},
        },
    }


def test_every_object_names_its_environment_and_owner() -> None:
    """An orphan can be traced by label and annotation."""
    metadata = built(engine())["metadata"]
    assert metadata["labels"]["berth.dev/environment"] == "dev"
    assert metadata["annotations"]["berth.dev/owner"] == "ml/qwen/eks-a/0"


def test_long_names_of_gangs_leave_room_for_what_their_controller_appends() -> None:
    """Kubernetes cannot make the pods of a stateful set whose name passes 52 characters; the group adds three."""
    replica = f"{'a' * 50}-12345"
    gang = engine("prefill", member("Leader"), member("Worker"))
    assert len(engine_workload_name(replica, gang)) <= 49
    assert engine_workload_name(replica, engine("prefill")) == workload_name(replica, "prefill")
    assert engine_workload_name("qwen-5ab63", gang) == workload_name("qwen-5ab63", "prefill")


def test_waiting_grows_with_the_weights() -> None:
    """Half a terabyte from a shared volume took 45 minutes in public reports; an engine without a cache gets 30."""
    assert start_minutes(50) == 30
    assert start_minutes(509) > 60
    assert start_minutes(1100) > start_minutes(509)


def test_claim_template_repeats_the_request_as_it_was_written() -> None:
    """Selectors are the user's, verbatim, and several requests share one claim."""
    requests = (
        RequestShape(name="gpu", count=8, selectors=("a", "b")),
        RequestShape(name="nic", count=16, selectors=("c",)),
    )
    asks = MemberShape(role="Leader", requests=requests, template=template())
    place = MemberPlacement(
        pool="p",
        claims=(
            Claim(request="gpu", device_class="gpu.nvidia.com"),
            Claim(request="nic", device_class="efa.networking.k8s.aws"),
        ),
    )
    (manifest,) = claim_templates(OWNER, replica="r-1", engine=engine("main", asks), member=asks, placement=place)
    assert manifest.body["spec"]["spec"]["devices"]["requests"] == [
        {
            "name": "gpu",
            "exactly": {
                "deviceClassName": "gpu.nvidia.com",
                "count": 8,
                "selectors": [{"cel": {"expression": "a"}}, {"cel": {"expression": "b"}}],
            },
        },
        {
            "name": "nic",
            "exactly": {
                "deviceClassName": "efa.networking.k8s.aws",
                "count": 16,
                "selectors": [{"cel": {"expression": "c"}}],
            },
        },
    ]


def test_claim_template_has_another_name_when_it_asks_for_something_else() -> None:
    """Templates cannot be changed, so old and new must be able to live side by side."""
    place = MemberPlacement(pool="p", claims=(Claim(request="gpu", device_class="gpu.nvidia.com"),))

    def name(gpus: int) -> str:
        asks = member(gpus=gpus)
        (manifest,) = claim_templates(OWNER, replica="r-1", engine=engine("main", asks), member=asks, placement=place)
        return manifest.name

    assert name(1) == name(1)
    assert name(1) != name(2)
    assert len(name(1)) <= 63


def test_request_without_a_claim_is_not_claimed() -> None:
    """A device that is only matched for placement never stands in a template."""
    asks = member()
    place = MemberPlacement(pool="p")
    assert claim_templates(OWNER, replica="r", engine=engine("main", asks), member=asks, placement=place) == ()


@pytest.mark.parametrize(
    ("asked", "claimed"),
    [
        ({"gpu": 8, "nic": 24}, [{"gpu": 8, "nic": 24}]),
        ({"gpu": 8, "nic": 32}, [{"gpu": 8, "nic": 24}, {"nic": 8}]),
        ({"nic": 32, "gpu": 8}, [{"nic": 32}, {"gpu": 8}]),
        ({"nic": 64, "gpu": 1}, [{"nic": 32}, {"nic": 32}, {"gpu": 1}]),
    ],
)
def test_no_claim_is_larger_than_a_claim_may_be(asked: dict[str, int], claimed: list[dict[str, int]]) -> None:
    """The scheduler fails for ever on a claim of more than 32 devices; a pod may have several claims."""
    asks = MemberShape(
        role="Standalone",
        requests=tuple(RequestShape(name=name, count=count, selectors=("true",)) for name, count in asked.items()),
        template=template(),
    )
    place = MemberPlacement(pool="p", claims=tuple(Claim(request=name, device_class="c") for name in asked))
    whole = engine("main", asks)
    plan = ReplicaPlan(
        name="r-1",
        shape=ReplicaShape(engines=(whole,)),
        placement=(EnginePlacement(engine="main", members=(place,)),),
    )
    objects = {each.role: each for each in replica_objects(OWNER, plan)}
    roles = ["claim-main-standalone", "claim-main-standalone-2", "claim-main-standalone-3"][: len(claimed)]
    templates = [objects[role] for role in roles]
    assert [
        {one["name"]: one["exactly"]["count"] for one in each.body["spec"]["spec"]["devices"]["requests"]}
        for each in templates
    ] == claimed
    pod = objects["workload-main"].body["spec"]["template"]["spec"]
    names = ["devices", "devices-2", "devices-3"][: len(claimed)]
    assert pod["resourceClaims"] == [
        {"name": name, "resourceClaimTemplateName": each.name} for name, each in zip(names, templates, strict=True)
    ]
    assert pod["containers"][0]["resources"]["claims"] == [{"name": name} for name in names]
    assert set(roles) <= set(objects["workload-main"].after)
    assert not {role for role in objects if role.startswith("claim-")} - set(roles)
