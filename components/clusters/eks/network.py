"""The network of an EKS cluster: a VPC, a public and a private subnet per zone, one way in and one way out."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from components.clusters.eks.site import Site

_ANYWHERE = "0.0.0.0/0"

Subnets = Mapping[str, pulumi.CustomResource]
"""By zone."""


@dataclass(frozen=True, slots=True)
class Network:
    """The parts of the network that others refer to."""

    vpc: pulumi.CustomResource
    public: Subnets
    private: Subnets
    ways_out: tuple[pulumi.Resource, ...]
    """What a private node needs to reach the internet, its images and its API server."""


def build_network(site: Site) -> Network:
    """Register the network. Nodes live in private subnets and leave through one NAT gateway.

    Limit: the NAT gateway is in the first zone; while that zone is down, nodes of other zones cannot pull images.
    Limit: a subnet's new range must be free beside the old ones; a swap of two ranges takes two updates.
    """
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    plan, name = site.args.network, site.args.physical_name
    vpc = aws.ec2.Vpc(
        site.child("vpc"),
        cidr_block=plan.vpc,
        enable_dns_hostnames=True,
        enable_dns_support=True,
        tags=site.tags(name),
        opts=site.options(aws.ec2.Vpc),
    )
    public, private = _subnets(site, vpc.id)
    internet = aws.ec2.InternetGateway(
        site.child("internet"), vpc_id=vpc.id, tags=site.tags(name), opts=site.options(aws.ec2.InternetGateway)
    )
    address = aws.ec2.Eip(site.child("nat-address"), domain="vpc", tags=site.tags(name), opts=site.options(aws.ec2.Eip))
    nat = aws.ec2.NatGateway(
        site.child("nat"),
        allocation_id=address.id,
        subnet_id=public[plan.zones[0].zone].id,
        tags=site.tags(name),
        opts=site.options(aws.ec2.NatGateway, depends_on=[internet]),
    )
    _routes(site, "public", vpc.id, public, gateway_id=internet.id)
    ways_out = _routes(site, "private", vpc.id, private, nat_gateway_id=nat.id)
    return Network(vpc, public, private, ways_out)


def _subnets(site: Site, vpc: pulumi.Input[str]) -> tuple[Subnets, Subnets]:
    """Register the public and the private subnet of every zone, tagged so that load balancers find theirs."""
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    name = site.args.physical_name
    shared = {f"kubernetes.io/cluster/{name}": "shared"}
    public, private = {}, {}
    for subnets in site.args.network.zones:
        letter = subnets.zone.removeprefix(site.args.cluster.region)
        public[subnets.zone] = aws.ec2.Subnet(
            site.child(f"public-{letter}"),
            vpc_id=vpc,
            availability_zone=subnets.zone,
            cidr_block=subnets.public,
            map_public_ip_on_launch=True,
            tags=site.tags(f"{name}-public-{letter}") | shared | {"kubernetes.io/role/elb": "1"},
            opts=site.options(aws.ec2.Subnet),
        )
        private[subnets.zone] = aws.ec2.Subnet(
            site.child(f"private-{letter}"),
            vpc_id=vpc,
            availability_zone=subnets.zone,
            cidr_block=subnets.private,
            map_public_ip_on_launch=False,
            tags=site.tags(f"{name}-private-{letter}") | shared | {"kubernetes.io/role/internal-elb": "1"},
            opts=site.options(aws.ec2.Subnet),
        )
    return public, private


def _routes(
    site: Site,
    tier: str,
    vpc: pulumi.Input[str],
    subnets: Subnets,
    *,
    gateway_id: pulumi.Input[str] | None = None,
    nat_gateway_id: pulumi.Input[str] | None = None,
) -> tuple[pulumi.Resource, ...]:
    """Register a tier's route table, its way out, and its subnets' use of it; return the last two."""
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    table = aws.ec2.RouteTable(
        site.child(f"{tier}-routes"),
        vpc_id=vpc,
        tags=site.tags(f"{site.args.physical_name}-{tier}"),
        opts=site.options(aws.ec2.RouteTable),
    )
    route = aws.ec2.Route(
        site.child(f"{tier}-way-out"),
        route_table_id=table.id,
        destination_cidr_block=_ANYWHERE,
        gateway_id=gateway_id,
        nat_gateway_id=nat_gateway_id,
        opts=site.options(aws.ec2.Route),
    )
    uses = [
        aws.ec2.RouteTableAssociation(
            site.child(f"{tier}-routes-{zone.removeprefix(site.args.cluster.region)}"),
            route_table_id=table.id,
            subnet_id=subnet.id,
            opts=site.options(aws.ec2.RouteTableAssociation),
        )
        for zone, subnet in subnets.items()
    ]
    return (route, *uses)
