"""A cluster that is lost leaves the state whole, and what of it may still cost money is told apart from the rest."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from automation.driver.lost import Forgotten, forget_lost, lost_parts, to_forget
from automation.driver.planner import Plan
from automation.engine.checkpoint import Checkpoint
from automation.engine.state import read_existing
from automation.scheduling.changes import NO_CHANGES
from components.api.fleet import Fleet
from components.naming import StackName, cluster_name
from stacks.config import ProgramConfig
from stacks.program import program
from stacks.shard import shards
from tests.support.mini_engine import Recorded, Registered, Secret, Unknown, run_program
from tests.support.samples import DEV_CACHES, DEV_PLACED, EDGE_SECRETS, environment_files, fleet_of, lock_of

if TYPE_CHECKING:
    from automation.driver.reading import Situation
    from automation.driver.session import Session
    from automation.scheduling.result import Schedule
    from automation.scheduling.snapshot import Snapshot
    from components.lock import Lock

DEV = StackName("dev")
LOST = "eks-euw1"
NOBODY: Mapping[str, str] = MappingProxyType({})
TOKENS = {"ml-team/huggingface": {"HF_TOKEN": "sample", "token": "sample"}}


@cache
def applied() -> Checkpoint:
    """Return the state of the sample environment after everything went well: two EKS clusters and a front door."""
    fleet = fleet_of(environment_files())
    lock = lock_of(fleet, DEV_PLACED, caches=DEV_CACHES)
    config = ProgramConfig(berth_version="0.1.0", secrets={**EDGE_SECRETS, **TOKENS})
    recorded = run_program(lambda: program(fleet, lock, shards(fleet)[0], config), stack="dev", dry_run=False)
    entries = [entry(each, recorded) for each in recorded.resources]
    return Checkpoint.from_json(DEV, {"version": 3, "deployment": {"resources": entries}})


def entry(resource: Registered, recorded: Recorded) -> dict[str, Any]:
    """Return a registered resource as the engine keeps it."""
    raw: dict[str, Any] = {
        "urn": resource.urn,
        "type": resource.type,
        "custom": resource.custom,
        "parent": resource.parent,
        "inputs": plain(resource.inputs),
        "outputs": plain(resource.outputs or {}),
        "dependencies": list(resource.dependencies),
        "protect": bool(resource.options.protect),
        "deletedWith": resource.options.deleted_with,
    }
    if resource.custom:
        raw["id"] = f"id-{resource.name}"
    if resource.provider:
        raw["provider"] = f"{recorded.by_urn(resource.provider).urn}::id"
    return raw


def plain(value: Any) -> Any:
    """Return a value without the marks of a program."""
    if isinstance(value, Unknown | Secret):
        return "..."
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def marked(*, protect: bool = False) -> Fleet:
    """Return the manifests with one cluster marked as lost."""
    fleet = fleet_of(environment_files())
    cluster = fleet.clusters[LOST]
    lost = cluster.model_copy(update={"spec": cluster.spec.model_copy(update={"lost": True})})
    environment = fleet.environment
    if protect:
        environment = environment.model_copy(update={"spec": environment.spec.model_copy(update={"protect": True})})
    return replace(fleet, environment=environment, clusters={**fleet.clusters, LOST: lost})


def situation(fleet: Fleet, state: Checkpoint, *, silent: Mapping[str, str] = NOBODY) -> "Situation":
    """Return what is known when a run begins; ``silent`` clusters do not answer."""
    found = SimpleNamespace(
        fleet=fleet, checkpoints={DEV: state}, existing=read_existing([state]), unreachable=dict(silent)
    )
    return cast("Situation", found)


class Backend:
    """Keeps a state."""

    def __init__(self, state: Checkpoint) -> None:
        self.state = state

    def export(self, stack: StackName) -> Checkpoint:
        """Give it."""
        assert stack == DEV
        return self.state

    def import_state(self, state: Checkpoint) -> None:
        """Take another."""
        self.state = state


def session(backend: Backend, *, simulated: bool = False) -> "Session":
    """Return the means of a run."""
    return cast("Session", SimpleNamespace(runner=backend, workspace=SimpleNamespace(simulated=simulated)))


def forgotten(*, simulated: bool = False) -> tuple[Forgotten, Checkpoint]:
    """Forget the cluster; return the report and the state that is left."""
    backend = Backend(applied())
    (report,) = forget_lost(session(backend, simulated=simulated), situation(marked(), backend.state))
    return report, backend.state


def test_nothing_of_a_lost_cluster_on_eks_stays_in_the_state() -> None:
    """Neither the cloud's resources nor the objects on it; what others need stays, and nothing hangs in the air."""
    _, left = forgotten()
    names = {resource.name for resource in left}
    assert not [name for name in names if name.startswith((f"{LOST}/", f"{LOST}-")) or f"/{LOST}/" in name]
    assert {"eks-use1", "edge", "aws-default-eu-west-1"} <= names
    urns = {resource.urn for resource in left}
    for raw in left.raw["deployment"]["resources"]:
        assert raw["urn"] in urns
        needed = {*raw["dependencies"], raw["parent"], raw["deletedWith"], raw.get("provider", "").rpartition("::")[0]}
        assert needed - {""} <= urns, raw["urn"]
    assert set(read_existing([left]).clusters) == {"eks-use1", "edge"}


def test_what_costs_money_is_listed_and_what_only_keeps_its_name_is_counted() -> None:
    """A person must delete the first at once; a hundred roles and routes would hide it."""
    report, _ = forgotten()
    kinds = {each.split()[0] for each in report.left_behind}
    assert {
        "aws:ec2/eip:Eip",
        "aws:ec2/natGateway:NatGateway",
        "aws:efs/fileSystem:FileSystem",
        "aws:eks/cluster:Cluster",
        "aws:eks/nodeGroup:NodeGroup",
    } <= kinds
    assert not [kind for kind in kinds if kind.startswith("aws:iam")]
    aws = [each for each in applied() if each.type.startswith("aws:") and each.urn in report.urns]
    listed = [each for each in report.left_behind if each.startswith("aws:")]
    assert report.others == len(aws) - len(listed) > 20
    assert f"may still exist, at no cost: {report.others} more of cluster {LOST}" in report.lines


def test_a_person_is_given_the_search_for_what_is_left() -> None:
    """By the tags that Berth set, by those that the cluster set itself, and by name where tags are not searched."""
    report, _ = forgotten()
    made, own, roles = report.searches
    assert "aws resourcegroupstaggingapi get-resources --region eu-west-1" in made
    assert f"Key=berth:component,Values=berth:index:EksCluster::{LOST},berth:index:Pool::{LOST}/l4," in made
    assert f"Key=kubernetes.io/cluster/{cluster_name(LOST, 'dev')},Values=owned" in own
    assert f"starts_with(RoleName, '\"'\"'dev-{LOST}-'\"'\"')" in roles
    assert forgotten(simulated=True)[0].searches == (), "a simulated cloud is not asked by AWS's own command"


def test_the_tags_of_every_resource_are_those_that_are_searched_for() -> None:
    """Otherwise the search would find less than what was made."""
    report, _ = forgotten()
    wanted = {f"berth:index:EksCluster::{LOST}", *(f"berth:index:Pool::{LOST}/{name}" for name in ("l4", "l40s"))}
    tagged = [each.inputs["tags"] for each in applied() if each.urn in report.urns and "tags" in each.inputs]
    assert len(tagged) > 20
    assert {tags["berth:component"] for tags in tagged} == wanted
    assert {tags["berth:environment"] for tags in tagged} == {"dev"}
    roles = [each.inputs["name"] for each in applied() if each.urn in report.urns and each.type == "aws:iam/role:Role"]
    assert all(name.startswith(f"dev-{LOST}-") for name in roles)


def test_a_plan_announces_it_and_leaves_it_out_of_its_previews() -> None:
    """Nothing is deleted, so no data is lost by this run, and nothing is owed to a cluster that will not answer."""
    state = applied()
    now = situation(marked(), state)
    (announced,) = to_forget(session(Backend(state)), now)
    assert announced.announcement.startswith(f"cluster {LOST} is marked lost: berth up takes its ")
    assert "deletes none" in announced.announcement
    assert set(lost_parts(state, frozenset({LOST}))) == announced.urns
    assert lost_parts(state, frozenset({"never-built"})) == ()
    silent = situation(marked(), state, silent={LOST: "dial tcp: i/o timeout", "edge": "no route to host"})
    plan = Plan(silent, NO_CHANGES, cast("Snapshot", None), cast("Schedule", None), cast("Lock", None), ())
    assert [each.cluster for each in plan.owed] == ["edge"]


@pytest.mark.parametrize("protect", [False, True], ids=["free", "protected"])
def test_protection_does_not_keep_a_lost_cluster(*, protect: bool) -> None:
    """It guards against deletion, and nothing is deleted."""
    backend = Backend(applied())
    (report,) = forget_lost(session(backend), situation(marked(protect=protect), backend.state))
    assert report.cluster == LOST
    assert not [each for each in backend.state if each.name == LOST]
