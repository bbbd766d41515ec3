"""EksClusterArgs: everything that decides what an EKS cluster is, plain and known before anything exists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from components.api.fleet import Fleet
from components.api.inference_cluster import NodePool
from components.canonical import canonical_json
from components.clusters.contract import ClusterArgs
from components.clusters.eks import facts
from components.clusters.eks.identity import AwsIdentity
from components.clusters.eks.subnets import SubnetPlan, ZoneSubnets, subnets_of
from components.clusters.pool_facts import PoolFacts
from components.errors import ConfigError, Problem
from components.lock_model import HeldPool
from components.naming import cluster_name, physical_name
from components.serving.registry import NO_RULES, Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class EksPoolArgs:
    """One GPU pool as a managed node group."""

    facts: PoolFacts
    instance_type: str
    disk_gb: int
    subnets: tuple[ZoneSubnets, ...]
    """Where its nodes live: the private ones of these zones."""
    desired: int
    """Nodes at the start; the autoscaler moves it afterwards."""
    efa: bool = False
    reservation: str = ""
    """Id of the Capacity Block its nodes come from."""
    spot: bool = False
    """Whether its nodes are spare capacity, which the cloud may take back."""

    @property
    def templated(self) -> bool:
        """Whether its nodes need a launch template; a plain node group says all else by itself."""
        return self.efa or bool(self.reservation)

    @property
    def capacity_type(self) -> str:
        """How the cloud sells its nodes."""
        if self.reservation:
            return facts.CAPACITY_BLOCK
        return facts.SPOT if self.spot else facts.ON_DEMAND

    def template_name(self, cluster: ClusterArgs) -> str:
        """Return the launch template's physical name: a hash of all it says, so that a template never changes.

        A node group would roll its nodes in place after a change of its template; under another name it is replaced,
        which a preview shows and the scheduler acts on.
        """
        content = {
            "instanceType": self.instance_type,
            "diskGb": self.disk_gb,
            "efa": facts.efa_interfaces(self.instance_type) if self.efa else 0,
            "reservation": self.reservation,
        }
        return physical_name(
            cluster.environment,
            cluster.name,
            self.facts.pool,
            limit=facts.LAUNCH_TEMPLATE_NAME_LIMIT,
            inputs=canonical_json(content),
        )

    def group_name(self, cluster: ClusterArgs, network: SubnetPlan) -> str:
        """Return the node group's physical name, with a hash of everything whose change makes the cloud replace it."""
        forcing: dict[str, Any] = {
            "amiType": facts.ami_type(self.instance_type),
            "capacityType": self.capacity_type,
            "vpc": network.vpc,
            "subnets": [[subnets.zone, subnets.private] for subnets in self.subnets],
        }
        if self.templated:
            forcing["template"] = self.template_name(cluster)
        else:
            forcing |= {"instanceType": self.instance_type, "diskGb": self.disk_gb}
        return physical_name(self.facts.pool, limit=facts.NODE_GROUP_NAME_LIMIT, inputs=canonical_json(forcing))


@dataclass(frozen=True, slots=True, kw_only=True)
class EksClusterArgs:
    """One EKS cluster."""

    cluster: ClusterArgs
    identity: AwsIdentity
    network: SubnetPlan
    pools: tuple[EksPoolArgs, ...] = ()
    registry: Registry = NO_RULES

    @property
    def physical_name(self) -> str:
        """The cluster's name on AWS. It never changes: tokens, autoscaler and people find the cluster by it."""
        return cluster_name(self.cluster.name, self.cluster.environment)

    @property
    def has_efa(self) -> bool:
        """Whether any pool has the fast network."""
        return any(pool.efa for pool in self.pools)

    def name_of(self, role: str, *, limit: int, inputs: Mapping[str, Any] | None = None) -> str:
        """Return the physical name of something that belongs to the whole cluster."""
        text = canonical_json(dict(inputs)) if inputs else ""
        return physical_name(self.cluster.environment, self.cluster.name, role, limit=limit, inputs=text)

    @classmethod
    def from_spec(
        cls,
        fleet: Fleet,
        name: str,
        *,
        release: str,
        stack: str,
        registry: Registry | None = None,
        held: Sequence[HeldPool] | None = None,
    ) -> Self:
        """Read an EKS cluster from the fleet. Raises ConfigError, with the place, for what EKS cannot do.

        ``held`` are the pools that stay as they are although their manifest says otherwise.
        """
        manifest = fleet.clusters[name]
        source = manifest.spec.cluster.eks
        assert source is not None, f"{name} is no EKS cluster"
        common = ClusterArgs.from_spec(fleet, name, release=release, stack=stack, held=held)
        network = subnets_of(source)
        pools = tuple(
            _pool(pool, index, common.pools[index], fleet, network)
            for index, pool in enumerate(manifest.spec.node_pools)
        )
        return cls(
            cluster=common,
            identity=AwsIdentity.of_cluster(fleet, name),
            network=network,
            pools=pools,
            registry=registry or NO_RULES,
        )


def _pool(pool: NodePool, index: int, known: PoolFacts, fleet: Fleet, network: SubnetPlan) -> EksPoolArgs:
    path = f"spec.nodePools[{index}]"
    recipe = fleet.classes[pool.class_name].spec.provisioning
    if recipe is None or recipe.eks is None:
        raise ConfigError(
            [
                Problem(
                    "class-not-provisionable",
                    f"class {pool.class_name} does not say how to make a node on EKS",
                    path=f"{path}.className",
                    help=f"add spec.provisioning.eks to class {pool.class_name}",
                )
            ]
        )
    return EksPoolArgs(
        facts=known,
        instance_type=recipe.eks.instance_type,
        disk_gb=recipe.eks.disk_size_gb,
        subnets=network.in_zones(pool.zones, where=f"{path}.zones"),
        desired=min(max(pool.node_count, known.min_nodes), known.max_nodes),
        efa=pool.fabric.type == "EFA",
        reservation=pool.capacity_block.capacity_reservation_id if pool.capacity_block else "",
        spot=pool.capacity_type == "Spot",
    )
