"""A GPU pool of a cluster, and what each cloud demands of one."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api.base import BERTH, Items, Model, Ruled
from components.api.cluster_source import EksSource, GkeSource, Source
from components.api.codes import Code
from components.api.conditions import Belongs, Schema, Together, equal, given
from components.api.rules import DnsLabel, Subdomain, Violation, distinct, shown, unlike
from components.api.values import UsdPerHour
from components.labels import SYSTEM_POOL

Zone = Annotated[str, Field(min_length=1, max_length=63)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]

MAX_PROVISIONED = 1000
"""Most nodes of a pool that a cloud makes."""


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

    CONDITIONS: ClassVar = (Belongs("infiniband", "type", ("InfiniBand",)),)

    type: Literal["None", "EFA", "InfiniBand"] = "None"
    """`EFA` on EKS, `InfiniBand` on Nebius and AKS."""

    infiniband: InfiniBand | None = None
    """Which InfiniBand fabric."""


def _system(name: str) -> Violation:
    message = f"the name {shown(name)} is reserved for the pool of the system's own pods"
    return Violation(Code.POOL_NAME_RESERVED, message, hint="choose another name")


def _bought(pool: "NodePool") -> Iterator[Violation]:
    if pool.capacity_block is not None and pool.capacity_type not in (None, "Reserved"):
        message = f"a capacityBlock is reserved capacity, and capacityType is {pool.capacity_type}"
        yield Violation(Code.FIELD_CONFLICT, message, ("capacityType",), hint="leave it out, or write `Reserved`")


_RESERVED: Final = {"properties": {"capacityType": {"enum": ["Reserved", None]}}}


class NodePool(Ruled):
    """A GPU pool. The pool for the system's own pods is added per cloud."""

    CONDITIONS: ClassVar = (Together(_bought, ({"if": given("capacityBlock"), "then": _RESERVED},)),)

    name: Annotated[DnsLabel, Field(max_length=40), unlike((SYSTEM_POOL,), _system)]
    """Name within the cluster."""

    class_name: Subdomain
    """InferenceClass of its nodes."""

    node_count: Count = 1
    """Nodes at the start, or for good if there is no maximum."""

    min_node_count: Count | None = None
    """Fewest nodes under autoscaling."""

    max_node_count: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    """Most nodes under autoscaling; without it the pool keeps `nodeCount`."""

    zones: Annotated[Items[Zone], distinct("the zone")] = ()
    """Zones of the nodes; needed on EKS and GKE, numbers on AKS, and without effect on Nebius and Vultr."""

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
        """Check that the minimum is not above the maximum."""
        least, most = self.min_node_count, self.max_node_count
        if least is not None and most is not None and least > most:
            message = f"minNodeCount {least} is more than maxNodeCount {most}"
            yield Violation(Code.VALUE_OUT_OF_RANGE, message, ("minNodeCount",))


@dataclass(frozen=True, slots=True)
class _Cloud:
    """What a cloud demands of a pool; an empty pattern demands nothing."""

    least: int = 0
    zones_needed: bool = False
    most_zones: int = 0
    zone: str = ""
    name: str = ""
    minimum_needs_maximum: bool = False


_CLOUDS: Final[dict[str, _Cloud]] = {
    "EKS": _Cloud(zones_needed=True, most_zones=8),
    "GKE": _Cloud(zones_needed=True, most_zones=8, name="[a-z].*"),
    "AKS": _Cloud(most_zones=3, zone="[1-9][0-9]{0,7}", name="[a-z][a-z0-9]{0,11}"),
    "Nebius": _Cloud(minimum_needs_maximum=True),
    "Vultr": _Cloud(least=1, minimum_needs_maximum=True),
}
"""The names of pools of AKS are from its API's own pattern; the other rules are the predecessor's child schemas."""


_REGION: Final = {"EKS": "[a-z]{2,5}(-[a-z]+)+-[0-9]", "GKE": "[a-z]+(-[a-z]+)+[0-9]{1,2}"}
"""How the clouds with zones in regions write a region."""

_ZONE_END: Final = {"EKS": "[a-z]", "GKE": "-[a-z]"}


def region_meant(source: str, region: str, pools: Iterable["NodePool"]) -> str:
    """Return the region that all zones of the pools are in, where the cluster's own is no region; else nothing."""
    if source not in _REGION or re.fullmatch(_REGION[source], region):
        return ""
    zone = f"({_REGION[source]}){_ZONE_END[source]}"
    found = [re.fullmatch(zone, each) for pool in pools for each in pool.zones]
    regions = {each[1] for each in found if each}
    return regions.pop() if all(found) and len(regions) == 1 else ""


def pool_violations(pool: NodePool, source: Source, block: object) -> Iterator[Violation]:
    """Yield what the cluster's source refuses about a pool; paths lead from the pool."""
    if source == "Existing":
        return
    cloud = _CLOUDS[source]
    yield from _counts(pool, source, cloud)
    yield from _name(pool, source, cloud)
    yield from _zones(pool, source, cloud, block)
    if isinstance(block, EksSource) and pool.zones and not _subnets(pool, block):
        message = "the cluster has no subnet in any of these zones"
        yield Violation(Code.ZONE_INVALID, message, ("zones",), allowed=", ".join(block.zones), at_key=True)
    if source == "EKS" and pool.capacity_type == "Reserved" and pool.capacity_block is None:
        message = "capacityType Reserved needs the block `capacityBlock` beside it, which names the reservation"
        yield Violation(Code.BLOCK_MISSING, message, ("capacityType",))
    if source == "Nebius" and pool.fabric.type == "InfiniBand" and pool.fabric.infiniband is None:
        message = "type InfiniBand on Nebius needs the block `infiniband` beside it, which names the fabric"
        yield Violation(Code.BLOCK_MISSING, message, ("fabric", "type"))


def pool_schema(source: str) -> Schema:
    """Return what ``pool_violations`` asks of a pool, as far as JSON Schema can say it."""
    cloud = _CLOUDS[source]
    count = {"minimum": cloud.least, "maximum": MAX_PROVISIONED}
    properties: Schema = {"nodeCount": count, "minNodeCount": count, "maxNodeCount": count}
    rules: list[Schema] = []
    if cloud.name:
        properties["name"] = {"pattern": f"^{cloud.name}$"}
    if cloud.most_zones:
        items: Schema = {"items": {"pattern": f"^{cloud.zone}$"}} if cloud.zone else {}
        properties["zones"] = {"maxItems": cloud.most_zones, **items}
    if cloud.zones_needed:
        rules.append(given("zones", but=([],)))
    if cloud.minimum_needs_maximum:
        rules.append({"if": given("minNodeCount"), "then": given("maxNodeCount")})
    if source == "EKS":
        reserved = {"required": ["capacityType"], "properties": {"capacityType": {"const": "Reserved"}}}
        rules.append({"if": reserved, "then": given("capacityBlock")})
    if source == "Nebius":
        properties["fabric"] = {"if": equal("type", "InfiniBand"), "then": given("infiniband")}
    return {"properties": properties, **({"allOf": rules} if rules else {})}


def _counts(pool: NodePool, source: Source, cloud: _Cloud) -> Iterator[Violation]:
    counts = {
        "nodeCount": pool.node_count,
        "minNodeCount": pool.min_node_count,
        "maxNodeCount": pool.max_node_count,
    }
    for field, count in counts.items():
        if count is not None and not cloud.least <= count <= MAX_PROVISIONED:
            message = f"{field} on {source} must be from {cloud.least} to {MAX_PROVISIONED}, and is {count}"
            yield Violation(Code.VALUE_OUT_OF_RANGE, message, (field,))
    if cloud.minimum_needs_maximum and pool.min_node_count is not None and pool.max_node_count is None:
        message = f"minNodeCount on {source} needs maxNodeCount beside it"
        yield Violation(Code.FIELD_CONFLICT, message, ("minNodeCount",), at_key=True)


def _name(pool: NodePool, source: Source, cloud: _Cloud) -> Iterator[Violation]:
    if not cloud.name or re.fullmatch(cloud.name, pool.name):
        return
    if source == "AKS":
        near = re.sub(r"[^a-z0-9]", "", pool.name.lower()).lstrip("0123456789")[:12]
        message = f"{shown(pool.name)} must be 1 to 12 lower-case letters and digits on AKS, beginning with a letter"
        yield Violation(Code.NAME_INVALID, f"{message}; `{near}` perhaps" if near else message, ("name",))
    else:
        yield Violation(Code.NAME_INVALID, f"{shown(pool.name)} must begin with a letter on {source}", ("name",))


def _zones(pool: NodePool, source: Source, cloud: _Cloud, block: object) -> Iterator[Violation]:
    known = ", ".join(block.zones) if isinstance(block, EksSource) else ""
    if cloud.zones_needed and not pool.zones:
        message = f"zones are missing on the pool {shown(pool.name)}; {source} needs them"
        hint = f"for example `zones: [{block.region}-a]`" if isinstance(block, GkeSource) else ""
        yield Violation(Code.ZONE_INVALID, message, allowed=known, hint=hint)
    for index, zone in enumerate(pool.zones):
        if isinstance(block, (EksSource, GkeSource)) and not zone.startswith(_prefix(block)):
            message = f"the zone {shown(zone)} is not in the cluster's region, {block.region}"
            yield Violation(Code.ZONE_INVALID, message, ("zones", index), allowed=known)
        if cloud.zone and not re.fullmatch(cloud.zone, zone):
            message = f"a zone on {source} is a number such as `1`, not {shown(zone)}"
            yield Violation(Code.ZONE_INVALID, message, ("zones", index))
    if cloud.most_zones and len(pool.zones) > cloud.most_zones:
        message = f"a pool has at most {cloud.most_zones} zones here, and this one has {len(pool.zones)}"
        yield Violation(Code.VALUE_LENGTH, message, ("zones",), at_key=True)


def _prefix(block: EksSource | GkeSource) -> str:
    return block.region if isinstance(block, EksSource) else f"{block.region}-"


def _subnets(pool: NodePool, block: EksSource) -> bool:
    """Whether one of a pool's zones has a subnet; zones of another region are reported by themselves."""
    elsewhere = not all(zone.startswith(block.region) for zone in pool.zones)
    return elsewhere or bool(set(pool.zones) & set(block.zones))
