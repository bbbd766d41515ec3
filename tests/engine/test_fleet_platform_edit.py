"""An innocent edit of a pool's subnet would replace its nodes: its replicas leave first, or the pool stays."""

from dataclasses import dataclass

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from tests.support.fleet_run import GATEWAY, Answer, FleetRun, deployment, environment

pytestmark = [pytest.mark.engine, pytest.mark.lives]

NODES = "aws:eks/nodeGroup:NodeGroup"
WORKLOAD = "kubernetes:apps/v1:Deployment"

CLASS = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: l40s-4x}
spec:
  provisioning:
    provider: EKS
    eks: {instanceType: g6e.12xlarge, diskSizeGb: 200, accelerator: {type: nvidia-l40s, count: 4}}
  devices:
    - name: gpu
      driver: gpu.nvidia.com
      deviceClassName: gpu.nvidia.com
      count: 4
      capacity: {memory: {value: 46068Mi}}
"""


def cluster(*, zone: str, right: int, left: int = 1) -> str:
    """Return a cluster on EKS with two pools; ``zone`` is where the subnet of the left one's nodes lies."""
    return f"""\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {{name: east}}
spec:
  cluster:
    source: EKS
    eks: {{region: us-east-1}}
  nodePools:
    - {{name: left, className: l40s-4x, nodeCount: {left}, zones: [{zone}]}}
    - {{name: right, className: l40s-4x, nodeCount: {right}, zones: [us-east-1b]}}
"""


@dataclass
class Edit:
    """What was seen on the way."""

    run: FleetRun
    nodes: list[dict[str, str]]
    """The ARN of every pool's nodes after each run."""
    replicas: list[dict[str, str]]
    pools: list[dict[str, str]]
    """The pool of every replica after each run."""
    stuck: Answer
    moved: Answer
    sizes: list[dict[str, int]]
    """How many nodes every pool says that it has, after each run."""
    cramped: Answer
    shrunk: Answer


@pytest.fixture(scope="module")
def edit(tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain) -> Edit:
    """Build a cluster, edit a pool's subnet without room elsewhere, make room; then shrink both pools, then one."""
    files = {
        "environment.yaml": environment(doors="east"),
        "platform/class.yaml": CLASS,
        "platform/gateway.yaml": GATEWAY,
        "platform/east.yaml": cluster(zone="us-east-1a", right=0),
        "models/ml/qwen.yaml": deployment("qwen", gpus=4),
    }
    run = FleetRun.make(tmp_path_factory.mktemp("edit"), pulumi_cli.pulumi, files)
    nodes, replicas, pools, sizes = [], [], [], []

    def up(code: int = 0) -> Answer:
        answer = run.berth("up", "--yes", "--json", code=code)
        nodes.append({each.urn.rpartition("::")[2]: each.outputs["arn"] for each in run.cloud.resources(type=NODES)})
        replicas.append(run.replicas())
        existing = run.existing()
        pools.append({str(each.id): each.entry.placement[0].members[0].pool for each in existing.replicas.values()})
        sizes.append({pool: held.nodes for (_, pool), held in existing.pools.items()})
        return answer

    up()
    run.write("platform/east.yaml", cluster(zone="us-east-1b", right=0))
    stuck = up(code=1)
    run.write("platform/east.yaml", cluster(zone="us-east-1b", right=1))
    moved = up()
    run.write("platform/east.yaml", cluster(zone="us-east-1b", right=0, left=0))
    cramped = up(code=1)
    run.write("platform/east.yaml", cluster(zone="us-east-1b", right=0))
    shrunk = up()
    return Edit(run, nodes, replicas, pools, stuck, moved, sizes, cramped, shrunk)


def test_a_pool_stays_while_its_replica_has_nowhere_to_go(edit: Edit) -> None:
    """Nothing happens to it; the run says that it is no success, and why."""
    assert edit.nodes[1]["east/left-nodes"] == edit.nodes[0]["east/left-nodes"]
    assert edit.replicas[1] == edit.replicas[0] == {"ml/qwen/east/0": "Serving"}
    (shortfall,) = edit.stuck.document["shortfalls"]
    assert "ml/qwen/east/0 must leave and has nowhere to go" in shortfall["message"]
    assert "left: this change would replace it" in shortfall["verdicts"][0]["pools"]
    assert edit.stuck.count("up") == 0, "there is nothing else to do"


def test_the_replica_leaves_before_its_pool_is_replaced(edit: Edit) -> None:
    """A successor serves on the other pool, the old one goes, and only then the nodes under it."""
    assert edit.pools[0] == {"ml/qwen/east/0": "left"}
    assert edit.pools[2] == {"ml/qwen/east/1": "right"}
    assert edit.replicas[2] == {"ml/qwen/east/1": "Serving"}
    done = [line.strip() for line in edit.moved.stderr.splitlines()]
    made = done.index(f"created {WORKLOAD} ml/qwen/east/1-workload-main")
    gone = done.index(f"deleted {WORKLOAD} ml/qwen/east/0-workload-main")
    assert made < gone
    assert made < done.index(f"replaced {NODES} east/left-nodes")
    assert [step["kind"] for step in edit.moved.document["steps"]] == ["build", "shift", "retire"]
    assert edit.nodes[2]["east/left-nodes"] != edit.nodes[1]["east/left-nodes"]
    assert edit.nodes[2]["east/right-nodes"] == edit.nodes[0]["east/right-nodes"]


def test_a_pool_keeps_its_size_while_its_replica_has_nowhere_to_go(edit: Edit) -> None:
    """No policy stops the run, the other pool takes its new size, and the run says who waits for what."""
    assert edit.sizes[2:4] == [{"left": 1, "right": 1}, {"left": 0, "right": 1}]
    assert edit.replicas[3] == {"ml/qwen/east/1": "Serving"}
    assert edit.nodes[3] == edit.nodes[2]
    assert edit.cramped.document["shortfalls"]
    said = "pool east/right keeps its 1 node until 1 replica that 0 nodes cannot hold has left: ml/qwen/east/1"
    assert f"{said}; 1 of 1 with nowhere to go" in edit.cramped.said


def test_a_pool_shrinks_once_its_replica_has_left(edit: Edit) -> None:
    """In the very run that moves it, with the retirement."""
    assert edit.pools[4] == {"ml/qwen/east/0": "left"}
    assert edit.sizes[4] == {"left": 1, "right": 0}
    assert [step["kind"] for step in edit.shrunk.document["steps"]] == ["build", "shift", "retire"]
    (group,) = [each for each in edit.run.cloud.resources(type=NODES) if each.urn.endswith("east/right-nodes")]
    assert group.inputs["scalingConfig"]["minSize"] == 0


def test_nothing_is_left_of_the_old_nodes(edit: Edit) -> None:
    """They are gone from the cloud, and the state waits for no deletion."""
    assert len(edit.run.cloud.resources(type=NODES)) == 3
    assert not [each.urn for each in edit.run.checkpoint().resources if each.pending_deletion]
