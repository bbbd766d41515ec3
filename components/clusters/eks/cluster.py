"""EksCluster: a cluster of the fleet on Amazon EKS, from its VPC to its autoscaler."""

from typing import TYPE_CHECKING, Any

import pulumi

from components.base import Component
from components.clusters.contract import ClusterOutputs
from components.clusters.eks import facts
from components.clusters.eks.args import EksClusterArgs
from components.clusters.eks.network import Network, build_network
from components.clusters.eks.pools import NodeSite, build_fabric_group, build_gpu_pool, build_system_pool
from components.clusters.eks.roles import Roles, bind_pod_roles, build_roles
from components.clusters.eks.site import Site
from components.clusters.eks.storage import build_file_system, build_storage_class
from components.clusters.helm import install
from components.clusters.kubeconfig import exec_kubeconfig
from components.labels import GPU_TAINT_KEY

if TYPE_CHECKING:
    import pulumi_aws as aws
    import pulumi_kubernetes as kubernetes


class EksCluster(Component):
    """One EKS cluster; logical name is the cluster's. ``cluster_outputs`` is what everything above it sees."""

    TYPE = "berth:index:EksCluster"

    def __init__(self, args: EksClusterArgs, *, provider: "aws.Provider") -> None:
        """Register the cluster. ``provider`` acts for ``args.identity``; no other one is ever used."""
        super().__init__(args.cluster.name, args.cluster.props(), environment=args.cluster.environment)
        site = Site(self, args, provider)
        network = build_network(site)
        roles = build_roles(site)
        control_plane = _control_plane(site, network, roles)
        bindings = bind_pod_roles(site, control_plane, roles)
        kubernetes_provider = _kubernetes_provider(site, control_plane)
        before = tuple(_addon(site, name, control_plane) for name in facts.ADDONS_BEFORE_NODES)
        nodes = NodeSite(
            site,
            control_plane,
            network,
            roles.node.role,
            (*roles.node.policies, *network.ways_out, *before),
            build_fabric_group(site, network) if args.has_efa else None,
        )
        system = build_system_pool(nodes)
        groups = {pool.facts.pool: build_gpu_pool(nodes, pool) for pool in args.pools}
        after = [
            _addon(site, name, control_plane, depends_on=(system, *bindings.values()))
            for name in facts.ADDONS_AFTER_NODES
        ]
        ready = (system, *before, *after)
        file_system, targets = build_file_system(site, network)
        storage_class = build_storage_class(
            site, file_system, provider=kubernetes_provider, cluster=control_plane, depends_on=(*ready, *targets)
        )
        _charts(site, kubernetes_provider, control_plane, depends_on=(*ready, bindings["autoscaler"]))
        self.cluster_outputs = ClusterOutputs(
            name=args.cluster.name,
            source=args.cluster.source,
            cluster=self,
            provider=kubernetes_provider,
            identifier=args.cluster.identifier,
            endpoint=control_plane.endpoint,
            storage_class=facts.STORAGE_CLASS,
            driver_root=facts.DRIVER_ROOT,
            kubernetes_version=args.cluster.kubernetes_version,
            pools=args.cluster.pools,
            ready=ready,
            nodes=groups,
            storage=(storage_class, *targets),
            deleted_with=control_plane,
        )
        self.publish(
            endpoint=control_plane.endpoint,
            storageClass=facts.STORAGE_CLASS,
            clusterIdentifier=args.cluster.identifier,
        )


def _control_plane(site: Site, network: Network, roles: Roles) -> "aws.eks.Cluster":
    """Register the EKS cluster itself, in all subnets; whoever creates it may administer it."""
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    return aws.eks.Cluster(
        site.child("cluster"),
        name=site.args.physical_name,
        role_arn=roles.cluster.role.arn,
        version=site.args.cluster.kubernetes_version,
        access_config=aws.eks.ClusterAccessConfigArgs(
            authentication_mode="API_AND_CONFIG_MAP", bootstrap_cluster_creator_admin_permissions=True
        ),
        vpc_config=aws.eks.ClusterVpcConfigArgs(
            endpoint_private_access=True,
            endpoint_public_access=True,
            subnet_ids=[subnet.id for tier in (network.public, network.private) for subnet in tier.values()],
        ),
        tags=site.tags(),
        opts=site.options(aws.eks.Cluster, depends_on=roles.cluster.policies),
    )


def _kubernetes_provider(site: Site, cluster: "aws.eks.Cluster") -> "kubernetes.Provider":
    """Register the provider that puts objects on the cluster.

    Its identity is the cluster's and not the kubeconfig's text: while the endpoint is unknown in a preview, objects
    would otherwise be shown as replaced.
    """
    import pulumi_kubernetes as kubernetes  # noqa: PLC0415 (a slow SDK, for those who need it)

    identity, name = site.args.identity, site.args.physical_name
    kubeconfig = pulumi.Output.all(cluster.endpoint, cluster.certificate_authority.data).apply(
        lambda known: exec_kubeconfig(
            name,
            endpoint=known[0],
            authority=known[1],
            command=identity.token_command(name),
            environment=identity.token_environment(),
        )
    )
    return kubernetes.Provider(
        site.child("kubernetes"),
        kubeconfig=pulumi.Output.secret(kubeconfig),
        cluster_identifier=site.args.cluster.identifier,
        enable_config_map_mutable=True,  # a changed configuration is no new object; its readers roll by checksum
        enable_secret_mutable=True,
        delete_unreachable=site.args.cluster.lost or None,
        opts=site.component.options(),
    )


def _addon(
    site: Site, name: str, cluster: "aws.eks.Cluster", *, depends_on: tuple[pulumi.Resource, ...] = ()
) -> pulumi.Resource:
    """Register an add-on in the version that the cloud pairs with the cluster's."""
    import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

    return aws.eks.Addon(
        site.child(f"addon-{name}"),
        cluster_name=cluster.name,
        addon_name=name,
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="OVERWRITE",
        tags=site.tags(),
        opts=site.options(aws.eks.Addon, depends_on=depends_on),
    )


def _charts(
    site: Site,
    provider: "kubernetes.Provider",
    cluster: "aws.eks.Cluster",
    *,
    depends_on: tuple[pulumi.Resource, ...],
) -> None:
    """Install what belongs to this cloud: the autoscaler, and the driver of EFA devices where a pool has them."""
    registry = site.args.registry
    install(
        site.component,
        "autoscaler",
        registry.chart(facts.AUTOSCALER_CHART),
        provider=provider,
        values=registry.values(autoscaler_values(site.args), facts.AUTOSCALER_IMAGES),
        depends_on=depends_on,
        deleted_with=cluster,
        create_namespace=False,
    )
    if site.args.has_efa:
        tolerations = [{"key": GPU_TAINT_KEY, "operator": "Exists", "effect": "NoSchedule"}]
        install(
            site.component,
            "efa-driver",
            registry.chart(facts.DRANET_CHART),
            provider=provider,
            values=registry.values({"tolerations": tolerations}, facts.DRANET_IMAGES),
            depends_on=depends_on,
            deleted_with=cluster,
            create_namespace=False,
        )


def autoscaler_values(args: EksClusterArgs) -> dict[str, Any]:
    """Return the autoscaler's values. Without a cluster to discover, its chart would install nothing and succeed."""
    version = args.cluster.kubernetes_version
    values: dict[str, Any] = {
        "fullnameOverride": facts.AUTOSCALER_CHART.name,
        "cloudProvider": "aws",
        "awsRegion": args.cluster.region,
        "autoDiscovery": {"clusterName": args.physical_name},
        "rbac": {"serviceAccount": {"create": True, "name": "cluster-autoscaler"}},
        "extraArgs": {"balance-similar-node-groups": True},
    }
    if facts.autoscaler_counts_devices(version):
        values["extraArgs"]["enable-dynamic-resource-allocation"] = True
    if image := facts.autoscaler_image(version):
        values["image"] = {"tag": image}
    return values
