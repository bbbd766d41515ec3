"""Settings of pods, caches and pools, from a manifest to what the simulated cluster accepts and keeps."""

from typing import Any

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from tests.support.fleet_run import GATEWAY, FleetRun, cluster, deployment, environment, gpu_class

pytestmark = pytest.mark.engine

WORKLOAD = "kubernetes:apps/v1:Deployment"
SETTINGS = """\
                spec:
                  securityContext: {fsGroup: 2000, seccompProfile: {type: RuntimeDefault}}
                  volumes:
                    - {name: scratch, emptyDir: {sizeLimit: 10Gi}}
                    - {name: node, hostPath: {path: /opt/engine, type: DirectoryOrCreate}}
                  initContainers: [{name: warm, image: "warm:1", volumeMounts: [{name: scratch, mountPath: /scratch}]}]
                  sidecars: [{name: log, image: "log:1", livenessProbe: {tcpSocket: {port: 9000}}}]
"""
ENGINE = """\
resources: {requests: {cpu: "8"}, limits: {memory: 96Gi}}, securityContext: {runAsUser: 1000}, \
startupProbe: {exec: {command: [cat, /up]}}, readinessProbe: {httpGet: {path: /ready, port: 8000}}, \
volumeMounts: [{name: node, mountPath: /opt/engine, readOnly: true}], env: []"""
CACHE = """\
apiVersion: berth.dev/v1alpha1
kind: ModelCache
metadata: {name: weights, namespace: ml}
spec:
  source: HuggingFace
  huggingFace: {repo: Sample/Model, revision: main, sizeGiB: 10}
  include: ["*.safetensors"]
  exclude: [original/*]
  image: registry.example.com/python:3.12
"""


def files() -> dict[str, str]:
    """Return a cluster, a cache of some files, and a deployment with every setting."""
    text = deployment("qwen", spec="modelCacheRef: {name: weights}\n      blockSize: 64")
    text = text.replace("modelplane.ai/v1alpha1\nkind: ModelDeployment", "berth.dev/v1alpha1\nkind: ModelDeployment")
    text = text.replace("  replicas: 1\n", "  replicas: 1\n  priority: 10\n")
    text = text.replace("                spec:\n", SETTINGS).replace("env: []", ENGINE)
    pools = cluster("a", storage="nfs").replace(
        "className: gpu-4x,", "className: gpu-4x, pricePerHour: 3.5, fabricId: x,"
    )
    return {
        "environment.yaml": environment(),
        "platform/classes.yaml": f"{gpu_class('gpu-4x', 4)}---\n{gpu_class('gpu-8x', 8)}",
        "platform/gateway.yaml": GATEWAY,
        "platform/a.yaml": pools,
        "models/ml/weights.yaml": CACHE,
        "models/ml/qwen.yaml": text,
    }


def test_settings_reach_the_cluster_and_a_second_run_finds_them_there(
    tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain
) -> None:
    """The simulated cluster checks every input against the provider's own types, and policies see the same pods."""
    run = FleetRun.make(tmp_path_factory.mktemp("pods"), pulumi_cli.pulumi, files())
    run.berth("up", "--yes")
    assert run.replicas() == {"ml/qwen/a/0": "Serving"}
    made = next(each for each in run.cloud.resources(type=WORKLOAD) if "qwen" in each.name)
    spec: Any = made.inputs["spec"]["template"]["spec"]
    assert [each["name"] for each in spec["initContainers"]] == ["warm", "log"]
    assert spec["initContainers"][1]["restartPolicy"] == "Always"
    assert spec["securityContext"]["fsGroup"] == 2000
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "8"}
    assert spec["containers"][0]["readinessProbe"]["httpGet"]["path"] == "/ready"
    job = next(each for each in run.cloud.resources(type="kubernetes:batch/v1:Job") if each.urn)
    hydrate: Any = job.inputs["spec"]["template"]["spec"]["containers"][0]
    assert hydrate["image"] == "registry.example.com/python:3.12"
    assert {"name": "INCLUDE", "value": "*.safetensors"} in hydrate["env"]
    config = next(
        each
        for each in run.cloud.resources(type="kubernetes:core/v1:ConfigMap")
        if "picker.yaml" in each.inputs["data"]
    )
    assert "blockSizeTokens: 64" in config.inputs["data"]["picker.yaml"]
    run.berth("plan", "--expect-no-changes")
