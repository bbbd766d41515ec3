"""The contract of clusters: one battery for every provider.

A failure here breaks users: states find resources by these tokens and names, policies read these descriptions, and a
preview must work before anything exists.
"""

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pulumi
import pytest

from components.api.fleet import Fleet
from components.clusters.contract import ClusterOutputs
from components.clusters.eks.args import EksClusterArgs
from components.clusters.eks.cluster import EksCluster
from components.clusters.eks.identity import aws_provider
from components.clusters.existing.args import ExistingClusterArgs
from components.clusters.existing.cluster import ExistingCluster
from tests.support.mini_engine import UNKNOWN, Recorded, Registered, Secret, leaves, run_program
from tests.support.platforms import KUBECONFIG, NIC, TOKEN, eks, existing, fleet, hardware, pool

NAME = "east"


def _build_eks(known: Fleet) -> ClusterOutputs:
    args = EksClusterArgs.from_spec(known, NAME, release="default", stack="dev")
    return EksCluster(args, provider=aws_provider(args.identity)).cluster_outputs


def _build_existing(known: Fleet) -> ClusterOutputs:
    kubeconfig = pulumi.Output.secret(KUBECONFIG)
    args = ExistingClusterArgs.from_spec(known, NAME, release="default", stack="dev", kubeconfig=kubeconfig)
    return ExistingCluster(args).cluster_outputs


def _eks_fleet(**environment: Any) -> Fleet:
    pools = [pool("gpu"), pool("fast", maxNodeCount=4, fabric={"type": "EFA"}), pool("nic", className="nic")]
    return fleet(eks(NAME, pools=pools, taints=[_TAINT]), classes=_CLASSES, **environment)


def _existing_fleet(**environment: Any) -> Fleet:
    pools = [pool("gpu", zones=None), pool("nic", className="nic", zones=None)]
    source = {"cache": {"storageClassName": "shared"}}
    return fleet(existing(NAME, pools=pools, taints=[_TAINT], source=source), classes=_CLASSES, **environment)


_TAINT = {"key": "team", "effect": "NoSchedule"}
_CLASSES = (hardware(), hardware("nic", devices=(NIC,)))


@dataclass(frozen=True)
class Provider:
    """A provider of clusters: a fleet with one cluster of it, and how the program builds it."""

    token: str
    fleet: Callable[..., Fleet]
    build: Callable[[Fleet], ClusterOutputs]
    storage_class: str
    endpoint: str
    protected: frozenset[str] = frozenset()

    def run(self, known: Fleet | None = None, *, dry_run: bool = True) -> tuple[Recorded, ClusterOutputs]:
        """Run a program that builds the cluster; return what it registered and what it got."""
        return _run(self.build, known, dry_run=dry_run) if known else _usual(self, dry_run=dry_run)


def _run(build: Callable[[Fleet], ClusterOutputs], known: Fleet, *, dry_run: bool) -> tuple[Recorded, ClusterOutputs]:
    built: list[ClusterOutputs] = []
    recorded = run_program(lambda: built.append(build(known)), dry_run=dry_run)
    return recorded, built[0]


@cache
def _usual(provider: Provider, *, dry_run: bool) -> tuple[Recorded, ClusterOutputs]:
    return _run(provider.build, provider.fleet(), dry_run=dry_run)


PROVIDERS = {
    "eks": Provider(
        "berth:index:EksCluster",
        _eks_fleet,
        _build_eks,
        "modelplane-rwx-efs",
        "https://dev-east-89b05.eks.test",
        frozenset(
            {
                "aws:ec2/vpc:Vpc",
                "aws:efs/fileSystem:FileSystem",
                "aws:eks/cluster:Cluster",
                "aws:eks/nodeGroup:NodeGroup",
            }
        ),
    ),
    "existing": Provider(
        "berth:index:ExistingCluster", _existing_fleet, _build_existing, "shared", "https://edge.test:6443"
    ),
}


@pytest.fixture(params=PROVIDERS.values(), ids=list(PROVIDERS))
def provider(request: pytest.FixtureRequest) -> Provider:
    """Give every provider in turn."""
    found: Provider = request.param
    return found


def test_the_component_is_a_child_of_the_stack_with_a_pinned_token(provider: Provider) -> None:
    """Its URN holds the token and the cluster's name, and nothing else."""
    recorded, _ = provider.run()
    cluster = recorded.named(NAME)
    assert (cluster.type, cluster.parent, cluster.custom) == (provider.token, recorded.root.urn, False)
    assert cluster.urn == f"urn:pulumi:dev::berth::{provider.token}::east"


def test_the_description_is_plain_and_the_same_in_preview_and_update(provider: Provider) -> None:
    """The driver and the policies read it from the state whatever the cloud did."""
    preview, update = (provider.run(dry_run=dry_run)[0].named(NAME).inputs for dry_run in (True, False))
    assert preview == update
    assert not [path for path, value in leaves(preview) if value is UNKNOWN or isinstance(value, Secret)]
    region, version = ("us-east-1", "1.36") if "Eks" in provider.token else ("eu-west-1", "1.35")
    assert preview == {
        "cluster": NAME,
        "source": "EKS" if "Eks" in provider.token else "Existing",
        "region": region,
        "kubernetesVersion": version,
        "environment": "dev",
        "taints": [{"key": "team", "value": "", "effect": "NoSchedule"}],
        "labels": {"tier": "prod", "zone": "a"},
        "release": "default",
        "pools": [facts.pool for facts in provider.run()[1].pools],
    }


def test_the_outputs_are_the_description_and_how_to_reach_the_cluster(provider: Provider) -> None:
    """All providers register the same."""
    cluster = provider.run(dry_run=False)[0].named(NAME)
    assert cluster.outputs == {
        **cluster.inputs,
        "endpoint": provider.endpoint,
        "storageClass": provider.storage_class,
        "clusterIdentifier": "dev/east",
    }


def test_every_pool_has_a_component_of_its_own(provider: Provider) -> None:
    """Children of the stack too, so that a pool is found whatever its cluster is made of."""
    recorded, outputs = provider.run()
    pools = recorded.of_type("berth:index:Pool")
    assert sorted(each.name for each in pools) == sorted(f"{NAME}/{facts.pool}" for facts in outputs.pools)
    for facts in outputs.pools:
        registered = recorded.named(f"{NAME}/{facts.pool}")
        assert registered.parent == recorded.root.urn
        assert registered.inputs == registered.outputs == facts.props()


def test_nothing_uses_a_default_provider(provider: Provider) -> None:
    """A default provider would act with whatever the machine happens to be logged in to."""
    recorded, _ = provider.run()
    explicit = {each.urn for each in recorded.resources if each.type.startswith("pulumi:providers:")}
    for each in _custom(recorded):
        assert each.provider in explicit, each.name


def test_a_preview_asks_nobody_anything(provider: Provider) -> None:
    """No provider function is called: the program is a pure function and works before any cluster exists."""
    recorded, _ = provider.run()
    assert (recorded.invokes, recorded.logs) == ((), ())


def test_everything_taggable_is_tagged_with_environment_stack_and_owner(provider: Provider) -> None:
    """An orphan in the cloud can be traced to the component that made it."""
    known = provider.fleet(owner="ml-platform", costCentre="4711")
    recorded, _ = provider.run(known)
    components = {each.urn: each for each in recorded.resources}
    for each in _custom(recorded):
        if _arguments(each.type) & {"tags"}:
            owner = components[each.parent]
            tags = each.inputs["tags"]
            assert tags["berth:environment"] == "dev", each.name
            assert tags["berth:stack"] == "dev"
            assert tags["berth:component"] == f"{owner.type}::{owner.name}"
            assert (tags["berth:owner"], tags["berth:cost-centre"]) == ("ml-platform", "4711")


def test_every_object_on_the_cluster_names_its_owner_and_environment(provider: Provider) -> None:
    """Labels and annotations do on a cluster what tags do in a cloud; a chart's objects are Helm's."""
    recorded, _ = provider.run()
    for each in _custom(recorded):
        if each.type.startswith("kubernetes:") and "helm" not in each.type:
            metadata = each.inputs["metadata"]
            assert metadata["labels"]["berth.dev/environment"] == "dev"
            assert metadata["annotations"]["berth.dev/owner"] == NAME


def test_protection_covers_what_holds_data_or_serves_and_nothing_else(provider: Provider) -> None:
    """The environment decides; a cluster that is on its way out loses it, or it could never go."""
    protected, _ = provider.run(provider.fleet(protect=True))
    assert {each.type for each in protected.resources if each.options.protect} == provider.protected
    for each in protected.resources:
        assert bool(each.options.protect) is (each.type in provider.protected)
    open_, _ = provider.run()
    assert not [each.name for each in open_.resources if each.options.protect]
    leaving = provider.fleet(protect=True)
    cluster = leaving.clusters[NAME]
    spec = cluster.spec.model_copy(update={"removing": True})
    changed = fleet(cluster.model_copy(update={"spec": spec}), classes=_CLASSES, protect=True)
    assert not [each.name for each in provider.run(changed)[0].resources if each.options.protect]


def test_every_physical_name_is_given_and_known_in_a_preview(provider: Provider) -> None:
    """A name that the engine makes up is random, and an unknown one shows everything as replaced."""
    recorded, _ = provider.run()
    for each in _custom(recorded):
        for argument in _arguments(each.type) & {"name", "node_group_name", "creation_token"}:
            wire = argument.replace("_n", "N").replace("_g", "G").replace("_t", "T")
            assert isinstance(each.inputs.get(wire), str), f"{each.name}: {wire}"
        if each.type.startswith("kubernetes:") and "helm" not in each.type:
            assert isinstance(each.inputs["metadata"]["name"], str)


def test_the_kubernetes_provider_has_an_identity_of_its_own(provider: Provider) -> None:
    """While a kubeconfig is unknown, or after it was renewed, objects on the cluster are not shown as replaced."""
    recorded, outputs = provider.run()
    (kubernetes,) = recorded.of_type("pulumi:providers:kubernetes")
    assert kubernetes.name == "east-kubernetes"
    assert kubernetes.inputs["clusterIdentifier"] == outputs.identifier == "dev/east"


def test_the_kubeconfig_is_a_secret_and_shows_nowhere_else(provider: Provider) -> None:
    """Neither an input, nor an output, nor a log line holds a token."""
    recorded, _ = provider.run(dry_run=False)
    (kubernetes,) = recorded.of_type("pulumi:providers:kubernetes")
    assert isinstance(kubernetes.inputs["kubeconfig"], Secret)
    seen = [value for each in recorded.resources for _, value in leaves([each.inputs, each.outputs])]
    assert not [value for value in seen if TOKEN in str(value)]


def test_the_outputs_that_everything_above_uses_are_complete(provider: Provider) -> None:
    """Storage class, pools and driver root are plain: they are known before the cluster exists."""
    _, outputs = provider.run()
    assert outputs.name == NAME
    assert outputs.storage_class == provider.storage_class
    assert outputs.driver_root == "/"
    assert isinstance(outputs.endpoint, pulumi.Output)
    assert set(outputs.nodes) <= {facts.pool for facts in outputs.pools}
    assert all(
        isinstance(each, pulumi.Resource) for each in (*outputs.ready, *outputs.storage, *outputs.nodes.values())
    )


def test_order_of_manifests_pools_and_labels_changes_no_name(provider: Provider) -> None:
    """Files are read in any order; only the list of pools keeps its own, which has a meaning."""
    known = provider.fleet()
    cluster = known.clusters[NAME]
    backwards = cluster.model_copy(
        update={
            "spec": cluster.spec.model_copy(update={"node_pools": cluster.spec.node_pools[::-1]}),
            "metadata": cluster.metadata.model_copy(
                update={"labels": dict(sorted(cluster.metadata.labels.items(), reverse=True))}
            ),
        }
    )
    shuffled = fleet(backwards, classes=_CLASSES[::-1])
    one, other = provider.run(known)[0], provider.run(shuffled)[0]
    assert {each.urn for each in one.resources} == {each.urn for each in other.resources}
    for each in _custom(one):
        assert each.inputs == other.by_urn(each.urn).inputs, each.name
        assert each.dependencies == other.by_urn(each.urn).dependencies


def test_a_renamed_pool_changes_no_other_urn(provider: Provider) -> None:
    """Only what is named after the pool moves."""
    known = provider.fleet()
    cluster = known.clusters[NAME]
    first, *rest = cluster.spec.node_pools
    renamed = cluster.model_copy(
        update={
            "spec": cluster.spec.model_copy(update={"node_pools": (first.model_copy(update={"name": "new"}), *rest)})
        }
    )
    before = {each.urn for each in provider.run(known)[0].resources}
    after = {each.urn for each in provider.run(fleet(renamed, classes=_CLASSES))[0].resources}
    assert all(f"{NAME}/gpu" in urn for urn in before - after)
    assert all(f"{NAME}/new" in urn for urn in after - before)


def test_what_lies_on_a_cluster_waits_for_it(provider: Provider) -> None:
    """Objects come after access and system nodes, and so go before them."""
    recorded, outputs = provider.run()
    ready = {pulumi_name(each) for each in outputs.ready}
    for each in _custom(recorded):
        if each.type.startswith("kubernetes:"):
            needed = {recorded.by_urn(urn).name for urn in recorded.requires(each)}
            assert ready <= needed, each.name


def pulumi_name(resource: pulumi.Resource) -> str:
    """Return a resource's logical name."""
    return resource.pulumi_resource_name


def _custom(recorded: Recorded) -> list[Registered]:
    return [each for each in recorded.resources if each.custom and not each.type.startswith("pulumi:providers:")]


def _arguments(token: str) -> set[str]:
    """Return the arguments that the SDK's class of an AWS resource takes."""
    package, _, rest = token.partition(":")
    if package != "aws":
        return set()
    module, _, name = rest.partition("/")
    found: Mapping[str, Any] = vars(importlib.import_module(f"pulumi_aws.{module}"))
    arguments = found[f"{name.rpartition(':')[2]}Args"]
    return set(inspect.signature(arguments.__init__).parameters)
