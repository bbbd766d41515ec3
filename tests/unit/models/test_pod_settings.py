"""Settings of pods: from the manifest as a person writes it to the pod that the cluster gets."""

from typing import Any

import pytest
import yaml

from automation.planning.shapes import replica_shape
from components.api.load import load_fleet
from components.lock import MemberShape, ReplicaShape
from components.models.disaggregation import disaggregated
from components.models.pods import PodPlace, member_pod
from components.models.secrets import secrets_of
from tests.support.api_manifests import OWN, Edit, files
from tests.support.samples import container_of, engine, member

PLACE = PodPlace(replica="qwen-5ab63", workload="w", pool="l4", claim_templates=("devices-1",), cache_claim="weights")
ENGINE = """\
                image: vllm/vllm-openai:v0.23.0
                resources: {requests: {cpu: "8", memory: 64Gi}, limits: {memory: 96Gi}}
                securityContext: {capabilities: {add: [IPC_LOCK]}}
                startupProbe: {tcpSocket: {port: 8000}, failureThreshold: 60}
                readinessProbe: {httpGet: {path: /ready, port: 8000}}
                livenessProbe: {exec: {command: [cat, /alive]}}
                volumeMounts: [{name: scratch, mountPath: /scratch}]
"""
POD = """\
              securityContext: {fsGroup: 2000}
              volumes:
              - {name: scratch, emptyDir: {sizeLimit: 10Gi}}
              - {name: keys, secret: {secretName: engine-keys}}
              initContainers:
              - name: warm
                image: warm:1
                env: [{name: T, valueFrom: {secretKeyRef: {name: warm-token, key: t}}}]
              sidecars:
              - name: log
                image: log:1
                args: [--follow]
                readinessProbe: {grpc: {port: 9000}}
                volumeMounts: [{name: keys, mountPath: /keys, readOnly: true}]
"""


def shape_of() -> ReplicaShape:
    """Return the shape of the sample deployment with everything set."""
    settings = (
        Edit("qwen", *OWN),
        Edit("qwen", "                image: vllm/vllm-openai:v0.23.0\n", ENGINE),
        Edit("qwen", "              containers:\n", f"{POD}              containers:\n"),
    )
    fleet = load_fleet(files(*settings).items(), name="dev").raise_if_errors()
    return replica_shape(fleet, fleet.deployments["ml", "qwen"])


def pod_of(shape: ReplicaShape, place: PodPlace = PLACE) -> dict[str, Any]:
    """Return the pod of the one member."""
    pod: dict[str, Any] = yaml.safe_load(yaml.safe_dump(member_pod(shape.engines[0].members[0], place)))
    return pod


def test_the_engine_has_what_its_manifest_says_and_what_berth_adds() -> None:
    """Requests stand beside the claim, mounts beside shared memory and the cache; its own probe is the one asked."""
    container = container_of(pod_of(shape_of()))
    assert container["resources"] == {
        "requests": {"cpu": "8", "memory": "64Gi"},
        "limits": {"memory": "96Gi"},
        "claims": [{"name": "devices"}],
    }
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/dev/shm", "/mnt/models", "/scratch"]  # noqa: S108 (the pod's)
    assert container["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/ready", "port": 8000, "scheme": "HTTP"}
    assert container["startupProbe"]["failureThreshold"] == 60
    assert container["livenessProbe"]["exec"] == {"command": ["cat", "/alive"]}


def test_the_pod_has_its_volumes_and_the_containers_beside_the_engine() -> None:
    """A sidecar is a container that starts before the engine and is kept running."""
    spec = pod_of(shape_of())["spec"]
    assert [volume["name"] for volume in spec["volumes"]] == ["dshm", "model-cache", "scratch", "keys"]
    assert spec["volumes"][3]["secret"]["secretName"] == "engine-keys"
    assert spec["securityContext"]["fsGroup"] == 2000
    warm, log = spec["initContainers"]
    assert (warm["name"], "restartPolicy" in warm, "args" in warm) == ("warm", False, False)
    assert (log["name"], log["restartPolicy"], log["args"]) == ("log", "Always", ["--follow"])
    assert log["readinessProbe"]["grpc"]["port"] == 9000
    assert log["volumeMounts"][0]["readOnly"] is True


def test_a_member_without_a_claim_still_gets_its_resources() -> None:
    """A coordinator asks for memory and no device."""
    container = container_of(pod_of(shape_of(), PodPlace(replica="r", workload="w", pool="l4")))
    assert container["resources"] == {"requests": {"cpu": "8", "memory": "64Gi"}, "limits": {"memory": "96Gi"}}


def test_secrets_of_every_container_and_volume_go_where_the_replica_is() -> None:
    """The engine's, those of the containers beside it, and those that are mounted."""
    assert secrets_of(shape_of()) == {"hf", "engine-keys", "warm-token"}


def test_the_shape_reads_back_from_the_lock() -> None:
    """What was written is what is built."""
    shape = shape_of()
    assert ReplicaShape.from_json(shape.to_json()) == shape


@pytest.mark.parametrize("own", [False, True])
def test_a_decode_engine_behind_the_proxy_keeps_its_own_probe(*, own: bool) -> None:
    """Berth's question moves to the port that the engine has then; the user's knows where it asks."""
    probe = {"tcpSocket": {"port": 9001}}
    settings: dict[str, Any] = {"readinessProbe": probe} if own else {}
    given: MemberShape = member(args=["--port=9001"], **settings)
    decode = engine("decode", given, phase="Decode")
    pod = disaggregated(member_pod(given, PLACE), engine=decode, role="Standalone", replica="r")
    asked = container_of(pod)["readinessProbe"]
    assert asked == probe if own else asked["httpGet"]["port"] == 9001
