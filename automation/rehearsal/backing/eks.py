"""What stands behind the node groups of a simulated EKS: how many nodes of which machine, with which labels. PURE.

The machine is the launch template's or the group's own. Of machines without GPUs only their size matters.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from automation.rehearsal.kubernetes.machines import Machine, machine
from automation.rehearsal.kubernetes.nodes import Object, node
from automation.rehearsal.store import Row
from automation.rehearsal.wire import lookup

CLUSTER: Final = "aws:eks/cluster:Cluster"
NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"

_PLAIN: Final[Mapping[str, tuple[int, int]]] = {"m6i.xlarge": (4, 16)}
"""Machines without GPUs that node groups of ours use: vCPUs and GiB of memory (AWS, M6i instances, read 2026-08)."""

_EFFECTS: Final = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}


@dataclass(frozen=True, slots=True)
class Group:
    """A node group as its nodes show it. ``cluster`` is the physical name of the EKS cluster."""

    name: str
    cluster: str
    machine: Machine
    count: int
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    kubelet: str = ""
    """The version that its nodes say."""

    def nodes(self) -> dict[str, Object]:
        """Give its nodes by name."""
        return {name: self._node(name) for name in (f"{self.name}-{index}" for index in range(self.count))}

    def _node(self, name: str) -> Object:
        made = node(name, self.machine, labels=self.labels, tainted=False, kubelet=self.kubelet)
        made["spec"] = {"taints": [dict(taint) for taint in self.taints], "providerID": f"sim-aws:///{name}"}
        return made


def group(row: Row, templates: Iterable[Row]) -> Group:
    """Read a node group; raises UsageError for a machine type whose devices are not known."""
    outputs: dict[str, Any] = row.outputs
    kind = _instance_type(outputs, templates)
    return Group(
        name=row.name,
        cluster=str(outputs["clusterName"]),
        machine=_plain(kind) or machine("aws", kind),
        count=int(lookup(outputs, "scalingConfig.desiredSize") or 0),
        labels={
            "eks.amazonaws.com/nodegroup": row.name,
            "eks.amazonaws.com/capacityType": str(outputs.get("capacityType") or "ON_DEMAND"),
            **(outputs.get("labels") or {}),
        },
        taints=tuple(
            {"key": each["key"], "value": each.get("value") or "", "effect": _EFFECTS[each["effect"]]}
            for each in outputs.get("taints") or ()
        ),
    )


def cluster_key_of(row: Row) -> str:
    """Name a cluster of the simulated cloud, among all accounts and regions."""
    return f"{row.scope}|{row.id}"


def _instance_type(outputs: dict[str, Any], templates: Iterable[Row]) -> str:
    template = lookup(outputs, "launchTemplate.id")
    found = next((each for each in templates if each.id == template), None)
    if found is not None:
        return str(found.outputs["instanceType"])
    return str((outputs.get("instanceTypes") or [""])[0])


def _plain(kind: str) -> Machine | None:
    size = _PLAIN.get(kind)
    return replace(_NO_GPUS, name=kind, vcpus=size[0], memory_gib=size[1]) if size else None


_NO_GPUS: Final = Machine(
    cloud="aws", name="", preset="", accelerator="", gpus=0, memory="", vcpus=0, memory_gib=0, fabric="", efa=0
)
