"""The routing surface of a replica: pool, picker, route, and the pods of PrefillDecode serving."""

from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from components.errors import LockError
from components.models import images
from components.models.manifest import Manifest, Owner
from components.models.replica_objects import ReplicaPlan, replica_objects
from components.models.routing import block_size, flag_value
from tests.support.samples import container_of, engine, member, placement, shape

OWNER = Owner("ml/qwen/eks-a/0", "ml", "dev")


def objects(*engines: Any, mode: str = "Unified", name: str = "qwen-5ab63") -> dict[str, Manifest]:
    """Return a replica's objects by role."""
    plan = ReplicaPlan(name=name, shape=shape(*engines, mode=mode), placement=placement(*engines))
    return {manifest.role: manifest for manifest in replica_objects(OWNER, plan)}


def config_of(made: dict[str, Manifest]) -> dict[str, Any]:
    """Return the picker's configuration as the picker reads it."""
    return yaml.safe_load(made["picker-config"].body["data"]["picker.yaml"])


def test_a_block_size_of_the_manifest_wins_over_the_engine_s_flags() -> None:
    """Flags inside a script of the image are invisible; the manifest can say what they are."""
    flags = engine("main", member(args=["--block-size=32"]))
    for given, want in ((None, 32), (64, 64)):
        content = shape(flags).model_copy(update={"block_size": given})
        plan = ReplicaPlan(name="qwen-5ab63", shape=content, placement=placement(flags))
        made = {manifest.role: manifest for manifest in replica_objects(OWNER, plan)}
        assert f"'blockSizeTokens': {want}" in str(config_of(made))


def test_unified_replica_is_made_of_these_objects() -> None:
    """A pool, a picker and a route, even for one pod, so that a second pod is not a change of route."""
    made = objects(engine())
    assert {role: (manifest.kind, manifest.name) for role, manifest in made.items()} == {
        "claim-main-standalone": ("ResourceClaimTemplate", made["claim-main-standalone"].name),
        "workload-main": ("Deployment", made["workload-main"].name),
        "pool": ("InferencePool", "qwen-5ab63-pool"),
        "picker-account": ("ServiceAccount", "qwen-5ab63-epp"),
        "picker-role": ("Role", "qwen-5ab63-epp"),
        "picker-binding": ("RoleBinding", "qwen-5ab63-epp"),
        "picker-config": ("ConfigMap", "qwen-5ab63-epp"),
        "picker": ("Deployment", "qwen-5ab63-epp"),
        "picker-service": ("Service", "qwen-5ab63-epp"),
        "route": ("HTTPRoute", "qwen-5ab63"),
    }
    assert all(manifest.body["metadata"]["namespace"] == "ml" for manifest in made.values())


def test_every_manifest_stands_after_what_it_needs() -> None:
    """Registration goes through them once, in order."""
    seen: set[str] = set()
    for manifest in objects(engine("a"), engine("b", member("Leader"), member("Worker"))).values():
        assert set(manifest.after) <= seen
        seen.add(manifest.role)


def test_pool_gathers_the_replicas_serving_pods_and_asks_its_picker() -> None:
    """An absent picker must not stop traffic."""
    assert objects(engine())["pool"].body["spec"] == {
        "selector": {"matchLabels": {"modelplane.ai/serving": "qwen-5ab63"}},
        "targetPorts": [{"number": 8000}],
        "endpointPickerRef": {
            "kind": "Service",
            "name": "qwen-5ab63-epp",
            "port": {"number": 9002},
            "failureMode": "FailOpen",
        },
    }


def test_route_leads_from_the_replicas_prefix_to_the_pool_without_a_timeout() -> None:
    """Answers stream for as long as they take; any path below the prefix passes through."""
    assert objects(engine())["route"].body["spec"] == {
        "parentRefs": [{"name": "inference-gateway", "namespace": "modelplane-system"}],
        "rules": [
            {
                "matches": [{"path": {"type": "PathPrefix", "value": "/ml/qwen-5ab63/"}}],
                "filters": [
                    {
                        "type": "URLRewrite",
                        "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}},
                    }
                ],
                "timeouts": {"request": "0s"},
                "backendRefs": [
                    {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "qwen-5ab63-pool"}
                ],
            }
        ],
    }


def test_picker_prefers_cached_prefixes_then_short_queues() -> None:
    """The configuration of a picker whose pods are all alike, literally."""
    assert config_of(objects(engine())) == {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": [
            {
                "type": "approx-prefix-cache-producer",
                "parameters": {
                    "autoTune": False,
                    "blockSizeTokens": 16,
                    "maxPrefixBlocksToMatch": 256,
                    "lruCapacityPerServer": 31250,
                },
            },
            {"type": "prefix-cache-scorer"},
            {"type": "queue-scorer"},
            {"type": "max-score-picker"},
        ],
        "schedulingProfiles": [
            {
                "name": "default",
                "plugins": [
                    {"pluginRef": "max-score-picker"},
                    {"pluginRef": "prefix-cache-scorer", "weight": 2},
                    {"pluginRef": "queue-scorer", "weight": 1},
                ],
            }
        ],
    }


def test_picker_runs_with_its_pool_and_rolls_when_its_configuration_changes() -> None:
    """The configuration's hash stands on its pods."""
    made = objects(engine())
    pod = made["picker"].body["spec"]["template"]
    assert container_of(pod, "epp")["args"] == [
        "--pool-name=qwen-5ab63-pool",
        "--pool-namespace=ml",
        "--pool-group=inference.networking.k8s.io",
        "--config-file=/config/picker.yaml",
        "--grpc-port=9002",
    ]
    other = objects(engine("main", member(args=["--block-size=32"])))
    key = "modelplane.ai/epp-config-checksum"
    checksums = {m["picker"].body["spec"]["template"]["metadata"]["annotations"][key] for m in (made, other)}
    assert len(checksums) == 2
    assert all(len(checksum) == 64 for checksum in checksums)


def test_images_that_berth_adds_are_pinned() -> None:
    """A new version restarts pickers and re-runs staging jobs in every fleet; change it on purpose, here too."""
    assert images.PICKER == "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.9.0"
    assert images.SIDECAR == "ghcr.io/llm-d/llm-d-router-disagg-sidecar:v0.9.0"
    assert images.HYDRATION == "python:3.11-slim"
    assert images.HUB_CLIENT == "huggingface_hub==2.4.0"


@dataclass(frozen=True)
class FlagCase:
    """What a container's command line says of its block size."""

    name: str
    want: int
    container: dict[str, Any] = field(default_factory=dict)


FLAGS = (
    FlagCase("nothing said", 16),
    FlagCase("vllm with an equals sign", 32, {"args": ["--block-size=32"]}),
    FlagCase("vllm with a space", 64, {"args": ["--block-size", "64"]}),
    FlagCase("sglang", 128, {"args": ["--page-size", "128"]}),
    FlagCase("not a number", 16, {"args": ["--block-size=auto"]}),
    FlagCase("no value", 16, {"args": ["--block-size"]}),
    FlagCase("in a shell line", 32, {"command": ["sh", "-c"], "args": ["exec vllm serve m --block-size 32 # note"]}),
    FlagCase("in a shell command", 32, {"command": ["sh", "-c", "vllm serve --block-size=32"]}),
    FlagCase("an unfinished quote", 16, {"command": ["sh", "-c", "vllm 'serve --block-size=32"]}),
    FlagCase("given twice", 8, {"args": ["--block-size=32", "--block-size=8"]}),
)


@pytest.mark.parametrize("case", FLAGS, ids=lambda case: case.name)
def test_block_size_is_read_from_the_engines_own_flags(case: FlagCase) -> None:
    """The picker must cut prompts as the engine does, or its choice means nothing."""
    assert block_size(case.container) == case.want


def test_prefill_decode_labels_both_engines_and_puts_a_proxy_before_decode() -> None:
    """Roles come from the phase, not from the name or the order."""
    made = objects(
        engine("a", member(args=["--port", "9000"]), phase="Decode"),
        engine("b", member(), phase="Prefill"),
        mode="PrefillDecode",
    )
    decode, prefill = (made[f"workload-{name}"].body["spec"]["template"] for name in "ab")
    for pod, role in ((decode, "decode"), (prefill, "prefill")):
        labels = pod["metadata"]["labels"]
        assert labels["llm-d.ai/role"] == role
        assert (labels["llm-d.ai/inference-serving"], labels["app"]) == ("true", "qwen-5ab63")
        assert labels["modelplane.ai/serving"] == "qwen-5ab63"
        assert container_of(pod)["env"][-2:] == [
            {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": "5557"},
        ]
    assert container_of(decode)["ports"] == [{"containerPort": 9000}]
    assert container_of(decode)["readinessProbe"]["httpGet"]["port"] == 9000
    assert container_of(decode, "pd-sidecar")["args"] == [
        "--secure-proxy=false",
        "--kv-connector=nixlv2",
        "--vllm-port=9000",
    ]
    assert container_of(decode, "pd-sidecar")["ports"] == [{"containerPort": 8000}]
    assert container_of(prefill)["ports"] == [{"containerPort": 8000}]
    assert len(prefill["spec"]["containers"]) == 1


def test_prefill_decode_picker_chooses_one_pod_of_each_kind() -> None:
    """Three defaults of the picker would silently never split a request; the file says otherwise."""
    made = objects(
        engine("p", member(), phase="Prefill"),
        engine("d", member(args=["--block-size=64"]), phase="Decode"),
        mode="PrefillDecode",
    )
    config = config_of(made)
    plugins = {plugin["type"]: plugin.get("parameters") for plugin in config["plugins"]}
    assert plugins["approx-prefix-cache-producer"]["blockSizeTokens"] == 64
    assert plugins["approx-prefix-cache-producer"]["autoTune"] is False
    assert plugins["prefix-based-pd-decider"] == {"nonCachedTokens": 16}
    assert plugins["disagg-profile-handler"] == {"deciders": {"prefill": "prefix-based-pd-decider"}}
    assert {"disagg-headers-handler", "prefill-filter", "decode-filter"} <= plugins.keys()
    assert [profile["name"] for profile in config["schedulingProfiles"]] == ["prefill", "decode"]
    assert all(
        profile["plugins"][0] == {"pluginRef": f"{profile['name']}-filter"} for profile in config["schedulingProfiles"]
    )


def test_prefill_decode_leaves_the_users_side_channel_and_the_gangs_workers_alone() -> None:
    """A worker serves nothing; a variable that the user set stays as it is."""
    own = [{"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": "1"}]
    made = objects(
        engine("p", member("Leader", env=own), member("Worker"), phase="Prefill"),
        engine("d", member(), phase="Decode"),
        mode="PrefillDecode",
    )
    gang = made["workload-p"].body["spec"]["leaderWorkerTemplate"]
    variables = [v for v in container_of(gang["leaderTemplate"])["env"] if v["name"] == own[0]["name"]]
    assert variables == own
    assert "metadata" not in gang["workerTemplate"]


def test_decode_port_defaults_when_the_engine_says_nothing() -> None:
    """The proxy has taken 8000."""
    assert flag_value({"args": []}, "--port") is None
    made = objects(engine("p", member(), phase="Prefill"), engine("d", member(), phase="Decode"), mode="PrefillDecode")
    assert container_of(made["workload-d"].body["spec"]["template"])["ports"] == [{"containerPort": 8001}]


def test_placement_of_another_shape_is_refused() -> None:
    """A lock that contradicts itself builds nothing."""
    what = shape(engine("a"), engine("b"))
    plan = ReplicaPlan(name="r", shape=what, placement=placement(engine("a")))
    with pytest.raises(LockError, match="engine b has 1 members and is placed with 0"):
        replica_objects(OWNER, plan)
