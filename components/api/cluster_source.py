"""Where a cluster comes from: one block for each of the six sources."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import BERTH, LATER, Items, Model, Ruled
from components.api.codes import Code
from components.api.conditions import ChosenBlock
from components.api.frozen import FrozenDict
from components.api.networks import CIDR_PATTERN, apart, inside, subnet_violations
from components.api.rules import Check, Subdomain, Violation, checked, matching
from components.api.values import Key

Source = Literal["GKE", "EKS", "AKS", "Nebius", "Vultr", "Existing"]
Text63 = Annotated[str, Field(min_length=1, max_length=63)]
Text253 = Annotated[str, Field(min_length=1, max_length=253)]
Region = Annotated[str, Field(min_length=1, max_length=32), checked(syntax.cloud_word, Code.NAME_INVALID)]
Cidr = Annotated[str, Field(min_length=1, max_length=18, json_schema_extra={"pattern": CIDR_PATTERN})]


def _version(pattern: str, example: str) -> Check:
    return matching(pattern, f"be a version as {example}", Code.VALUE_INVALID)


Text16 = Annotated[str, Field(min_length=1, max_length=16)]
EksVersion = Annotated[Text16, _version(r"1\.[0-9]+", "EKS has them, such as `1.36`")]
GkeVersion = Annotated[
    Text16, _version(r"latest|1\.[0-9]+(\.[0-9]+(-gke\.[0-9]+)?)?", "GKE has them, such as `1.35` or `1.35.1-gke.1200`")
]
AksVersion = Annotated[Text16, _version(r"1\.[0-9]+(\.[0-9]+)?", "AKS has them, such as `1.34` or `1.34.2`")]
NebiusVersion = Annotated[Text16, _version(r"1\.[0-9]+", "Nebius has them, such as `1.34`")]
VultrVersion = Annotated[Text16, _version(r"v1\.[0-9]+\.[0-9]+\+[0-9]+", "VKE has them, with its build: `v1.36.1+3`")]
ServerVersion = Annotated[Text16, _version(r"v?1\.[0-9]+([.+-].*)?", "an API server gives it, such as `1.35`")]


_SYSTEM_NAMESPACE = FrozenDict({"namespace": "remove it: the secret is looked up in `modelplane-system`"})


class Credentials(Model):
    """Which cloud identity builds the cluster: an entry of `Environment.spec.providers`."""

    type: Literal["ProviderConfig", "ClusterProviderConfig"] = "ClusterProviderConfig"
    """Kept for portable manifests; both mean the same here."""

    name: Text253 = "default"
    """Name of the identity; `default` is the ambient one."""


class EksNetwork(Ruled):
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

    def rules(self) -> Iterator[Violation]:
        """Check that subnets lie in the VPC, do not overlap, and come in pairs."""
        yield from subnet_violations(
            self.vpc_cidr,
            {"publicSubnetCidrs": self.public_subnet_cidrs, "privateSubnetCidrs": self.private_subnet_cidrs},
        )


class GkeNetwork(Ruled):
    """Address ranges of a GKE cluster."""

    node_cidr: Cidr = "10.0.0.0/24"
    """Nodes."""

    pod_cidr: Cidr = "10.1.0.0/16"
    """Pods."""

    service_cidr: Cidr = "10.2.0.0/16"
    """Services."""

    def rules(self) -> Iterator[Violation]:
        """Check that no two overlap."""
        yield from apart({"nodeCidr": self.node_cidr, "podCidr": self.pod_cidr, "serviceCidr": self.service_cidr})


class AksNetwork(Ruled):
    """Address ranges of an AKS cluster's virtual network."""

    vnet_cidr: Cidr = "10.0.0.0/16"
    """The virtual network."""

    subnet_cidr: Cidr = "10.0.0.0/20"
    """The nodes' subnet in it."""

    def rules(self) -> Iterator[Violation]:
        """Check that the subnet lies in the network, and the network beside the ranges of pods and Services."""
        yield from apart({"vnetCidr": self.vnet_cidr}, taken=_AKS_TAKEN)
        yield from inside("subnetCidr", self.subnet_cidr, self.vnet_cidr)


_AKS_TAKEN = {"the range of pods, 10.244.0.0/16": "10.244.0.0/16", "that of Services, 10.96.0.0/16": "10.96.0.0/16"}


class SecretKeyRef(Model):
    """A key of the kubeconfig secret, which is looked up in `modelplane-system`."""

    ELSEWHERE: ClassVar[Mapping[str, str]] = _SYSTEM_NAMESPACE

    name: Subdomain
    """Name of the secret."""

    key: Key = "kubeconfig"
    """Key in the secret."""


class IdentitySecretRef(Model):
    """A cloud identity on top of the kubeconfig."""

    ELSEWHERE: ClassVar[Mapping[str, str]] = _SYSTEM_NAMESPACE

    name: Subdomain
    """Name of the secret."""

    key: Key = "private_key"
    """Key in the secret."""

    type: Literal["GoogleApplicationCredentials", "AWSWebIdentityCredentials", "NebiusServiceAccountCredentials"] = (
        "GoogleApplicationCredentials"
    )
    """What the key holds."""


class ExistingCache(Model):
    """Where caches live on a cluster that Berth did not make."""

    storage_class_name: Subdomain | None = None
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
    """The zone the cluster is in: a fact for people and for snapshots. Replicas are spread over regions."""

    kubernetes_version: Annotated[ServerVersion | None, BERTH] = None
    """The version the cluster runs, such as `1.35`; decides what the selector language offers."""


class GkeSource(Model):
    """A cluster made on GKE."""

    region: Region
    """Google Cloud region."""

    kubernetes_version: GkeVersion = "1.35"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""

    network: Annotated[GkeNetwork | None, LATER] = None
    """Address ranges."""


class EksSource(Model):
    """A cluster made on EKS."""

    region: Region
    """AWS region."""

    kubernetes_version: EksVersion = "1.36"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""

    network: Annotated[EksNetwork, BERTH] = EksNetwork()
    """Address ranges."""

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones the cluster has subnets in: the region and a letter for each private subnet."""
        return tuple(f"{self.region}{chr(ord('a') + index)}" for index in range(len(self.network.private_subnet_cidrs)))


class AksSource(Model):
    """A cluster made on AKS."""

    location: Region
    """Azure region."""

    kubernetes_version: AksVersion = "1.34"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""

    network: Annotated[AksNetwork | None, LATER] = None
    """Address ranges."""


class NebiusSource(Model):
    """A cluster made on Nebius; project and region come from the identity."""

    ELSEWHERE: ClassVar[Mapping[str, str]] = FrozenDict(
        dict.fromkeys(
            ("region", "location", "project", "projectId", "parentId"),
            "remove it: the region is that of the project, which `providers.nebius` of the Environment names",
        )
    )

    kubernetes_version: NebiusVersion = "1.34"
    """Kubernetes version."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""


class VultrSource(Model):
    """A cluster made on Vultr."""

    region: Region
    """Vultr region."""

    kubernetes_version: VultrVersion = "v1.36.1+3"
    """Kubernetes version, with the build suffix that VKE wants."""

    credentials: Credentials = Credentials()
    """Which identity builds it."""


Block = ExistingSource | GkeSource | EksSource | AksSource | NebiusSource | VultrSource


class ClusterSource(Ruled):
    """Where the cluster comes from."""

    CONDITIONS: ClassVar = (
        ChosenBlock(
            "source",
            {
                "GKE": "gke",
                "EKS": "eks",
                "AKS": "aks",
                "Nebius": "nebius",
                "Vultr": "vultr",
                "Existing": "existing",
            },
        ),
    )

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

    @property
    def block(self) -> Block:
        """The block named after the source."""
        block: Block | None = getattr(self, self.source.lower())
        assert block is not None
        return block

    @property
    def credentials(self) -> Credentials | None:
        """The cloud identity that builds the cluster; None for an existing one."""
        block = self.block
        return None if isinstance(block, ExistingSource) else block.credentials

    @property
    def region(self) -> str:
        """The region; empty where the manifest does not say (Nebius, some existing clusters)."""
        block = self.block
        if isinstance(block, AksSource):
            return block.location
        return "" if isinstance(block, NebiusSource) else block.region or ""
