"""Another version of Kubernetes, on the real engine: shown, applied, and refused where no control plane can get it."""

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from tests.engine.test_fleet_platform_edit import CLASS
from tests.support.fleet_run import GATEWAY, FleetRun, deployment, environment

pytestmark = [pytest.mark.engine, pytest.mark.lives]

PLANE = "aws:eks/cluster:Cluster"


def cluster(version: str) -> str:
    """Return a cluster on EKS of that version."""
    return f"""\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {{name: east}}
spec:
  cluster:
    source: EKS
    eks: {{region: us-east-1, kubernetesVersion: "{version}"}}
  nodePools:
    - {{name: left, className: l40s-4x, nodeCount: 1, zones: [us-east-1a]}}
"""


def test_a_control_plane_goes_up_one_minor_and_never_back(
    tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain
) -> None:
    """By the state, and by what the engine finds in the cloud."""
    files = {
        "environment.yaml": environment(doors="east"),
        "platform/class.yaml": CLASS,
        "platform/gateway.yaml": GATEWAY,
        "platform/east.yaml": cluster("1.34"),
        "models/ml/qwen.yaml": deployment("qwen", gpus=4),
    }
    run = FleetRun.make(tmp_path_factory.mktemp("versions"), pulumi_cli.pulumi, files)
    run.berth("up", "--yes")
    known = run.existing().clusters["east"]
    assert (known.kubernetes_version, dict(known.pool_versions)) == ("1.34", {"left": "1.34"})

    run.write("platform/east.yaml", cluster("1.36"))
    for verb in ("plan", "capacity"):
        assert "kubernetes-skips-minor" in run.berth(verb, code=2).stderr

    run.write("platform/east.yaml", cluster("1.35"))
    planned = run.berth("plan", "--json").document
    assert planned["upgrades"] == [{"cluster": "east", "before": "1.34", "after": "1.35"}]
    assert "1 cluster to upgrade" in planned["steps"][0]["actions"]
    run.berth("up", "--yes")
    known = run.existing().clusters["east"]
    assert (known.kubernetes_version, dict(known.pool_versions)) == ("1.35", {"left": "1.34"})
    assert run.berth("plan", "--json").document["empty"]

    (plane,) = run.cloud.resources(type=PLANE)
    run.cloud.edit(PLANE, plane.id, {"version": "1.36"})
    assert "kubernetes-downgrade" in run.berth("plan", code=2).stderr
    run.write("platform/east.yaml", cluster("1.36"))
    assert not run.berth("plan", "--json").document["upgrades"]
    run.berth("up", "--yes")
    assert run.berth("plan", "--json").document["empty"]
