"""EksCluster: what it is made of, in which order it goes, and what an edit replaces."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from components.api.fleet import Fleet
from components.clusters.eks import facts
from components.clusters.eks.args import EksClusterArgs
from components.clusters.eks.cluster import EksCluster
from components.clusters.eks.identity import AwsIdentity, aws_provider
from components.errors import ConfigError
from components.lock_model import HeldPool
from tests.support.mini_engine import UNKNOWN, Recorded, Registered, Secret, run_program
from tests.support.platforms import eks, fleet, hardware, pool

GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


def _run(known: Fleet, *, dry_run: bool = False) -> Recorded:
    def program() -> None:
        args = EksClusterArgs.from_spec(known, "east", release="default", stack="dev")
        EksCluster(args, provider=aws_provider(args.identity))

    return run_program(program, dry_run=dry_run)


@cache
def _usual() -> Recorded:
    pools = [pool(), pool("fast", fabric={"type": "EFA"}, maxNodeCount=4, zones=["us-east-1b", "us-east-1a"])]
    return _run(fleet(eks(pools=pools)))


def _group(spec: Mapping[str, Any], **changes: Any) -> Registered:
    known = fleet(eks(pools=[spec], **changes), classes=[hardware()])
    return _run(known).named("east/gpu-nodes")


def test_a_pool_whose_edit_is_withheld_keeps_the_size_of_its_nodes() -> None:
    """The node group is told what the component says, so that the policies find them agreeing."""
    known = fleet(eks(pools=[pool(nodeCount=1)]), classes=[hardware()])
    held = HeldPool(pool="gpu", class_name="old", accelerator="nvidia-old", nodes=3, min_nodes=3, max_nodes=3)

    def program() -> None:
        args = EksClusterArgs.from_spec(known, "east", release="default", stack="dev", held=[held])
        EksCluster(args, provider=aws_provider(args.identity))

    recorded = run_program(program)
    group = recorded.named("east/gpu-nodes").inputs
    assert group["scalingConfig"] == {"desiredSize": 3, "minSize": 3, "maxSize": 3}
    assert recorded.named("east/gpu").inputs["nodes"] == 3


def test_the_network_has_one_subnet_of_each_kind_per_zone_and_one_way_out() -> None:
    """Nodes live in private subnets and leave through one NAT gateway in a public one."""
    recorded = _usual()
    assert recorded.names("aws:ec2/subnet:Subnet") == tuple(
        f"east-{tier}-{letter}" for tier in ("private", "public") for letter in "abc"
    )
    private, public = recorded.named("east-private-a"), recorded.named("east-public-a")
    assert (private.inputs["cidrBlock"], private.inputs["mapPublicIpOnLaunch"]) == ("10.0.48.0/20", False)
    assert (public.inputs["cidrBlock"], public.inputs["mapPublicIpOnLaunch"]) == ("10.0.0.0/20", True)
    assert public.inputs["tags"]["kubernetes.io/role/elb"] == "1"
    assert private.inputs["tags"]["kubernetes.io/role/internal-elb"] == "1"
    assert recorded.one("aws:ec2/natGateway:NatGateway").inputs["subnetId"] == "east-public-a-id"
    assert recorded.named("east-private-way-out").inputs["natGatewayId"] == "east-nat-id"
    assert recorded.named("east-public-way-out").inputs["gatewayId"] == "east-internet-id"
    assert len(recorded.of_type("aws:ec2/routeTableAssociation:RouteTableAssociation")) == 6


def test_the_control_plane_is_in_all_subnets_and_has_a_fixed_name() -> None:
    """Tokens and the autoscaler find the cluster by its name, so it is derived from environment and cluster only."""
    cluster = _usual().one("aws:eks/cluster:Cluster").inputs
    assert cluster["name"] == "dev-east-89b05"
    assert cluster["version"] == "1.36"
    assert cluster["accessConfig"] == {
        "authenticationMode": "API_AND_CONFIG_MAP",
        "bootstrapClusterCreatorAdminPermissions": True,
    }
    assert len(cluster["vpcConfig"]["subnetIds"]) == 6
    assert cluster["vpcConfig"]["endpointPrivateAccess"] is True
    assert cluster["vpcConfig"]["endpointPublicAccess"] is True


@pytest.mark.parametrize(
    ("role", "service", "policies"),
    [
        ("cluster", "eks.amazonaws.com", ["AmazonEKSClusterPolicy"]),
        (
            "node",
            "ec2.amazonaws.com",
            ["AmazonEC2ContainerRegistryReadOnly", "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy"],
        ),
        ("ebs-csi", "pods.eks.amazonaws.com", ["AmazonEBSCSIDriverPolicy"]),
        ("efs-csi", "pods.eks.amazonaws.com", ["AmazonEFSCSIDriverPolicy"]),
        ("autoscaler", "pods.eks.amazonaws.com", []),
    ],
)
def test_roles_trust_who_uses_them_and_have_their_policies(role: str, service: str, policies: list[str]) -> None:
    """No role may more than its user needs."""
    recorded = _usual()
    registered = recorded.named(f"east-{role}-role")
    trust = json.loads(registered.inputs["assumeRolePolicy"])["Statement"][0]
    assert trust["Principal"] == {"Service": service}
    assert ("sts:TagSession" in trust["Action"]) is service.startswith("pods.")
    attached = [
        each.inputs["policyArn"].rpartition("/")[2]
        for each in recorded.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        if registered.urn in each.dependencies
    ]
    assert sorted(attached) == policies


def test_the_autoscaler_may_change_only_its_own_clusters_groups() -> None:
    """Two clusters of an account must not scale each other down."""
    policy = json.loads(_usual().named("east-autoscaler-role-policy").inputs["policy"])
    changes = policy["Statement"][1]
    assert sorted(changes["Action"]) == sorted(facts.AUTOSCALER_WRITES)
    assert changes["Condition"] == {
        "StringEquals": {"aws:ResourceTag/k8s.io/cluster-autoscaler/dev-east-89b05": "owned"}
    }


def test_the_autoscalers_chart_is_told_which_cluster_to_look_after() -> None:
    """Without that it installs nothing and still succeeds."""
    release = _usual().named("east-autoscaler")
    values = release.inputs["values"]
    assert values["autoDiscovery"] == {"clusterName": "dev-east-89b05"}
    assert values["rbac"]["serviceAccount"]["name"] == "cluster-autoscaler"
    assert values["extraArgs"]["enable-dynamic-resource-allocation"] is True
    assert release.inputs["name"] == "mp-cluster-autoscaler"
    binding = _usual().named("east-autoscaler-identity").inputs
    assert (binding["namespace"], binding["serviceAccount"]) == ("kube-system", "cluster-autoscaler")


def test_gpu_nodes_are_tainted_labelled_and_in_the_private_subnets_of_their_zones() -> None:
    """What a serving pod selects and tolerates, and where its node may be."""
    group = _usual().named("east/fast-nodes").inputs
    assert group["taints"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}]
    assert group["labels"] == {"modelplane.ai/pool": "fast", "modelplane.ai/gpu": "H100"}
    assert group["subnetIds"] == ["east-private-a-id", "east-private-b-id"]
    assert group["amiType"] == "AL2023_x86_64_NVIDIA"
    assert _usual().named("east/fast-nodes").parent == _usual().named("east/fast").urn


def test_system_nodes_are_small_untainted_and_follow_the_control_planes_version() -> None:
    """The cluster's own pods need a place that no model takes."""
    group = _usual().named("east-system-nodes")
    assert "taints" not in group.inputs
    assert group.inputs["scalingConfig"] == {"desiredSize": 1, "minSize": 1, "maxSize": 2}
    assert group.inputs["version"] == "1.36"
    assert "version" not in _usual().named("east/gpu-nodes").inputs


@pytest.mark.parametrize(
    ("spec", "scaling", "ignored"),
    [
        pytest.param(pool(nodeCount=3), (3, 3, 3), (), id="fixed"),
        pytest.param(pool(nodeCount=0), (0, 0, 1), (), id="fixed-at-zero"),
        pytest.param(pool(nodeCount=2, maxNodeCount=8), (1, 2, 8), ("scalingConfig.desiredSize",), id="autoscaled"),
        pytest.param(
            pool(nodeCount=1, minNodeCount=2, maxNodeCount=8), (2, 2, 8), ("scalingConfig.desiredSize",), id="raised"
        ),
        pytest.param(
            pool(nodeCount=9, maxNodeCount=8), (1, 8, 8), ("scalingConfig.desiredSize",), id="bounded-by-the-maximum"
        ),
    ],
)
def test_who_owns_the_node_count(spec: dict[str, Any], scaling: tuple[int, int, int], ignored: tuple[str, ...]) -> None:
    """The autoscaler owns a count that moves; a count that does not move stays the manifest's."""
    group = _group(spec)
    least, wanted, most = scaling
    assert group.inputs["scalingConfig"] == {"minSize": least, "desiredSize": wanted, "maxSize": most}
    assert group.options.ignore_changes == ignored


def test_a_plain_pool_needs_no_launch_template() -> None:
    """Type and disk stand on the group itself."""
    group = _usual().named("east/gpu-nodes").inputs
    assert (group["instanceTypes"], group["diskSize"], group["capacityType"]) == (["p5.48xlarge"], 200, "ON_DEMAND")
    assert "launchTemplate" not in group
    assert _usual().names(TEMPLATE) == ("east/fast-template",)


def test_an_efa_pool_has_one_interface_per_card_in_two_groups() -> None:
    """The first card carries the node's address; naming interfaces means naming the cluster's own group too."""
    template, group = _usual().named("east/fast-template").inputs, _usual().named("east/fast-nodes").inputs
    interfaces = template["networkInterfaces"]
    assert [each["networkCardIndex"] for each in interfaces] == list(range(32))
    assert [each["interfaceType"] for each in interfaces] == ["efa", *["efa-only"] * 31]
    assert [each["deviceIndex"] for each in interfaces] == [0, *[1] * 31]
    assert all(each["securityGroups"] == ["east-efa-id", "sg-east-cluster"] for each in interfaces)
    assert (template["instanceType"], template["blockDeviceMappings"][0]["ebs"]["volumeSize"]) == ("p5.48xlarge", 200)
    assert group["launchTemplate"] == {"id": "east/fast-template-id", "version": "1"}
    assert not {"instanceTypes", "diskSize"} & set(group)
    assert _usual().named("east-efa-driver").inputs["values"]["tolerations"][0]["key"] == "nvidia.com/gpu"


def test_a_type_without_efa_on_its_first_card_gets_a_plain_interface_there() -> None:
    """The cloud refuses an EFA on that card."""
    known = fleet(eks(pools=[pool(fabric={"type": "EFA"})]), classes=[hardware(instance_type="p6-b300.48xlarge")])
    interfaces = _run(known).named("east/gpu-template").inputs["networkInterfaces"]
    assert [each["interfaceType"] for each in interfaces] == ["interface", *["efa-only"] * 16]


def test_a_capacity_block_is_asked_for_in_group_and_template() -> None:
    """Both must say so, or the cloud gives an on-demand node or none."""
    spec = pool(capacityBlock={"capacityReservationId": "cr-0abc1"})
    recorded = _run(fleet(eks(pools=[spec])))
    template = recorded.named("east/gpu-template").inputs
    assert recorded.named("east/gpu-nodes").inputs["capacityType"] == "CAPACITY_BLOCK"
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert template["capacityReservationSpecification"] == {
        "capacityReservationPreference": "capacity-reservations-only",
        "capacityReservationTarget": {"capacityReservationId": "cr-0abc1"},
    }
    assert "networkInterfaces" not in template
    assert not recorded.of_type("aws:ec2/securityGroup:SecurityGroup")[0].name.endswith("efa")


def test_spare_capacity_is_asked_for_in_the_group() -> None:
    """A pool of spot nodes, and one that says that its nodes are not; a Capacity Block is neither."""
    kinds = {"Spot": "SPOT", "OnDemand": "ON_DEMAND"}
    for written, asked in kinds.items():
        recorded = _run(fleet(eks(pools=[pool(capacityType=written)])))
        assert recorded.named("east/gpu-nodes").inputs["capacityType"] == asked
    block = {"capacityReservationId": "cr-0abc1"}
    recorded = _run(fleet(eks(pools=[pool(capacityType="Reserved", capacityBlock=block)])))
    assert recorded.named("east/gpu-nodes").inputs["capacityType"] == "CAPACITY_BLOCK"


def test_caches_have_a_file_system_reachable_in_every_zone() -> None:
    """One mount target per zone, open to the VPC only, and a class that hands out folders of it."""
    recorded = _usual()
    assert recorded.names("aws:efs/mountTarget:MountTarget") == ("east-efs-a", "east-efs-b", "east-efs-c")
    (rule,) = recorded.named("east-efs-group").inputs["ingress"]
    assert (rule["fromPort"], rule["toPort"], rule["cidrBlocks"]) == (2049, 2049, ["10.0.0.0/16"])
    storage = recorded.named("east-storage-class")
    assert storage.inputs["metadata"]["name"] == "modelplane-rwx-efs"
    assert storage.inputs["parameters"] == {
        "provisioningMode": "efs-ap",
        "fileSystemId": "east-efs-id",
        "directoryPerms": "700",
    }
    assert recorded.one("aws:efs/fileSystem:FileSystem").inputs["encrypted"] is True


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("east/gpu-nodes", "east-private-way-out"),
        ("east/gpu-nodes", "east-private-routes-a"),
        ("east/gpu-nodes", "east-node-role-AmazonEKSWorkerNodePolicy"),
        ("east/gpu-nodes", "east-addon-vpc-cni"),
        ("east-cluster", "east-cluster-role-AmazonEKSClusterPolicy"),
        ("east-addon-coredns", "east-system-nodes"),
        ("east-addon-aws-efs-csi-driver", "east-efs-csi-identity"),
        ("east-storage-class", "east-addon-aws-efs-csi-driver"),
        ("east-storage-class", "east-efs-a"),
        ("east-autoscaler", "east-autoscaler-identity"),
        ("east-nat", "east-internet"),
        ("east-private-way-out", "east-nat"),
    ],
)
def test_what_comes_first_and_so_goes_last(later: str, earlier: str) -> None:
    """A node without a way out never joins, and a network that still has nodes cannot be deleted."""
    recorded = _usual()
    assert recorded.named(earlier).urn in recorded.requires(recorded.named(later))


def test_gpu_pools_do_not_wait_for_each_other_nor_the_cluster_for_them() -> None:
    """A pool that the cloud has no capacity for must not stop the others, nor the software on the cluster."""
    recorded = _usual()
    one, other = recorded.named("east/gpu-nodes"), recorded.named("east/fast-nodes")
    assert one.urn not in recorded.requires(other)
    assert not {one.urn, other.urn} & recorded.requires(recorded.named("east-autoscaler"))


def test_what_owns_nothing_outside_vanishes_with_the_cluster() -> None:
    """Taking it down piece by piece would need a cluster that answers."""
    recorded = _usual()
    cluster = recorded.one("aws:eks/cluster:Cluster").urn
    vanishing = {each.type for each in recorded.resources if each.options.deleted_with == cluster}
    assert vanishing == {"kubernetes:helm.sh/v3:Release", "kubernetes:storage.k8s.io/v1:StorageClass"}


def test_kinds_that_cannot_stand_beside_their_successor_are_deleted_first() -> None:
    """The list is data; every resource of a listed kind has the option, and no other."""
    for each in _usual().resources:
        assert bool(each.options.delete_before_replace) is (each.type in facts.REPLACE_BY_DELETE), each.name
    used = {each.type for each in _usual().resources}
    assert used >= facts.REPLACE_BY_DELETE
    assert used >= facts.PROTECTED


_OTHER_NETWORK = {
    "network": {
        "privateSubnetCidrs": ["10.0.96.0/20", "10.0.64.0/20", "10.0.80.0/20"],
        "publicSubnetCidrs": ["10.0.0.0/20", "10.0.16.0/20", "10.0.32.0/20"],
    }
}


@pytest.mark.parametrize(
    ("spec", "recipe", "source", "replaced"),
    [
        pytest.param(pool(nodeCount=7), {}, {}, False, id="count"),
        pytest.param(pool(maxNodeCount=7), {}, {}, False, id="maximum"),
        pytest.param(pool(), {"disk": 500}, {}, True, id="disk"),
        pytest.param(pool(), {"instance_type": "p5e.48xlarge"}, {}, True, id="type"),
        pytest.param(pool(zones=["us-east-1b"]), {}, {}, True, id="zone"),
        pytest.param(pool(fabric={"type": "EFA"}), {}, {}, True, id="fabric"),
        pytest.param(pool(capacityBlock={"capacityReservationId": "cr-0abc1"}), {}, {}, True, id="reservation"),
        pytest.param(pool(), {}, _OTHER_NETWORK, True, id="its-subnet"),
        pytest.param(pool(), {}, {"kubernetesVersion": "1.35"}, False, id="version"),
    ],
)
def test_a_group_that_the_cloud_would_replace_has_another_name(
    spec: dict[str, Any],
    recipe: dict[str, Any],
    source: dict[str, Any],
    replaced: bool,
) -> None:
    """Create-before-delete would collide with its own name; an edit in place keeps it."""

    def name(known: Fleet) -> str:
        args = EksClusterArgs.from_spec(known, "east", release="default", stack="dev")
        return args.pools[0].group_name(args.cluster, args.network)

    before = name(fleet(eks(pools=[pool()])))
    after = name(fleet(eks(pools=[spec], source=source), classes=[hardware(**recipe)]))
    assert (before != after) is replaced


def test_a_template_is_named_after_its_content_so_that_it_never_changes() -> None:
    """A changed template would roll the nodes in place; another one replaces the group, which a plan shows."""

    def names(**recipe: Any) -> tuple[str, str]:
        known = fleet(eks(pools=[pool(fabric={"type": "EFA"})]), classes=[hardware(**recipe)])
        args = EksClusterArgs.from_spec(known, "east", release="default", stack="dev")
        (built,) = args.pools
        return built.template_name(args.cluster), built.group_name(args.cluster, args.network)

    template, group = names()
    assert names() == (template, group)
    other_template, other_group = names(disk=500)
    assert template != other_template
    assert group != other_group


def test_names_stay_within_the_clouds_limits() -> None:
    """Long names are cut and keep a hash of the whole."""
    name, environment, pool_name = "c" * 63, "e" * 63, "p" * 40
    known = fleet(eks(name, pools=[pool(pool_name, fabric={"type": "EFA"})]), name=environment, classes=[hardware()])
    args = EksClusterArgs.from_spec(known, name, release="default", stack=environment)
    (built,) = args.pools
    assert len(args.physical_name) <= facts.CLUSTER_NAME_LIMIT
    assert len(args.name_of("autoscaler", limit=facts.ROLE_NAME_LIMIT)) <= facts.ROLE_NAME_LIMIT
    assert len(args.name_of("efs", limit=64, inputs={"a": 1})) <= facts.CREATION_TOKEN_LIMIT
    assert len(built.group_name(args.cluster, args.network)) <= facts.NODE_GROUP_NAME_LIMIT
    assert len(built.template_name(args.cluster)) <= facts.LAUNCH_TEMPLATE_NAME_LIMIT


def test_the_kubeconfig_gets_its_token_from_the_identity_that_builds_the_cluster() -> None:
    """Another identity would be a stranger to the API server."""
    providers = {"aws": {"prod": {"roleArn": "arn:aws:iam::1:role/berth", "profile": "prod"}}}
    known = fleet(eks(source={"credentials": {"name": "prod"}}), providers=providers)
    recorded = _run(known)
    secret = recorded.named("east-kubernetes").inputs["kubeconfig"]
    assert isinstance(secret, Secret)
    user = json.loads(secret.value)["users"][0]["user"]["exec"]
    assert user["args"][-2:] == ["--role-arn", "arn:aws:iam::1:role/berth"]
    assert user["env"] == [{"name": "AWS_PROFILE", "value": "prod"}]
    aws = recorded.named("aws-prod-us-east-1").inputs
    assert (aws["region"], aws["profile"]) == ("us-east-1", "prod")
    assert "berth" in str(aws["assumeRoles"])


def test_in_a_preview_the_kubeconfig_is_unknown_and_the_rest_is_not() -> None:
    """A whole preview works before the cluster exists."""
    recorded = _run(fleet(eks()), dry_run=True)
    kubeconfig = recorded.named("east-kubernetes").inputs["kubeconfig"]
    assert kubeconfig is UNKNOWN or kubeconfig == Secret(UNKNOWN)
    assert recorded.named("east/gpu-nodes").inputs["subnetIds"] == [UNKNOWN]
    assert recorded.named("east").outputs is not None


def test_clusters_of_one_credential_and_region_share_an_identity() -> None:
    """The program makes one provider for each, not one per cluster."""
    known = fleet(
        eks("east"), eks("more"), eks("west", source={"region": "us-west-2"}, pools=[pool(zones=["us-west-2a"])])
    )
    identities = {AwsIdentity.of_cluster(known, name) for name in known.clusters}
    assert sorted(identity.name for identity in identities) == ["aws-default-us-east-1", "aws-default-us-west-2"]


@pytest.mark.parametrize(
    ("known", "code"),
    [
        pytest.param(fleet(eks(source={"credentials": {"name": "prod"}})), "credentials-unknown", id="credentials"),
        pytest.param(
            fleet(
                eks(source={"credentials": {"name": "x"}}),
                providers={"aws": {"x": {"roleArn": "arn", "externalId": "1"}}},
            ),
            "eks-external-id",
            id="external-id",
        ),
    ],
)
def test_what_eks_cannot_do_is_refused_before_anything_is_made(known: Fleet, code: str) -> None:
    """Each with its place in the manifest."""
    with pytest.raises(ConfigError) as caught:
        EksClusterArgs.from_spec(known, "east", release="default", stack="dev")
    (problem,) = caught.value.problems
    assert problem.code == code
    assert problem.path


def test_a_class_for_another_cloud_cannot_make_a_pool() -> None:
    """The class must say how its node is made here."""
    there = hardware()
    bare = there.model_copy(update={"spec": there.spec.model_copy(update={"provisioning": None})})
    with pytest.raises(ConfigError) as caught:
        EksClusterArgs.from_spec(fleet(eks(), classes=[bare]), "east", release="default", stack="dev")
    assert caught.value.problems[0].code == "class-not-provisionable"


def test_objects_on_a_lost_cluster_are_forgotten() -> None:
    """Nobody answers there, so deleting means dropping from the state."""
    provider = _run(fleet(eks(lost=True))).named("east-kubernetes")
    assert provider.inputs["deleteUnreachable"] == "true"
    assert "deleteUnreachable" not in _usual().named("east-kubernetes").inputs
