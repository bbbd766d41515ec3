"""Clusters and their serving stacks on the real engine and simulated clouds: made, edited, taken down."""

import pulumi
import pytest

from automation.engine.events import Op
from automation.engine.pulumi import PulumiRunner
from automation.engine.runner import Outcome
from components.api.fleet import Fleet
from components.clusters.contract import ClusterOutputs
from components.clusters.eks.args import EksClusterArgs
from components.clusters.eks.cluster import EksCluster
from components.clusters.eks.identity import aws_provider
from components.clusters.existing.args import ExistingClusterArgs
from components.clusters.existing.cluster import ExistingCluster
from components.serving.catalogue import load_release
from components.serving.stack import ServingStack, ServingStackArgs
from tests.support.lab import STACK, Lab
from tests.support.platforms import KUBECONFIG, eks, existing, fleet, hardware, pool

pytestmark = [
    pytest.mark.engine,
    # SDK modules announce deprecated classes when they are loaded, whoever uses them.
    pytest.mark.filterwarnings("ignore:.* has been deprecated in favor of:DeprecationWarning"),
]

GROUP = "aws:eks/nodeGroup:NodeGroup"
EFA = pool("fast", fabric={"type": "EFA"}, maxNodeCount=4)
NETWORK = {
    "publicSubnetCidrs": ["10.0.0.0/20", "10.0.16.0/20", "10.0.32.0/20"],
    "privateSubnetCidrs": ["10.0.96.0/20", "10.0.64.0/20", "10.0.80.0/20"],
}


def _platform(known: Fleet, *, serving: bool = True) -> None:
    """Register the clusters of a fleet and their serving stacks, as the program does."""
    for name, manifest in known.clusters.items():
        outputs = _eks(known, name) if manifest.source == "EKS" else _existing(known, name)
        if not serving:
            continue
        stack = ServingStackArgs.of_cluster(outputs, environment=known.name, release=load_release("default"))
        ServingStack(stack, cluster=outputs)


def _eks(known: Fleet, name: str) -> ClusterOutputs:
    args = EksClusterArgs.from_spec(known, name, release="default", stack="dev")
    return EksCluster(args, provider=aws_provider(args.identity)).cluster_outputs


def _existing(known: Fleet, name: str) -> ClusterOutputs:
    text = pulumi.Output.secret(KUBECONFIG)
    args = ExistingClusterArgs.from_spec(known, name, release="default", stack="dev", kubeconfig=text)
    return ExistingCluster(args).cluster_outputs


def _up(runner: PulumiRunner, known: Fleet, *, serving: bool = True) -> Outcome:
    outcome = runner.up(STACK, lambda: _platform(known, serving=serving))
    outcome.require_ok()
    return outcome


def _preview(runner: PulumiRunner, known: Fleet, *, serving: bool = True) -> Outcome:
    return runner.preview(STACK, lambda: _platform(known, serving=serving))


def _replaced(outcome: Outcome, kind: str) -> set[str]:
    return {step.urn.rpartition("::")[2] for step in outcome.steps if step.op.replaces and step.type == kind}


def test_a_cluster_is_made_edited_and_removed_and_leaves_nothing(runner: PulumiRunner, lab: Lab) -> None:
    """Every input passes the provider's checks, a second preview is empty, an edit replaces what it must, all goes."""
    usual = fleet(eks(pools=[pool(), EFA]), existing())
    assert _up(runner, usual).changes == {Op.CREATE: len(_live(runner))}
    assert not _preview(runner, usual).changed

    bigger = fleet(eks(pools=[pool(), EFA]), existing(), classes=[hardware(disk=400)])
    assert _replaced(_preview(runner, bigger), GROUP) == {"east/gpu-nodes", "east/fast-nodes"}
    steps = [step for step in _up(runner, bigger).steps if step.type == GROUP]
    ops = [step.op for step in steps if step.urn.endswith("east/gpu-nodes")]
    assert ops.index(Op.CREATE_REPLACEMENT) < ops.index(Op.DELETE_REPLACED)
    assert not _preview(runner, bigger).changed

    _up(runner, fleet(existing()))
    assert {item.scope for item in lab.cloud.resources()} == {"https://edge.test:6443"}
    assert lab.orphans(runner) == []
    runner.destroy(STACK).require_ok()
    assert lab.cloud.resources() == ()


def test_an_innocent_edit_of_a_subnet_shows_that_it_replaces_gpu_pools(runner: PulumiRunner) -> None:
    """Only the engine knows this, and the scheduler moves replicas by it."""
    usual = fleet(eks(pools=[pool(), pool("other", zones=["us-east-1b"])]))
    _up(runner, usual, serving=False)
    moved = fleet(eks(pools=[pool(), pool("other", zones=["us-east-1b"])], source={"network": NETWORK}))
    outcome = _preview(runner, moved, serving=False)
    assert outcome.ok
    assert _replaced(outcome, GROUP) == {"east/gpu-nodes", "east-system-nodes"}
    assert _replaced(outcome, "aws:eks/cluster:Cluster") == set()


@pytest.mark.lives
def test_a_protected_pool_refuses_to_be_replaced_until_its_cluster_is_removed(runner: PulumiRunner) -> None:
    """The preview says so; a cluster that is on its way out is let go."""
    _up(runner, fleet(eks(), protect=True), serving=False)
    refused = _preview(runner, fleet(eks(), classes=[hardware(disk=400)], protect=True), serving=False)
    assert not refused.ok
    _up(runner, fleet(eks(removing=True), protect=True), serving=False)
    runner.destroy(STACK).require_ok()


def _live(runner: PulumiRunner) -> list[str]:
    return [entry["urn"] for entry in runner.export(STACK).raw["deployment"]["resources"]]
