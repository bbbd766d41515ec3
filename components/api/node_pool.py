"""A GPU pool of a cluster, and what each cloud demands of one."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from components.api.base import BERTH, Items, Model, Ruled
from components.api.cluster_source import EksSource, GkeSource, Source
from components.api.codes import Code
from components.api.rules import DnsLabel, Subdomain, Violation, shown
from components.api.values import UsdPerHour
from components.labels import SYSTEM_POOL

Zone = Annotated[str, Field(min_length=1, max_length=63)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]

MAX_PROVISIONED = 1000
"""Most nodes of a pool that a cloud makes."""

_AKS_NAME = re.compile(r"[a-z][a-z0-9]{0,11}")
_AKS_ZONES, _AKS_ZONE_LENGTH, _OTHER_ZONES = 3, 8, 8


class CapacityBlock(Model):
    """A reserved EC2 Capacity Block."""

    capacity_reservation_id: Annotated[str, Field(min_length=4, max_length=64, pattern=r"^cr-[0-9a-f]+$")]
    """Id of the reservation."""


class InfiniBand(Model):
    """Which InfiniBand fabric."""

    fabric: Annotated[str, Field(min_length=1, max_length=63)]
    """Physical fabric on Nebius, such as `fabric-2`; not used on AKS."""


class Fabric(Ruled):
    """The fast network between the nodes of a pool."""

    type: Literal["None", "EFA", "InfiniBand"] = "None"
    """`EFA` on EKS, `InfiniBand` on Nebius and AKS."""

    infiniband: InfiniBand | None = None
    """Which InfiniBand fabric."""

    def rules(self) -> Iterator[Violation]:
        """Check that only InfiniBand has InfiniBand settings."""
        if self.infiniband is not None and self.type != "InfiniBand":
            message = f"`infiniband` belongs to type InfiniBand, and the type is {self.type}"
            yield Violation(Code.FIELD_CONFLICT, message, ("infiniband",), at_key=True)


class NodePool(Ruled):
    """A GPU pool. The pool for the system's own pods is added per cloud."""

    name: Annotated[DnsLabel, Field(max_length=40)]
    """Name within the cluster."""

    class_name: Subdomain
    """InferenceClass of its nodes."""

    node_count: Count = 1
    """Nodes at the start, or for good if there is no maximum."""

    min_node_count: Count | None = None
    """Fewest nodes under autoscaling."""

    max_node_count: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    """Most nodes under autoscaling; without it the pool keeps `nodeCount`."""

    zones: Items[Zone] = ()
    """Zones of the nodes; needed on EKS and GKE."""

    capacity_block: CapacityBlock | None = None
    """EKS only: a reserved Capacity Block."""

    fabric: Fabric = Fabric()
    """The fast network between its nodes."""

    capacity_type: Annotated[Literal["OnDemand", "Spot", "Reserved"] | None, BERTH] = None
    """How its nodes are bought, on demand without it. `Reserved` ones are used first; the cloud may take `Spot` ones
    back, so they carry only deployments that say `spot: true`."""

    price_per_hour: Annotated[UsdPerHour | None, BERTH] = None
    """US dollars per node and hour, instead of the list price; the cheaper of two equal places is taken."""

    fabric_id: Annotated[Annotated[str, Field(min_length=1, max_length=63)] | None, BERTH] = None
    """Name of the fast network its nodes share, whatever the source; pools of one cluster with one name share it."""

    @property
    def autoscaled(self) -> bool:
        """Whether the node count moves between a minimum and a maximum."""
        return self.max_node_count is not None

    @property
    def most_nodes(self) -> int:
        """The declared maximum: `maxNodeCount`, else `nodeCount`."""
        return self.node_count if self.max_node_count is None else self.max_node_count

    @property
    def purchase(self) -> Literal["OnDemand", "Spot", "Reserved"]:
        """How its nodes are bought; a Capacity Block is reserved, and on demand is what nobody says."""
        return self.capacity_type or ("OnDemand" if self.capacity_block is None else "Reserved")

    def rules(self) -> Iterator[Violation]:
        """Check that the name is free, the minimum not above the maximum, and a block bought as one."""
        if self.name == SYSTEM_POOL:
            message = f"the name {shown(self.name)} is reserved for the pool of the system's own pods"
            yield Violation(Code.POOL_NAME_RESERVED, message, ("name",), hint="choose another name")
        least, most = self.min_node_count, self.max_node_count
        if least is not None and most is not None and least > most:
            message = f"minNodeCount {least} is more than maxNodeCount {most}"
            yield Violation(Code.VALUE_OUT_OF_RANGE, message, ("minNodeCount",))
        if self.capacity_block is not None and self.capacity_type not in (None, "Reserved"):
            message = f"a capacityBlock is reserved capacity, and capacityType is {self.capacity_type}"
            yield Violation(Code.FIELD_CONFLICT, message, ("capacityType",), hint="leave it out, or write `Reserved`")


def pool_violations(pool: NodePool, source: Source, block: object) -> Iterator[Violation]:
    """Yield what the cluster's source refuses about a pool; paths lead from the pool."""
    if source == "Existing":
        return
    yield from _counts(pool, source)
    if source == "EKS" and pool.capacity_type == "Reserved" and pool.capacity_block is None:
        message = "capacityType Reserved needs the block `capacityBlock` beside it, which names the reservation"
        yield Violation(Code.BLOCK_MISSING, message, ("capacityType",))
    if isinstance(block, EksSource):
        yield from _eks_zones(pool, block)
    elif isinstance(block, GkeSource):
        yield from _gke(pool, block)
    elif source == "AKS":
        yield from _aks(pool)
    elif source == "Nebius" and pool.fabric.type == "InfiniBand" and pool.fabric.infiniband is None:
        message = "type InfiniBand on Nebius needs the block `infiniband` beside it, which names the fabric"
        yield Violation(Code.BLOCK_MISSING, message, ("fabric", "type"))


def _counts(pool: NodePool, source: Source) -> Iterator[Violation]:
    least = 1 if source == "Vultr" else 0
    counts = {
        "nodeCount": pool.node_count,
        "minNodeCount": pool.min_node_count,
        "maxNodeCount": pool.max_node_count,
    }
    for field, count in counts.items():
        if count is not None and not least <= count <= MAX_PROVISIONED:
            message = f"{field} on {source} must be from {least} to {MAX_PROVISIONED}, and is {count}"
            yield Violation(Code.VALUE_OUT_OF_RANGE, message, (field,))
    if source in ("Nebius", "Vultr") and pool.min_node_count is not None and pool.max_node_count is None:
        message = f"minNodeCount on {source} needs maxNodeCount beside it"
        yield Violation(Code.FIELD_CONFLICT, message, ("minNodeCount",), at_key=True)


def _eks_zones(pool: NodePool, block: EksSource) -> Iterator[Violation]:
    if not pool.zones:
        message = f"zones are missing on the pool {shown(pool.name)}; EKS needs them"
        yield Violation(Code.ZONE_INVALID, message, allowed=", ".join(block.zones))
    for index, zone in enumerate(pool.zones):
        if not zone.startswith(block.region):
            message = f"the zone {shown(zone)} is not in the cluster's region, {block.region}"
            yield Violation(Code.ZONE_INVALID, message, ("zones", index), allowed=", ".join(block.zones))
    if pool.zones and not set(pool.zones) & set(block.zones) and all(z.startswith(block.region) for z in pool.zones):
        message = "the cluster has no subnet in any of these zones"
        yield Violation(Code.ZONE_INVALID, message, ("zones",), allowed=", ".join(block.zones), at_key=True)
    yield from _zone_count(pool, _OTHER_ZONES)


def _gke(pool: NodePool, block: GkeSource) -> Iterator[Violation]:
    if not pool.name[0].isalpha():
        yield Violation(Code.NAME_INVALID, f"{shown(pool.name)} must begin with a letter on GKE", ("name",))
    if not pool.zones:
        message = f"zones are missing on the pool {shown(pool.name)}; GKE needs them"
        yield Violation(Code.ZONE_INVALID, message, hint=f"for example `zones: [{block.region}-a]`")
    for index, zone in enumerate(pool.zones):
        if not zone.startswith(block.region + "-"):
            message = f"the zone {shown(zone)} is not in the cluster's region, {block.region}"
            yield Violation(Code.ZONE_INVALID, message, ("zones", index))
    yield from _zone_count(pool, _OTHER_ZONES)


def _aks(pool: NodePool) -> Iterator[Violation]:
    if not _AKS_NAME.fullmatch(pool.name):
        near = re.sub(r"[^a-z0-9]", "", pool.name.lower()).lstrip("0123456789")[:12]
        message = f"{shown(pool.name)} must be 1 to 12 lower-case letters and digits on AKS, beginning with a letter"
        yield Violation(Code.NAME_INVALID, f"{message}; `{near}` perhaps" if near else message, ("name",))
    for index, zone in enumerate(pool.zones):
        if len(zone) > _AKS_ZONE_LENGTH:
            message = f"a zone on AKS is a number such as `1`, not {shown(zone)}"
            yield Violation(Code.ZONE_INVALID, message, ("zones", index))
    yield from _zone_count(pool, _AKS_ZONES)


def _zone_count(pool: NodePool, most: int) -> Iterator[Violation]:
    if len(pool.zones) > most:
        message = f"a pool has at most {most} zones here, and this one has {len(pool.zones)}"
        yield Violation(Code.VALUE_LENGTH, message, ("zones",), at_key=True)
