"""Which component a resource belongs to, on which cluster it lives, and which id follows from its inputs."""

import pytest

from automation.engine.family import Family, is_cluster
from automation.engine.natural_ids import natural_id
from tests.unit.engine.samples import checkpoint, entry, stack_entry, urn

CLUSTER, REPLICA, ENDPOINT = "berth:index:EksCluster", "berth:index:Replica", "berth:index:Endpoint"
PROVIDER, OBJECT, ROLE = "pulumi:providers:kubernetes", "kubernetes:core/v1:Secret", "aws:iam/role:Role"


def test_a_resource_belongs_to_the_nearest_component() -> None:
    """Parents are followed up to a component of ours; the stack is none."""
    inner = entry("helm:index:Chart", "chart", parent=urn(REPLICA, "r"))
    thing = entry(OBJECT, "o", parent=inner["urn"])
    family = Family(checkpoint(stack_entry(), entry(REPLICA, "r"), inner, thing, entry(ROLE, "lonely")))
    component = family.component(thing["urn"])
    assert component is not None
    assert component.urn == urn(REPLICA, "r")
    assert family.component(urn(ROLE, "lonely")) is None
    assert family.component("nobody") is None
    assert len(list(family)) == 5


def test_a_cluster_is_told_by_component_front_door_or_provider() -> None:
    """A component says where it is; an object that belongs to none is where its provider is."""
    family = Family(
        checkpoint(
            stack_entry(),
            entry(CLUSTER, "east", inputs={"cluster": "east"}),
            entry(PROVIDER, "p", parent=urn(CLUSTER, "east"), id="1"),
            entry(REPLICA, "r", inputs={"cluster": "west"}),
            entry(ENDPOINT, "e", inputs={"frontDoor": "front"}),
            entry(OBJECT, "loose", provider=f"{urn(PROVIDER, 'p')}::1"),
            entry(ROLE, "lonely"),
        )
    )
    assert family.cluster(urn(PROVIDER, "p")) == "east"
    assert family.cluster(urn(REPLICA, "r")) == "west"
    assert family.cluster(urn(ENDPOINT, "e")) == "front"
    assert family.cluster(urn(OBJECT, "loose")) == "east"
    assert family.cluster(urn(ROLE, "lonely")) == ""


@pytest.mark.parametrize(
    ("type_", "want"),
    [
        ("berth:index:EksCluster", True),
        ("berth:index:ExistingCluster", True),
        ("berth:index:Pool", False),
        (ROLE, False),
    ],
)
def test_cluster_components_are_known_by_their_token(type_: str, *, want: bool) -> None:
    """Whatever the provider is called, its cluster's token ends the same."""
    assert is_cluster(type_) is want


@pytest.mark.parametrize(
    ("type_", "inputs", "want"),
    [
        (OBJECT, {"metadata": {"name": "a", "namespace": "ml"}}, "ml/a"),
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "ml"}}, "ml"),
        (OBJECT, {"metadata": {"generateName": "a-"}}, ""),
        (OBJECT, {"metadata": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}, ""),
        ("kubernetes:helm.sh/v3:Release", {"name": "lws", "namespace": "lws-system"}, "lws-system/lws"),
        ("kubernetes:helm.sh/v3:Release", {"name": "lws"}, "default/lws"),
        ("kubernetes:helm.sh/v3:Release", {"chart": "lws"}, ""),
        ("aws:eks/cluster:Cluster", {"name": "dev-east"}, "dev-east"),
        ("aws:eks/nodeGroup:NodeGroup", {"clusterName": "dev-east", "nodeGroupName": "gpus"}, "dev-east:gpus"),
        ("aws:eks/nodeGroup:NodeGroup", {"clusterName": "dev-east"}, ""),
        ("aws:eks/addon:Addon", {"clusterName": "dev-east", "addonName": "efs"}, "dev-east:efs"),
        (ROLE, {"name": "dev-east-nodes"}, "dev-east-nodes"),
        (ROLE, {"namePrefix": "dev-"}, ""),
        ("aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16"}, ""),
    ],
)
def test_an_id_follows_from_inputs_or_cannot_be_told(type_: str, inputs: dict[str, object], want: str) -> None:
    """A name that the cloud invents, or that is not known, gives no id."""
    assert natural_id(type_, inputs) == want
