"""ExistingCluster: a cluster of the fleet that Berth reaches and did not make.

Its operator has labelled every pool's nodes with the pool's name, installed GPU drivers, and provides load balancers
and, for caches, a StorageClass. Berth assumes that nobody else installs the same software there.
"""

from typing import Any

import pulumi

from components.base import Component
from components.clusters.contract import ClusterOutputs
from components.clusters.existing.args import ExistingClusterArgs
from components.clusters.kubeconfig import KubeconfigError, parse_kubeconfig
from components.clusters.pool import Pool

_DRIVER_ROOT = "/"


class ExistingCluster(Component):
    """One existing cluster; logical name is the cluster's. ``cluster_outputs`` is what everything above it sees."""

    TYPE = "berth:index:ExistingCluster"

    def __init__(self, args: ExistingClusterArgs) -> None:
        """Register the cluster. Raises KubeconfigError at once when the kubeconfig is plain text and unusable."""
        import pulumi_kubernetes as kubernetes  # noqa: PLC0415 (only where a cluster is built)

        super().__init__(args.cluster.name, args.cluster.props(), environment=args.cluster.environment)
        endpoint = _endpoint(args)
        provider = kubernetes.Provider(
            self.child("kubernetes"),
            kubeconfig=pulumi.Output.secret(args.kubeconfig),
            cluster_identifier=args.cluster.identifier,
            enable_config_map_mutable=True,  # a changed configuration is no new object; its readers roll by checksum
            enable_secret_mutable=True,
            delete_unreachable=args.cluster.lost or None,
            opts=self.options(),
        )
        for facts in args.cluster.pools:
            Pool(facts, environment=args.cluster.environment)
        self.cluster_outputs = ClusterOutputs(
            name=args.cluster.name,
            source=args.cluster.source,
            cluster=self,
            provider=provider,
            identifier=args.cluster.identifier,
            endpoint=endpoint,
            storage_class=args.storage_class,
            driver_root=_DRIVER_ROOT,
            kubernetes_version=args.cluster.kubernetes_version,
            pools=args.cluster.pools,
            ready=(),
        )
        self.publish(endpoint=endpoint, storageClass=args.storage_class, clusterIdentifier=args.cluster.identifier)


def _endpoint(args: ExistingClusterArgs) -> pulumi.Output[str]:
    """Return the API server's URL. The kubeconfig is a secret, the address in it is not."""

    def read(text: Any) -> str:
        try:
            return parse_kubeconfig(text, where=args.where).endpoint
        except KubeconfigError as error:
            error.help = args.command or error.help
            raise

    if isinstance(args.kubeconfig, str):
        return pulumi.Output.from_input(read(args.kubeconfig))
    return pulumi.Output.unsecret(pulumi.Output.from_input(args.kubeconfig).apply(read))
