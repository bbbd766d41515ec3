"""The clusters of a shard, each with what makes it serve: the half of the program that ML teams do not see."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pulumi

from components.api.fleet import Fleet
from components.clusters.contract import ClusterOutputs
from components.clusters.eks.args import EksClusterArgs
from components.clusters.eks.cluster import EksCluster
from components.clusters.eks.identity import AwsIdentity, aws_provider
from components.clusters.existing.args import ExistingClusterArgs
from components.clusters.existing.cluster import ExistingCluster
from components.errors import ConfigError, LockError
from components.lock import ClusterEntry, Lock
from components.serving.catalogue import load_release
from components.serving.stack import ServingStack, ServingStackArgs
from stacks.config import ProgramConfig
from stacks.refusals import at_cluster, unsupported
from stacks.rehearsal import simulated_kubeconfig
from stacks.shard import Shard

if TYPE_CHECKING:
    import pulumi_aws as aws  # an extra: a fleet without EKS clusters does without it

_RENEW = "berth plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltCluster:
    """A cluster and its serving stack."""

    outputs: ClusterOutputs
    serving: tuple[pulumi.Resource, ...]
    """What replicas, routes and front doors on it depend on."""
    gateway_address: pulumi.Output[str] | None
    """Where its own gateway is reached; None on a front door that serves no models."""

    def summary(self) -> dict[str, Any]:
        """Return what the stack puts out about it."""
        return {
            "source": self.outputs.source,
            "endpoint": self.outputs.endpoint,
            "gatewayAddress": self.gateway_address,
            "storageClass": self.outputs.storage_class,
            "pools": [pool.pool for pool in self.outputs.pools],
        }


def build_clusters(fleet: Fleet, lock: Lock, shard: Shard, config: ProgramConfig) -> Mapping[str, BuiltCluster]:
    """Register the clusters that the lock has and the shard holds, by name.

    Raises LockError when a cluster has no manifest or another source than when it was planned.
    """
    identities: dict[AwsIdentity, aws.Provider] = {}
    built = {}
    for entry in sorted(lock.platform.clusters, key=lambda entry: entry.name):
        if shard.holds(entry.name):
            try:
                outputs = _cluster(fleet, entry, shard, config, identities)
                last = config.gateway_addresses.get(entry.name, "")
                built[entry.name] = _serve(fleet, entry, outputs, last)
            except ConfigError as error:
                raise ConfigError(at_cluster(fleet, entry.name, problem) for problem in error.problems) from error
    return built


def _serve(fleet: Fleet, entry: ClusterEntry, cluster: ClusterOutputs, last: str) -> BuiltCluster:
    args = ServingStackArgs.of_cluster(cluster, environment=fleet.name, release=load_release(entry.release))
    stack = ServingStack(args, cluster=cluster, last_address=last).stack_outputs
    return BuiltCluster(outputs=cluster, serving=stack.ready, gateway_address=stack.gateway_address)


def _cluster(
    fleet: Fleet,
    entry: ClusterEntry,
    shard: Shard,
    config: ProgramConfig,
    identities: dict[AwsIdentity, "aws.Provider"],
) -> ClusterOutputs:
    manifest = fleet.clusters.get(entry.name)
    if manifest is None:
        raise LockError(
            f"cluster {entry.name} is in the lock and has no manifest",
            consequence="Nothing was changed.",
            help=f"bring its manifest back with `removing: true`, then {_RENEW}",
        )
    if manifest.source != entry.source:
        raise LockError(
            f"cluster {entry.name} was planned as {entry.source} and is {manifest.source} now: that is another cluster",
            consequence="Nothing was changed.",
            help="give the new cluster another name, and set `removing: true` on this one",
        )
    stack = str(shard.stack)
    match manifest.source:
        case "EKS":
            eks = EksClusterArgs.from_spec(fleet, entry.name, release=entry.release, stack=stack, held=entry.held)
            if eks.identity not in identities:
                identities[eks.identity] = aws_provider(eks.identity)
            return EksCluster(eks, provider=identities[eks.identity]).cluster_outputs
        case "Existing":
            secret, key = ExistingClusterArgs.secret_of(fleet, entry.name)
            kubeconfig = config.secrets.get(secret, {}).get(key)
            if kubeconfig is None and config.simulated:
                kubeconfig = simulated_kubeconfig(entry.name)
            existing = ExistingClusterArgs.from_spec(
                fleet, entry.name, release=entry.release, stack=stack, kubeconfig=kubeconfig, held=entry.held
            )
            return ExistingCluster(existing).cluster_outputs
        case other:
            raise ConfigError([unsupported(entry.name, other)])


def load_sdk(source: str) -> None:
    """Load the parts of the SDKs with which a cluster of ``source`` is made.

    They load on first use otherwise, in the middle of a program for which the engine waits.
    """
    import pulumi_kubernetes as kubernetes  # noqa: PLC0415 (a slow SDK, for those who need it)

    match source:
        case "EKS":
            import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

            attrgetter("ec2.Vpc", "efs.FileSystem", "eks.Cluster", "iam.Role")(aws)
            attrgetter("helm.v3.Release", "storage.v1.StorageClass")(kubernetes)
        case _:
            attrgetter("Provider")(kubernetes)
    attrgetter("apiextensions.v1.CustomResourceDefinition", "core.v1.Namespace")(kubernetes)
