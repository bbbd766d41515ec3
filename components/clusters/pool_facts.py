"""PoolFacts: what is known about a node pool before it exists. PURE.

The same facts describe a pool that Berth makes and one that was there: a Pool component puts them in the state, and
policies judge placements by them. How a cloud makes the nodes is not here.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from components.api.fleet import Fleet
from components.api.inference_class import Device, InferenceClass
from components.api.inference_cluster import InferenceCluster, NodePool
from components.clusters.sources import facts_of
from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY, GPU_TAINT_VALUE, Label
from components.lock_model import HeldPool

_EXACT = 2**53
"""The state keeps numbers as doubles; a larger integer is written as text so that it stays exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFacts:
    """One node pool of a cluster. Every node of it carries the same devices."""

    cluster: str
    pool: str
    class_name: str
    accelerator: str
    """Accelerator type of the class on this cluster's source; empty when the class does not say."""
    nodes: int
    """What the scheduler may count on: the declared maximum, or the fixed count."""
    min_nodes: int
    max_nodes: int
    provisioned: bool
    """Whether Berth makes the nodes. If not, an operator labelled and tainted them."""
    devices: tuple[MappingProxyType[str, Any], ...] = field(default=())

    @property
    def taints(self) -> tuple[dict[str, str], ...]:
        """Taints that Berth puts on the nodes."""
        if not self.provisioned:
            return ()
        return ({"key": GPU_TAINT_KEY, "value": GPU_TAINT_VALUE, "effect": GPU_TAINT_EFFECT},)

    @property
    def labels(self) -> dict[str, str]:
        """Labels that every node carries, whoever puts them there; serving pods select on them."""
        labels = {Label.POOL.value: self.pool}
        if self.accelerator and self.provisioned:
            labels[Label.GPU.value] = self.accelerator
        return labels

    @property
    def claims_devices(self) -> bool:
        """Whether any device is claimed from a driver."""
        return any(device["claim"] == "DRA" for device in self.devices)

    @property
    def autoscaled(self) -> bool:
        """Whether the node count moves."""
        return self.min_nodes != self.max_nodes

    def props(self) -> dict[str, Any]:
        """Return the description that the Pool component keeps in the state."""
        return {
            "cluster": self.cluster,
            "pool": self.pool,
            "className": self.class_name,
            "accelerator": self.accelerator,
            "nodes": self.nodes,
            "minNodes": self.min_nodes,
            "maxNodes": self.max_nodes,
            "taints": list(self.taints),
            "labels": self.labels,
            "provisioned": self.provisioned,
            "devices": [dict(device) for device in self.devices],
        }

    @classmethod
    def of_cluster(cls, fleet: Fleet, name: str, *, held: Iterable[HeldPool] = ()) -> tuple[Self, ...]:
        """Read the facts of all pools of a cluster, in the order of its manifest.

        ``held`` are the pools that stay as they are although their manifest says otherwise.
        """
        cluster = fleet.clusters[name]
        wakes = facts_of(cluster.source).wakes_claimed_pools
        kept = {pool.pool: cls.from_held(cluster, pool) for pool in held}
        return tuple(
            kept.get(pool.name) or cls.from_spec(cluster, pool, fleet.classes[pool.class_name], scales_from_zero=wakes)
            for pool in cluster.spec.node_pools
        )

    @classmethod
    def from_spec(
        cls, cluster: InferenceCluster, pool: NodePool, hardware: InferenceClass, *, scales_from_zero: bool
    ) -> Self:
        """Read the facts of a pool from its manifest and its class.

        Without ``maxNodeCount`` a pool keeps ``nodeCount`` nodes, so that the cloud never grows what the scheduler does
        not count. Without ``minNodeCount`` an autoscaled pool of claimed devices keeps one node where the cloud cannot
        wake it from zero, because at zero no pod could ever get in.
        """
        devices = tuple(MappingProxyType(_device(device)) for device in hardware.spec.devices)
        claims = any(device["claim"] == "DRA" for device in devices)
        least = 0 if scales_from_zero or not claims else 1
        fixed = pool.max_node_count is None
        most = pool.node_count if pool.max_node_count is None else pool.max_node_count
        wanted = least if pool.min_node_count is None else pool.min_node_count
        return cls(
            cluster=cluster.name,
            pool=pool.name,
            class_name=pool.class_name,
            accelerator=hardware.accelerator_on(cluster.source),
            nodes=most,
            min_nodes=most if fixed else min(wanted, most),
            max_nodes=most,
            provisioned=cluster.source != "Existing",
            devices=devices,
        )

    @classmethod
    def from_held(cls, cluster: InferenceCluster, held: HeldPool) -> Self:
        """Read the facts of a pool whose edit is withheld: it is what it was, whatever its manifest says."""
        return cls(
            cluster=cluster.name,
            pool=held.pool,
            class_name=held.class_name,
            accelerator=held.accelerator,
            nodes=held.nodes,
            min_nodes=held.min_nodes,
            max_nodes=held.max_nodes,
            provisioned=cluster.source != "Existing",
            devices=tuple(MappingProxyType(dict(device)) for device in held.devices),
        )


def _device(device: Device) -> dict[str, Any]:
    return {
        "name": device.name,
        "driver": device.driver,
        "deviceClass": device.device_class_name or "",
        "claim": device.claim,
        "count": device.count,
        "attributes": {
            name: {attribute.kind: _exact(attribute.value)} for name, attribute in sorted(device.attributes.items())
        },
        "capacity": {name: {"value": capacity.value} for name, capacity in sorted(device.capacity.items())},
    }


def _exact(value: Any) -> Any:
    too_large = isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT
    return str(value) if too_large else value
