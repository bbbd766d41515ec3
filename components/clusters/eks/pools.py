"""The nodes of an EKS cluster: one group for the system's own pods, and a tainted one per GPU pool."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi

from components.canonical import canonical_json
from components.clusters.eks import facts
from components.clusters.eks.args import EksPoolArgs
from components.clusters.eks.network import Network
from components.clusters.eks.site import Site
from components.clusters.pool import Pool
from components.labels import SYSTEM_POOL, Label
from components.naming import physical_name

if TYPE_CHECKING:
    import pulumi_aws as aws

_ROOT_DEVICE = "/dev/xvda"
_TEMPLATE_VERSION = "1"
"""A launch template's name holds a hash of its content, so it never has a second version."""

_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE"}


@dataclass(frozen=True, slots=True)
class NodeSite:
    """What every node group needs of the rest of the cluster."""

    site: Site
    cluster: "aws.eks.Cluster"
    network: Network
    role: "aws.iam.Role"
    before: tuple[pulumi.Resource, ...]
    """What a node needs to join: the role's policies, a way out, the add-ons that run on every node."""
    fabric_group: "aws.ec2.SecurityGroup | None" = None


def build_system_pool(nodes: NodeSite) -> pulumi.Resource:
    """Register the nodes of the system's own pods. They follow the control plane's version."""
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    site = nodes.site
    plan = site.args.network
    forcing = {
        "amiType": facts.SYSTEM_AMI,
        "diskGb": facts.SYSTEM_DISK_GB,
        "instanceType": facts.SYSTEM_INSTANCE_TYPE,
        "subnets": [[subnets.zone, subnets.private] for subnets in plan.zones],
        "vpc": plan.vpc,
    }
    return aws.eks.NodeGroup(
        site.child("system-nodes"),
        cluster_name=nodes.cluster.name,
        node_group_name=physical_name(SYSTEM_POOL, limit=facts.NODE_GROUP_NAME_LIMIT, inputs=canonical_json(forcing)),
        node_role_arn=nodes.role.arn,
        subnet_ids=[subnet.id for subnet in nodes.network.private.values()],
        ami_type=facts.SYSTEM_AMI,
        capacity_type=facts.ON_DEMAND,
        instance_types=[facts.SYSTEM_INSTANCE_TYPE],
        disk_size=facts.SYSTEM_DISK_GB,
        version=site.args.cluster.kubernetes_version,
        labels={Label.POOL.value: SYSTEM_POOL},
        scaling_config=aws.eks.NodeGroupScalingConfigArgs(
            desired_size=facts.SYSTEM_MIN, min_size=facts.SYSTEM_MIN, max_size=facts.SYSTEM_MAX
        ),
        tags=site.tags(),
        opts=site.options(aws.eks.NodeGroup, depends_on=nodes.before, ignore_changes=["scalingConfig.desiredSize"]),
    )


def build_gpu_pool(nodes: NodeSite, args: EksPoolArgs) -> pulumi.Resource:
    """Register a GPU pool: its component, its node group, and a launch template if it needs one.

    The node count of an autoscaled pool belongs to the autoscaler once the pool exists; that of a fixed one to the
    manifest. GPU nodes keep the version they were made with, because rolling them needs spare accelerators.

    Limit: raising ``minNodeCount`` of an autoscaled pool over its live count is refused by the cloud until the
    autoscaler or a person has grown the pool.
    """
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    site, known = nodes.site, args.facts
    pool = Pool(known, environment=site.args.cluster.environment)
    shape: dict[str, Any]
    if args.templated:
        template = _template(nodes, args, pool)
        shape = {"launch_template": aws.eks.NodeGroupLaunchTemplateArgs(id=template.id, version=_TEMPLATE_VERSION)}
    else:
        shape = {"instance_types": [args.instance_type], "disk_size": args.disk_gb}
    return aws.eks.NodeGroup(
        pool.child("nodes"),
        cluster_name=nodes.cluster.name,
        node_group_name=args.group_name(site.args.cluster, site.args.network),
        node_role_arn=nodes.role.arn,
        subnet_ids=[nodes.network.private[subnets.zone].id for subnets in args.subnets],
        ami_type=facts.ami_type(args.instance_type),
        capacity_type=args.capacity_type,
        labels=known.labels,
        taints=[
            aws.eks.NodeGroupTaintArgs(key=taint["key"], value=taint["value"], effect=_EFFECTS[taint["effect"]])
            for taint in known.taints
        ],
        scaling_config=aws.eks.NodeGroupScalingConfigArgs(
            desired_size=args.desired,
            min_size=known.min_nodes,
            max_size=max(known.max_nodes, 1),  # the cloud knows no group that may never have a node
        ),
        tags=site.tags(owner=pool),
        opts=site.options(
            aws.eks.NodeGroup,
            owner=pool,
            depends_on=nodes.before,
            ignore_changes=["scalingConfig.desiredSize"] if known.autoscaled else None,
        ),
        **shape,
    )


def build_fabric_group(site: Site, network: Network) -> "aws.ec2.SecurityGroup":
    """Register the security group that EFA interfaces share: the fabric needs all traffic among its members."""
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    everything, ports = "-1", 0
    description = "EFA between the nodes of a pool"
    return aws.ec2.SecurityGroup(
        site.child("efa"),
        name=site.args.name_of("efa", limit=facts.SECURITY_GROUP_NAME_LIMIT, inputs={"description": description}),
        description=description,
        vpc_id=network.vpc.id,
        ingress=[aws.ec2.SecurityGroupIngressArgs(protocol=everything, from_port=ports, to_port=ports, self=True)],
        egress=[aws.ec2.SecurityGroupEgressArgs(protocol=everything, from_port=ports, to_port=ports, self=True)],
        tags=site.tags(),
        opts=site.options(aws.ec2.SecurityGroup),
    )


def _template(nodes: NodeSite, args: EksPoolArgs, pool: Pool) -> "aws.ec2.LaunchTemplate":
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    site = nodes.site
    reserved: dict[str, Any] = {}
    if args.reservation:
        reserved = {
            "instance_market_options": aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type="capacity-block"),
            "capacity_reservation_specification": aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(
                capacity_reservation_preference="capacity-reservations-only",
                capacity_reservation_target=aws.ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
                    capacity_reservation_id=args.reservation
                ),
            ),
        }
    return aws.ec2.LaunchTemplate(
        pool.child("template"),
        name=args.template_name(site.args.cluster),
        instance_type=args.instance_type,
        block_device_mappings=[
            aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
                device_name=_ROOT_DEVICE,
                ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(volume_size=args.disk_gb),
            )
        ],
        network_interfaces=_interfaces(nodes, args) if args.efa else None,
        tags=site.tags(owner=pool),
        opts=site.options(aws.ec2.LaunchTemplate, owner=pool),
        **reserved,
    )


def _interfaces(nodes: NodeSite, args: EksPoolArgs) -> Sequence["aws.ec2.LaunchTemplateNetworkInterfaceArgs"]:
    """Return one interface per network card; naming interfaces means naming the cluster's security group too."""
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    assert nodes.fabric_group is not None
    group = nodes.cluster.vpc_config.cluster_security_group_id
    count = facts.efa_interfaces(args.instance_type)
    plain_first = args.instance_type in facts.EFA_PLAIN_FIRST_CARD
    kinds = ["interface" if plain_first else "efa", *["efa-only"] * (count if plain_first else count - 1)]
    return [
        aws.ec2.LaunchTemplateNetworkInterfaceArgs(
            network_card_index=card,
            device_index=min(card, 1),
            interface_type=kind,
            associate_public_ip_address="false",
            delete_on_termination="true",
            security_groups=[nodes.fabric_group.id, group],
        )
        for card, kind in enumerate(kinds)
    ]
