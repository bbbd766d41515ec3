"""Which Kubernetes clusters have by their state, and which of them a preview would give another one."""

from typing import Any

from automation.engine.checkpoint import Checkpoint
from automation.engine.events import Op, ResourceStep
from automation.engine.state import read_existing
from automation.engine.versions import VersionChange, version_changes
from tests.unit.engine.samples import UNKNOWN, checkpoint, entry, preview, stack_entry, step, urn

COMPONENT = "berth:index:EksCluster"
PLANE = "aws:eks/cluster:Cluster"
POOL = "berth:index:Pool"
NODES = "aws:eks/nodeGroup:NodeGroup"


def state(plane: dict[str, Any] | None, *, nodes: dict[str, Any] | None = None) -> Checkpoint:
    """Return a state with a cluster of which 1.36 was asked, what its control plane has, and a pool of it."""
    parts = [
        stack_entry(),
        entry(COMPONENT, "a", inputs={"cluster": "a", "source": "EKS", "kubernetesVersion": "1.36"}),
        entry(POOL, "a/big", inputs={"cluster": "a", "pool": "big"}),
        entry(POOL, "b/big", inputs={"cluster": "b", "pool": "big"}),
        entry(NODES, "b/big-nodes", parent=urn(POOL, "b/big"), outputs={"version": "1.33"}),
    ]
    if plane is not None:
        parts.append(entry(PLANE, "a-cluster", parent=urn(COMPONENT, "a"), **plane))
    if nodes is not None:
        parts.append(entry(NODES, "a/big-nodes", parent=urn(POOL, "a/big"), **nodes))
    return checkpoint(*parts)


def versions(held: Checkpoint) -> tuple[str, dict[str, str]]:
    """Return what the cluster and its pools have."""
    cluster = read_existing([held]).clusters["a"]
    return cluster.kubernetes_version, dict(cluster.pool_versions)


def test_the_control_plane_says_what_a_cluster_has() -> None:
    """After an upgrade that failed, its component says what was asked for, and that is not what runs."""
    assert versions(state({"inputs": {"version": "1.35"}, "outputs": {"version": "1.34"}})) == ("1.34", {})
    assert versions(state({"inputs": {"version": "1.35"}})) == ("1.35", {})
    assert versions(state({"inputs": {"version": "1.35"}, "outputs": {"version": UNKNOWN}})) == ("1.35", {})


def test_a_cluster_that_was_not_made_has_no_version() -> None:
    """Its manifest may still ask for another one."""
    assert versions(state(None)) == ("", {})


def test_nodes_keep_what_they_were_made_with() -> None:
    """By the cloud's word, since nothing is asked for."""
    plane = {"outputs": {"version": "1.36"}}
    assert versions(state(plane, nodes={"outputs": {"version": "1.34"}})) == ("1.36", {"big": "1.34"})
    assert versions(state(plane, nodes={})) == ("1.36", {})


def plane_step(op: Op, before: str, after: str) -> ResourceStep:
    """Return what an engine says of a control plane."""
    return step(
        op,
        PLANE,
        "a-cluster",
        parent=urn(COMPONENT, "a"),
        old_inputs={"version": before} if before else {},
        inputs={"version": after},
    )


def test_an_upgrade_is_an_update_with_another_version() -> None:
    """One that is made anew, or stays, is none."""
    held = state({"outputs": {"version": "1.34"}})

    def changes(made: ResourceStep) -> tuple[VersionChange, ...]:
        return version_changes(preview(made), held)

    assert changes(plane_step(Op.UPDATE, "1.34", "1.35")) == (VersionChange("a", "1.34", "1.35"),)
    assert not changes(plane_step(Op.UPDATE, "1.34", "1.34"))
    assert not changes(plane_step(Op.SAME, "1.34", "1.34"))
    assert not changes(plane_step(Op.REPLACE, "1.34", "1.35"))
    assert not changes(plane_step(Op.CREATE, "", "1.35"))
