"""Shared storage of an EKS cluster: an EFS file system that every node can mount, and its StorageClass."""

from typing import TYPE_CHECKING

import pulumi

from components.clusters.eks import facts
from components.clusters.eks.network import Network
from components.clusters.eks.site import Site

if TYPE_CHECKING:
    import pulumi_kubernetes as kubernetes

_NFS_PORT = 2049
_PERFORMANCE = "generalPurpose"


def build_file_system(site: Site, network: Network) -> tuple[pulumi.CustomResource, tuple[pulumi.Resource, ...]]:
    """Register the file system and a mount target per zone; return both. It holds staged weights."""
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    forcing = {"encrypted": True, "performanceMode": _PERFORMANCE}
    system = aws.efs.FileSystem(
        site.child("efs"),
        creation_token=site.args.name_of("efs", limit=facts.CREATION_TOKEN_LIMIT, inputs=forcing),
        encrypted=True,
        performance_mode=_PERFORMANCE,
        throughput_mode="elastic",
        tags=site.tags(f"{site.args.physical_name}-caches"),
        opts=site.options(aws.efs.FileSystem),
    )
    description = "NFS from the VPC"
    group = aws.ec2.SecurityGroup(
        site.child("efs-group"),
        name=site.args.name_of("efs", limit=facts.SECURITY_GROUP_NAME_LIMIT, inputs={"description": description}),
        description=description,
        vpc_id=network.vpc.id,
        ingress=[
            aws.ec2.SecurityGroupIngressArgs(
                protocol="tcp", from_port=_NFS_PORT, to_port=_NFS_PORT, cidr_blocks=[site.args.network.vpc]
            )
        ],
        tags=site.tags(),
        opts=site.options(aws.ec2.SecurityGroup),
    )
    targets = [
        aws.efs.MountTarget(
            site.child(f"efs-{zone.removeprefix(site.args.cluster.region)}"),
            file_system_id=system.id,
            subnet_id=subnet.id,
            security_groups=[group.id],
            opts=site.options(aws.efs.MountTarget),
        )
        for zone, subnet in network.private.items()
    ]
    return system, tuple(targets)


def build_storage_class(
    site: Site,
    system: pulumi.CustomResource,
    *,
    provider: "kubernetes.Provider",
    cluster: pulumi.Resource,
    depends_on: tuple[pulumi.Resource, ...],
) -> pulumi.Resource:
    """Register the StorageClass of caches. Each volume is an access point, a folder of the file system."""
    import pulumi_kubernetes as kubernetes  # noqa: PLC0415 (a slow SDK, for those who need it)

    return kubernetes.storage.v1.StorageClass(
        site.child("storage-class"),
        metadata=site.component.metadata(facts.STORAGE_CLASS),
        provisioner="efs.csi.aws.com",
        parameters={"provisioningMode": "efs-ap", "fileSystemId": system.id, "directoryPerms": "700"},
        reclaim_policy="Delete",
        volume_binding_mode="Immediate",
        opts=site.options(
            kubernetes.storage.v1.StorageClass, provider=provider, depends_on=depends_on, deleted_with=cluster
        ),
    )
