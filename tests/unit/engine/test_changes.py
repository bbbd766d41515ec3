"""Which clusters and pools a preview would create, change, replace or delete."""

from dataclasses import dataclass, field

import pytest

from automation.engine.changes import platform_changes
from automation.engine.events import Diagnostic, DiagnosticSeverity, Op, ResourceStep, Result
from automation.scheduling.changes import Change
from tests.unit.engine.samples import checkpoint, entry, preview, stack_entry, step, urn

CLUSTER, POOL, REPLICA = "berth:index:EksCluster", "berth:index:Pool", "berth:index:Replica"
EKS, NODES, SUBNET = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "aws:ec2/subnet:Subnet"
PROVIDER, OBJECT, RELEASE = "pulumi:providers:kubernetes", "kubernetes:core/v1:Secret", "kubernetes:helm.sh/v3:Release"
EAST, GPUS = urn(CLUSTER, "east"), urn(POOL, "east/gpus")


def platform(*changed: ResourceStep) -> list[ResourceStep]:
    """Return a cluster and a pool that stay as they are, and then what changes."""
    return [step(Op.SAME, CLUSTER, "east", inputs={"cluster": "east"}), step(Op.SAME, POOL, "east/gpus"), *changed]


@dataclass(frozen=True)
class Case:
    """Steps of a preview, and what they mean."""

    name: str
    reason: str
    steps: list[ResourceStep]
    clusters: dict[str, Change] = field(default_factory=dict)
    pools: dict[tuple[str, str], Change] = field(default_factory=dict)
    touched: bool = True


POOL_KEY = ("east", "gpus")
CASES = [
    Case("nothing", "what stays is not listed", platform(step(Op.SAME, EKS, "e", parent=EAST)), touched=False),
    Case(
        "new",
        "a cluster and a pool that do not exist yet",
        [
            step(Op.CREATE, CLUSTER, "east", inputs={"cluster": "east"}),
            step(Op.CREATE, EKS, "e", parent=EAST),
            step(Op.CREATE, SUBNET, "s", parent=EAST),
            step(Op.CREATE, POOL, "east/gpus"),
            step(Op.CREATE, NODES, "n", parent=GPUS),
        ],
        clusters={"east": Change.CREATE},
        pools={POOL_KEY: Change.CREATE},
    ),
    Case(
        "replaced-cluster",
        "the resource that is the cluster is replaced",
        platform(
            step(Op.REPLACE, EKS, "e", parent=EAST),
            step(Op.CREATE_REPLACEMENT, EKS, "e", parent=EAST),
            step(Op.DELETE_REPLACED, EKS, "e", parent=EAST),
        ),
        clusters={"east": Change.REPLACE},
    ),
    Case(
        "subnet-edit-that-replaces-a-pool",
        "a subnet is replaced and takes the pool's nodes with it; the cluster itself stays",
        platform(step(Op.REPLACE, SUBNET, "s", parent=EAST), step(Op.REPLACE, NODES, "n", parent=GPUS)),
        clusters={"east": Change.UPDATE},
        pools={POOL_KEY: Change.REPLACE},
    ),
    Case(
        "system-nodes-replaced",
        "the cluster's own nodes are replaced; no replica runs there",
        platform(step(Op.REPLACE, NODES, "system", parent=EAST)),
        clusters={"east": Change.UPDATE},
    ),
    Case(
        "in-cluster-objects-and-providers",
        "an unknown kubeconfig shows them as replaced, and nothing happens to them",
        platform(
            step(Op.REPLACE, PROVIDER, "p", parent=EAST),
            step(Op.REPLACE, OBJECT, "o", parent=EAST),
            step(Op.UPDATE, RELEASE, "r", parent=EAST),
        ),
    ),
    Case(
        "gone",
        "manifest removed: the component and all of it go",
        [
            step(Op.DELETE, CLUSTER, "east", inputs={"cluster": "east"}),
            step(Op.DELETE, EKS, "e", parent=EAST),
            step(Op.DELETE, POOL, "east/gpus"),
            step(Op.DELETE, NODES, "n", parent=GPUS),
        ],
        clusters={"east": Change.DELETE},
        pools={POOL_KEY: Change.DELETE},
    ),
    Case(
        "counts-changed",
        "a label or a node count changes in place",
        [
            step(Op.SAME, CLUSTER, "east", inputs={"cluster": "east"}),
            step(Op.UPDATE, POOL, "east/gpus"),
            step(Op.UPDATE, NODES, "n", parent=GPUS),
        ],
        pools={POOL_KEY: Change.UPDATE},
    ),
    Case(
        "interrupted-creation",
        "the component is there, its cluster is not",
        platform(step(Op.CREATE, EKS, "e", parent=EAST)),
        clusters={"east": Change.CREATE},
    ),
    Case(
        "replicas-only",
        "what is not the platform is not listed, but something changes",
        platform(step(Op.CREATE, REPLICA, "ml/a/east/0", inputs={"cluster": "east"})),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_preview_means_changes_of_clusters_and_pools(case: Case) -> None:
    """Only what is the cluster or the pool decides that something on it would be lost."""
    changes = platform_changes(preview(*case.steps))
    assert changes.clusters == case.clusters, case.reason
    assert changes.pools == case.pools, case.reason
    assert changes.touched is case.touched, case.reason


@pytest.mark.parametrize("op", [Op.REPLACE, Op.DELETE])
def test_a_protected_resource_is_going_away_and_refused(op: Op) -> None:
    """A protect error means "going away, refused", whether it would be replaced or deleted."""
    text = {
        Op.REPLACE: f'unable to replace resource "{urn(NODES, "n")}"\nas it is currently marked for protection.',
        Op.DELETE: f'Preview failed: resource "{urn(NODES, "n")}" cannot be deleted\nbecause it is protected.',
    }[op]
    refusal = Diagnostic(0, 0, DiagnosticSeverity.ERROR, text, urn(NODES, "n"))
    steps = platform(step(op, NODES, "n", parent=GPUS))
    changes = platform_changes(preview(*steps, extra=[refusal], result=Result.FAILED))
    assert changes.pools == {POOL_KEY: Change.REPLACE_REFUSED}
    assert changes.pool("east", "gpus").goes_away


def test_parents_that_are_not_in_the_preview_come_from_the_state() -> None:
    """A step whose component says nothing in this preview is still attributed."""
    state = checkpoint(stack_entry(), entry(POOL, "east/gpus"))
    changes = platform_changes(preview(step(Op.DELETE, NODES, "n", parent=GPUS)), checkpoint=state)
    assert changes.pools == {POOL_KEY: Change.DELETE}
