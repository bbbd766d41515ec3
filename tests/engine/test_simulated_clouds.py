"""The real Pulumi engine on simulated clouds, with an EKS cluster and what runs on it.

From the first preview to the last deletion, with drift, replacement and faults in between. What a killed engine leaves
is tested with the repair of interrupted runs.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
import pytest

from automation.engine.events import Op
from automation.engine.pulumi import PulumiRunner
from automation.engine.runner import Outcome
from automation.engine.toolchain.toolchain import Toolchain
from automation.rehearsal.scenario import Failure, Fault, Scenario
from components.errors import ResourceFailed
from tests.support.lab import STACK, TOKEN, Lab

pytestmark = [
    pytest.mark.engine,
    # SDK modules announce deprecated classes when they are loaded, whoever uses them.
    pytest.mark.filterwarnings("ignore:.* has been deprecated in favor of:DeprecationWarning"),
]

CLUSTER = "aws:eks/cluster:Cluster"
CONFIG = "kubernetes:core/v1:ConfigMap"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
NODES = "aws:eks/nodeGroup:NodeGroup"
PROVIDER = "pulumi:providers:kubernetes"


class Gateway(pulumi.CustomResource):
    """A Gateway with its status."""

    status: pulumi.Output[Any]

    def __init__(self, name: str, opts: pulumi.ResourceOptions) -> None:
        api = "gateway.networking.k8s.io/v1"
        spec = {"gatewayClassName": "envoy", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}
        props = {"apiVersion": api, "kind": "Gateway", "metadata": {"name": name}, "spec": spec, "status": None}
        super().__init__(f"kubernetes:{api}:Gateway", name, props, opts)


@dataclass
class World:
    """A stack on simulated clouds of its own; ``settings`` is what the program reads."""

    lab: Lab
    runner: PulumiRunner
    settings: dict[str, Any] = field(default_factory=dict)

    def program(self) -> None:
        """Register everything."""
        build(self.settings)

    def up(self, **options: Any) -> Outcome:
        """Apply the program."""
        return self.runner.up(STACK, self.program, **options)

    def preview(self) -> Outcome:
        """Preview the program."""
        return self.runner.preview(STACK, self.program)

    def resources(self, type_: str) -> list[Mapping[str, Any]]:
        """Read the resources of a type from the state."""
        raw = self.runner.export(STACK).raw["deployment"]["resources"]
        return [entry for entry in raw if entry["type"] == type_]

    def faults(self, *rules: Fault) -> None:
        """Tell the clouds how to fail from now on."""
        Scenario.of(*rules).write(self.lab.scenario)


def build(settings: Mapping[str, Any]) -> None:
    """Register a network, a cluster with a node group, and some of everything on it."""
    provider = aws.Provider("cloud", region="us-east-1", default_tags={"tags": {"owner": "sample"}})

    def on_aws(**options: Any) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(provider=provider, **options)

    vpc = aws.ec2.Vpc("east-vpc", cidr_block="10.0.0.0/16", opts=on_aws())
    subnets = [
        aws.ec2.Subnet(
            f"east-{zone}",
            vpc_id=vpc.id,
            cidr_block=f"10.0.{16 * index}.0/20",
            availability_zone=f"us-east-1{zone}",
            opts=on_aws(),
        ).id
        for index, zone in enumerate("ab")
    ]
    role = aws.iam.Role("east-role", name=settings.get("role", "east-role"), assume_role_policy="{}", opts=on_aws())
    policy = aws.iam.RolePolicyAttachment("east-policy", role=role.name, policy_arn="arn:x", opts=on_aws())
    cluster = aws.eks.Cluster(
        "east", name="east", role_arn=role.arn, vpc_config={"subnet_ids": subnets}, opts=on_aws(depends_on=[policy])
    )
    nodes = aws.eks.NodeGroup(
        "east-nodes",
        cluster_name=cluster.name,
        node_group_name="nodes",
        node_role_arn=role.arn,
        subnet_ids=subnets,
        instance_types=[settings.get("type", "m6i.large")],
        scaling_config={"min_size": 1, "desired_size": 1, "max_size": 2},
        opts=on_aws(),
    )
    on_cluster(settings, cluster, nodes)


def on_cluster(settings: Mapping[str, Any], cluster: aws.eks.Cluster, nodes: pulumi.Resource) -> None:
    """Register what runs on the cluster."""
    provider = k8s.Provider(
        "east",
        kubeconfig=pulumi.Output.all(cluster.endpoint, cluster.certificate_authority.data).apply(kubeconfig),
        cluster_identifier="eks-east" if settings.get("identified", True) else None,
        opts=pulumi.ResourceOptions(depends_on=[nodes]),
    )

    def opts(*before: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(provider=provider, depends_on=before)

    space = k8s.core.v1.Namespace("ml", metadata={"name": "ml"}, opts=opts())
    k8s.core.v1.Secret(
        "token", metadata={"name": "token", "namespace": "ml"}, string_data={"t": TOKEN}, opts=opts(space)
    )
    k8s.core.v1.ConfigMap(
        "settings", metadata={"namespace": "ml"}, data={"a": settings.get("data", "1")}, opts=opts(space)
    )
    release = k8s.helm.v3.Release(
        "envoy", name="envoy", chart="gateway-helm", namespace="envoy", create_namespace=True, opts=opts()
    )
    deployment = k8s.apps.v1.Deployment(
        "engine",
        metadata={"name": "engine", "namespace": "ml"},
        spec={
            "selector": {"match_labels": {"app": "engine"}},
            "template": {
                "metadata": {"labels": {"app": "engine"}},
                "spec": {"containers": [{"name": "engine", "image": settings.get("image", "engine:1")}]},
            },
        },
        opts=opts(space),
    )
    gateway = Gateway("gw", opts(release))
    pulumi.export("endpoint", cluster.endpoint)
    pulumi.export("available", deployment.status.available_replicas)
    pulumi.export("release", release.status.status)
    pulumi.export("address", gateway.status.apply(lambda status: status["addresses"][0]["value"]))


def kubeconfig(known: list[str]) -> str:
    """Write a kubeconfig that gets its token by a program, as EKS's do."""
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws", "args": ["eks", "get-token"]}}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "east",
            "contexts": [{"name": "east", "context": {"cluster": "east", "user": "east"}}],
            "clusters": [{"name": "east", "cluster": {"server": known[0], "certificate-authority-data": known[1]}}],
            "users": [{"name": "east", "user": user}],
        }
    )


@pytest.fixture
def world(tmp_path: Path, pulumi_cli: Toolchain, home: Path) -> World:
    """Give a stack with a private home, backend and cloud."""
    lab = Lab(tmp_path / "lab", pulumi_cli.pulumi, home)
    runner = lab.runner()
    runner.ensure_stack(STACK)
    return World(lab, runner)


def replaced(outcome: Outcome) -> set[str]:
    """Name the types of which an outcome replaces a resource."""
    return {step.type for step in outcome.steps if step.op.replaces}


def test_a_cluster_lives_from_preview_to_destruction(world: World) -> None:
    """Preview, up, an empty preview, a refresh without changes, no secret on disk, and a destruction without rest."""
    assert set(world.preview().changes) == {Op.CREATE}
    assert world.lab.cloud.resources() == ()
    first = world.up()
    first.require_ok()
    assert set(first.changes) == {Op.CREATE}
    outputs = world.resources("pulumi:pulumi:Stack")[0]["outputs"]
    assert outputs["endpoint"].startswith("https://sim-")
    assert (outputs["available"], outputs["release"]) == (1, "deployed")
    assert outputs["address"].startswith("sim-")
    assert world.lab.orphans(world.runner) == []
    before = world.lab.cloud.dump()
    assert world.preview().changed == ()
    assert world.runner.drift(STACK).changed == ()
    assert world.lab.cloud.dump() == before
    assert TOKEN.encode() not in b"".join(path.read_bytes() for path in world.lab.root.glob("cloud.db*"))
    assert world.lab.files_with(TOKEN) == []
    world.runner.destroy(STACK).require_ok()
    assert world.lab.cloud.resources() == ()


def test_what_happens_behind_the_engine_is_seen(world: World) -> None:
    """A deleted and a changed object show as drift; what nobody touched does not."""
    world.up().require_ok()
    cloud = world.lab.cloud
    cloud.delete(DEPLOYMENT, "ml/engine")
    config = cloud.resources(type=CONFIG)[0]
    cloud.edit(CONFIG, config.id, {"data.a": "changed by hand"})
    seen = {(step.type, step.op) for step in world.runner.drift(STACK).steps if step.op is not Op.REFRESH}
    assert {(kind, op) for kind, op in seen if op in {Op.DELETE, Op.UPDATE}} == {
        (DEPLOYMENT, Op.DELETE),
        (CONFIG, Op.UPDATE),
    }


def test_immutable_inputs_replace(world: World) -> None:
    """Another machine type replaces the named node group, old one first; data an object with a made-up name."""
    world.up().require_ok()
    world.settings.update(type="m6i.xlarge", data="2")
    assert replaced(world.preview()) == {NODES, CONFIG}
    outcome = world.up()
    outcome.require_ok()
    order = {kind: [step.op for step in outcome.steps if step.type == kind] for kind in (NODES, CONFIG)}
    assert order[NODES].index(Op.DELETE_REPLACED) < order[NODES].index(Op.CREATE_REPLACEMENT)
    assert order[CONFIG].index(Op.CREATE_REPLACEMENT) < order[CONFIG].index(Op.DELETE_REPLACED)
    cloud = world.lab.cloud
    assert [item.outputs["instanceTypes"] for item in cloud.resources(type=NODES)] == [["m6i.xlarge"]]
    assert [item.outputs["data"] for item in cloud.resources(type=CONFIG)] == [{"a": "2"}]
    assert world.preview().changed == ()


@pytest.mark.parametrize("identified", [True, False], ids=["identified", "not identified"])
def test_an_unknown_kubeconfig_replaces_only_without_an_identifier(world: World, identified: bool) -> None:
    """While a new control plane is not there yet, its provider and all on it are shown as the real one shows them."""
    world.settings.update(identified=identified)
    world.up().require_ok()
    world.settings.update(role="another-role")
    kinds = replaced(world.preview())
    assert CLUSTER in kinds
    assert (PROVIDER in kinds, DEPLOYMENT in kinds) == (not identified, not identified)


@pytest.mark.parametrize("failure", [Failure.CAPACITY, Failure.TIMEOUT, Failure.PERMISSION])
def test_a_failing_call_stops_what_depends_on_it(world: World, failure: Failure) -> None:
    """Without nodes there is no provider and nothing on the cluster; the next run completes it."""
    world.faults(Fault(fail=failure, type=NODES, times=1))
    with pytest.raises(ResourceFailed, match=r"api error|timeout while waiting"):
        world.up().require_ok()
    assert world.lab.cloud.resources(package="kubernetes") == ()
    assert world.lab.orphans(world.runner) == []
    world.up().require_ok()
    assert world.preview().changed == ()


def test_a_broken_image_is_kept_with_its_reasons(world: World) -> None:
    """The deployment exists with initialisation errors; fixing the image heals it."""
    world.faults(Fault(fail=Failure.IMAGE_PULL, image="*:broken"))
    world.up().require_ok()
    world.settings.update(image="engine:broken")
    outcome = world.up(continue_on_error=True)
    assert not outcome.ok
    (failed,) = world.resources(DEPLOYMENT)
    assert any("ImagePullBackOff" in error for error in failed["initErrors"])
    world.settings.update(image="engine:2")
    healed = world.up()
    healed.require_ok()
    assert {(step.type, step.op) for step in healed.changed} == {(DEPLOYMENT, Op.UPDATE)}
    assert "initErrors" not in world.resources(DEPLOYMENT)[0]


def test_a_dead_cluster_hurts_only_what_touches_it(world: World) -> None:
    """Previews and unrelated updates pass; an update on the cluster fails with the real provider's words."""
    world.up().require_ok()
    world.faults(Fault(fail=Failure.UNREACHABLE, cluster="eks-east"))
    assert world.up().changed == ()
    world.settings.update(image="engine:2")
    assert DEPLOYMENT in {step.type for step in world.preview().changed}
    with pytest.raises(ResourceFailed, match="configured Kubernetes cluster is unreachable"):
        world.up().require_ok()
    world.faults()
    world.up().require_ok()
    assert world.preview().changed == ()
