"""InferenceCluster: one cluster of the fleet, from one of six sources, and its GPU pools."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api.base import BERTH, Document, Items, Later, Model

Source = Literal["GKE", "EKS", "AKS", "Nebius", "Vultr", "Existing"]
Text63 = Annotated[str, Field(min_length=1, max_length=63)]
Text253 = Annotated[str, Field(min_length=1, max_length=253)]
Region = Annotated[str, Field(min_length=1, max_length=32)]
Cidr = Annotated[str, Field(min_length=1, max_length=18)]


class Credentials(Model):
    """Which cloud identity builds the cluster: an entry of `Environment.spec.providers`."""

    type: Literal["ProviderConfig", "ClusterProviderConfig"] = "ClusterProviderConfig"
    """Kept for portable manifests; both mean the same here."""

    name: Text253 = "default"
    """Name of the identity; `default` is the ambient one."""


class EksNetwork(Model):
    """Address ranges of an EKS cluster's VPC; zones are taken in order (a, b, c)."""

    vpc_cidr: Cidr = "10.0.0.0/16"
    """The VPC."""

    public_subnet_cidrs: Items[Cidr] = Field(
        default=("10.0.0.0/20", "10.0.16.0/20", "10.0.32.0/20"), min_length=2, max_length=6
    )
    """Public subnets, one per zone."""

    private_subnet_cidrs: Items[Cidr] = Field(
        default=("10.0.48.0/20", "10.0.64.0/20", "10.0.80.0/20"), min_length=2, max_length=6
    )
    """Private subnets, one per zone; nodes live here. Changing one replaces the pools in it."""


class SecretKeyRef(Model):
    """A key of the kubeconfig secret, which is looked up in `modelplane-system`."""

    name: Text253
    """Name of the secret."""

    key: Text253 = "kubeconfig"
    """Key in the secret."""


class IdentitySecretRef(Model):
    """A cloud identity on top of the kubeconfig."""

    name: Text253
    """Name of the secret."""

    key: Text253 = "private_key"
    """Key in the secret."""

    type: Literal["GoogleApplicationCredentials", "AWSWebIdentityCredentials", "NebiusServiceAccountCredentials"] = (
        "GoogleApplicationCredentials"
    )
    """What the key holds."""


class ExistingCache(Model):
    """Where caches live on a cluster that Berth did not make."""

    storage_class_name: Text253 | None = None
    """A StorageClass that can be mounted by many nodes. Without it no cache is staged here."""


class ExistingSource(Model):
    """A cluster that exists; Berth installs software on it and makes no infrastructure."""

    secret_ref: SecretKeyRef
    """The kubeconfig."""

    identity_secret_ref: IdentitySecretRef | None = None
    """A cloud identity on top of the kubeconfig."""

    cache: ExistingCache | None = None
    """Where caches live."""

    region: Annotated[Region | None, BERTH] = None
    """The region the cluster is in, for spreading."""

    zone: Annotated[Text63 | None, BERTH] = None
    """The zone the cluster is in, for spreading."""

    kubernetes_version: Annotated[Annotated[str, Field(min_length=1, max_length=16)] | None, BERTH] = None
    """The version the cluster runs, such as `1.35`; decides what the selector language offers."""


class GkeSource(Model):
    """A cluster made on GKE."""

    region: Region
    """Google Cloud region."""

    kubernetes_version: str = "1.35"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""


class EksSource(Model):
    """A cluster made on EKS."""

    region: Region
    """AWS region."""

    kubernetes_version: str = "1.36"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""

    network: Annotated[EksNetwork, BERTH] = EksNetwork()
    """Address ranges."""


class AksSource(Model):
    """A cluster made on AKS."""

    location: Region
    """Azure region."""

    kubernetes_version: str = "1.34"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""


class NebiusSource(Model):
    """A cluster made on Nebius; project and region come from the identity."""

    kubernetes_version: str = "1.34"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""


class VultrSource(Model):
    """A cluster made on Vultr."""

    region: Region
    """Vultr region."""

    kubernetes_version: str = "v1.36.1+3"
    """Kubernetes version, with the build suffix that VKE wants."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""


class ClusterSource(Model):
    """Where the cluster comes from."""

    source: Source
    """The source; the block of the same name must be there."""

    existing: ExistingSource | None = None
    """A cluster that exists."""

    gke: GkeSource | None = None
    """A cluster made on GKE."""

    eks: EksSource | None = None
    """A cluster made on EKS."""

    aks: AksSource | None = None
    """A cluster made on AKS."""

    nebius: NebiusSource | None = None
    """A cluster made on Nebius."""

    vultr: VultrSource | None = None
    """A cluster made on Vultr."""


class Taint(Model):
    """Keeps deployments off a cluster unless they tolerate it."""

    key: Annotated[str, Field(min_length=1)]
    """Key."""

    value: str | None = None
    """Value."""

    effect: Literal["NoSchedule", "NoExecute"]
    """`NoSchedule` keeps new replicas off, `NoExecute` also moves those that are there."""


class CapacityBlock(Model):
    """A reserved EC2 Capacity Block."""

    capacity_reservation_id: Annotated[str, Field(min_length=4, max_length=64, pattern=r"^cr-[0-9a-f]+$")]
    """Id of the reservation."""


class InfiniBand(Model):
    """Which InfiniBand fabric."""

    fabric: Text63
    """Physical fabric on Nebius, such as `fabric-2`; not used on AKS."""


class Fabric(Model):
    """The fast network between the nodes of a pool."""

    type: Literal["None", "EFA", "InfiniBand"] = "None"
    """`EFA` on EKS, `InfiniBand` on Nebius and AKS."""

    infiniband: InfiniBand | None = None
    """Which InfiniBand fabric."""


class NodePool(Model):
    """A GPU pool. The pool for the system's own pods is added per cloud."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    """Name within the cluster."""

    class_name: Text253
    """InferenceClass of its nodes."""

    node_count: Annotated[int, Field(ge=0)] = 1
    """Nodes at the start, or for good if there is no maximum."""

    min_node_count: Annotated[int, Field(ge=0)] | None = None
    """Fewest nodes under autoscaling."""

    max_node_count: Annotated[int, Field(ge=1)] | None = None
    """Most nodes under autoscaling; without it the pool keeps `nodeCount`."""

    zones: Items[str] = ()
    """Zones of the nodes; needed on EKS and GKE."""

    capacity_block: CapacityBlock | None = None
    """EKS only: a reserved Capacity Block."""

    fabric: Fabric = Fabric()
    """The fast network between its nodes."""

    capacity_type: Later = None
    """On demand, spot or reserved."""

    price: Later = None
    """USD per node and hour, instead of the list price."""

    fabric_id: Later = None
    """Name of the fabric the nodes share, for any source."""

    @property
    def autoscaled(self) -> bool:
        """Whether the node count moves between a minimum and a maximum."""
        return self.max_node_count is not None

    @property
    def most_nodes(self) -> int:
        """The declared maximum: `maxNodeCount`, else `nodeCount`."""
        return self.node_count if self.max_node_count is None else self.max_node_count


class InferenceClusterSpec(Model):
    """One cluster."""

    cluster: ClusterSource
    """Where it comes from."""

    taints: Items[Taint] = ()
    """Keeps deployments off."""

    node_pools: Items[NodePool] = Field(default=(), min_length=1, max_length=8)
    """GPU pools. Only a front door may have none. Their order has a meaning: the first that fits is taken."""

    release: Annotated[Text253 | None, BERTH] = None
    """Release of the serving stack on this cluster, instead of the environment's."""

    removing: Annotated[bool, BERTH] = False
    """The cluster is on its way out: its replicas move first, then its manifest may go."""

    lost: Annotated[bool, BERTH] = False
    """The cluster is gone for good: Berth forgets it and lists what may still cost money."""

    overrides: Later = None
    """Values laid over those of the release."""

    disabled_components: Later = None
    """Components of the release that the cluster brings itself."""

    driver_management: Later = None
    """Who installs the GPU driver."""


class InferenceCluster(Document):
    """One cluster of the fleet."""

    NAMESPACED: ClassVar[bool] = False
    SHORT_NAME: ClassVar[str] = "ic"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("SOURCE", "spec.cluster.source"),)

    kind: Literal["InferenceCluster"]
    """Always `InferenceCluster`."""

    spec: InferenceClusterSpec
    """The cluster."""

    @property
    def source(self) -> Source:
        """The cluster's source."""
        return self.spec.cluster.source

    @property
    def region(self) -> str:
        """The region; empty when the manifest does not say (Nebius, some existing clusters)."""
        cluster = self.spec.cluster
        match cluster.source:
            case "EKS":
                return cluster.eks.region if cluster.eks else ""
            case "GKE":
                return cluster.gke.region if cluster.gke else ""
            case "AKS":
                return cluster.aks.location if cluster.aks else ""
            case "Vultr":
                return cluster.vultr.region if cluster.vultr else ""
            case "Existing":
                return (cluster.existing.region if cluster.existing else None) or ""
            case "Nebius":
                return ""

    @property
    def kubernetes_version(self) -> str:
        """The version as written or defaulted; empty for an existing cluster that does not say."""
        cluster = self.spec.cluster
        block = {
            "EKS": cluster.eks,
            "GKE": cluster.gke,
            "AKS": cluster.aks,
            "Nebius": cluster.nebius,
            "Vultr": cluster.vultr,
            "Existing": cluster.existing,
        }[cluster.source]
        return (block.kubernetes_version if block else None) or ""
