"""The pod of an engine's member: the user's container verbatim, and what the cluster needs beside it."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from components.models.pods import PodPlace, member_pod
from tests.support.samples import container_of, member

PLACE = PodPlace(replica="qwen-5ab63", workload="qwen-5ab63-main-11111", pool="l4", claim_templates=("devices-1",))
CACHED = PodPlace(replica="qwen-5ab63", workload="w", pool="l4", claim_templates=("d",), cache_claim="modelcache-x")
PROBE = {
    "httpGet": {"path": "/health", "port": 8000},
    "initialDelaySeconds": 30,
    "periodSeconds": 10,
    "timeoutSeconds": 5,
}


def test_standalone_pod_is_the_users_container_where_it_was_placed() -> None:
    """The whole pod of the most common member, literally: a change of it restarts every replica of every fleet."""
    given = member(command=["vllm"], args=["serve"], env=[{"name": "A", "value": "1"}])
    assert member_pod(given, PLACE) == {
        "metadata": {
            "labels": {"modelplane.ai/serving": "qwen-5ab63", "modelplane.ai/workload": "qwen-5ab63-main-11111"}
        },
        "spec": {
            "containers": [
                {
                    "name": "engine",
                    "image": "vllm:1",
                    "command": ["vllm"],
                    "args": ["serve"],
                    "env": [{"name": "A", "value": "1"}],
                    "ports": [{"containerPort": 8000}],
                    "readinessProbe": PROBE,
                    "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}],  # noqa: S108 (the pod's)
                    "resources": {"claims": [{"name": "devices"}]},
                }
            ],
            "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory"}}],
            "nodeSelector": {"modelplane.ai/pool": "l4"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "devices-1"}],
        },
    }


def test_gang_pods_learn_leader_and_rank_before_the_users_variables() -> None:
    """The user's variables can refer to the two, so they must come first, in the leader and in the worker."""
    for role in ("Leader", "Worker"):
        pod = member_pod(member(role, env=[{"name": "RANK", "value": "$(MODELPLANE_RANK)"}]), PLACE)
        assert container_of(pod)["env"] == [
            {"name": "MODELPLANE_LEADER_ADDRESS", "value": "$(LWS_LEADER_ADDRESS)"},
            {"name": "MODELPLANE_RANK", "value": "$(LWS_WORKER_INDEX)"},
            {"name": "RANK", "value": "$(MODELPLANE_RANK)"},
        ]


def test_only_a_leader_of_a_gang_serves() -> None:
    """A follower has no port, no probe and no label that traffic follows; without own metadata it has none at all."""
    leader, worker = member_pod(member("Leader"), PLACE), member_pod(member("Worker"), PLACE)
    assert leader["metadata"]["labels"] == {"modelplane.ai/serving": "qwen-5ab63", "modelplane.ai/lws-role": "leader"}
    assert "metadata" not in worker
    assert container_of(leader)["readinessProbe"] == PROBE
    assert not {"ports", "readinessProbe", "args"} & container_of(worker).keys()


def test_metadata_of_the_manifest_reaches_the_pod_and_never_wins_over_the_selectors() -> None:
    """Labels that Berth's selectors rest on are written last."""
    given = member(metadata={"labels": {"team": "ml", "modelplane.ai/serving": "x"}, "annotations": {"note": "1"}})
    metadata = member_pod(given, PLACE)["metadata"]
    assert metadata["labels"]["team"] == "ml"
    assert metadata["labels"]["modelplane.ai/serving"] == "qwen-5ab63"
    assert metadata["annotations"] == {"note": "1"}


def test_member_without_claims_gets_no_devices_and_stays_on_its_pool() -> None:
    """A coordinator asks for nothing, and still runs where its engine was placed."""
    pod = member_pod(member("Leader", gpus=0), PodPlace(replica="r", workload="w", pool="l4"))
    assert "resourceClaims" not in pod["spec"]
    assert "resources" not in container_of(pod)
    assert pod["spec"]["nodeSelector"] == {"modelplane.ai/pool": "l4"}


def test_pull_secrets_are_passed_on() -> None:
    """Private images need them on the pod."""
    pod = member_pod(member(pod={"imagePullSecrets": [{"name": "registry"}]}), PLACE)
    assert pod["spec"]["imagePullSecrets"] == [{"name": "registry"}]


def test_cache_is_mounted_for_writing_in_every_pod() -> None:
    """Engines write lock and compile files beside the weights; a read-only mount would stop them."""
    for role in ("Standalone", "Leader", "Worker"):
        pod = member_pod(member(role), CACHED)
        volume = {"name": "model-cache", "persistentVolumeClaim": {"claimName": "modelcache-x"}}
        assert volume in pod["spec"]["volumes"]
        assert {"name": "model-cache", "mountPath": "/mnt/models"} in container_of(pod)["volumeMounts"]


@dataclass(frozen=True)
class ModelCase:
    """When the weights' place is added to the arguments."""

    name: str
    reason: str
    want: list[str] | None
    role: str = "Standalone"
    place: PodPlace = CACHED
    container: dict[str, Any] = field(default_factory=dict)


CASES = (
    ModelCase("cache alone", "vLLM would serve its default model otherwise", ["--model=/mnt/models"]),
    ModelCase(
        "other arguments",
        "they stay, in front",
        ["--port=8000", "--model=/mnt/models"],
        container={"args": ["--port=8000"]},
    ),
    ModelCase("leader", "it serves", ["--model=/mnt/models"], role="Leader"),
    ModelCase("worker", "it serves nothing", None, role="Worker"),
    ModelCase("no cache", "there is nothing to point at", [], place=PLACE),
    ModelCase("own command", "another engine may not know the flag", [], container={"command": ["sglang"]}),
    ModelCase("model with a space", "the user chose", ["--model", "x"], container={"args": ["--model", "x"]}),
    ModelCase("model with an equals sign", "the user chose", ["--model=x"], container={"args": ["--model=x"]}),
    ModelCase(
        "a flag that only begins so",
        "it is another flag",
        ["--model-impl=x", "--model=/mnt/models"],
        container={"args": ["--model-impl=x"]},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_model_argument_is_added_under_three_conditions_only(case: ModelCase) -> None:
    """With a cache, without an own command, and without a model argument."""
    pod = member_pod(member(case.role, **case.container), case.place)
    assert container_of(pod).get("args") == case.want, case.reason
