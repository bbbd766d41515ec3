"""Random small pools with pods that the scheduler's own accounting lets on them, and the objects of both.

The pool, its pods and their claims are what a real cluster gets: nodes with slices for the pool, and for the pods what
Berth makes of a replica. Nothing is counted here; ``schedule`` says which replicas fit.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from automation.rehearsal.kubernetes.machines import machine
from automation.rehearsal.kubernetes.nodes import EFA_CLASS, EFA_DRIVER, EFA_PRODUCT, GPU_DRIVER, node
from automation.scheduling.capacity import Capacity
from automation.scheduling.hardware import make_hardware
from automation.scheduling.matching import Match, Matcher, cel_evaluate, requests_of
from automation.scheduling.patterns import Demand
from automation.scheduling.resources import quantity, read, requested, words
from automation.scheduling.result import Placed
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Accounting, Cluster, Deployment, Device, Options, Pool, Snapshot
from components.labels import Label
from components.lock import EngineShape, MemberShape, ReplicaShape, RequestShape, shape_digest
from components.models.manifest import Manifest, Owner
from components.models.replica_objects import ReplicaPlan, replica_objects
from tests.support.samples import template

Object = dict[str, Any]

CLUSTER: Final = "real"
HOSTNAME: Final = "kubernetes.io/hostname"

_GPU: Final = f"device.attributes['{GPU_DRIVER}'].architecture"
ANY: Final = "true"
HOPPER: Final = f"{_GPU} == 'Hopper'"
AMPERE: Final = f"{_GPU} == 'Ampere'"
LARGE: Final = f"device.capacity['{GPU_DRIVER}'].memory.compareTo(quantity('60Gi')) >= 0"
EFA: Final = f"device.attributes['{EFA_DRIVER}'].rdma"
SELECTORS: Final = (ANY, HOPPER, HOPPER, AMPERE, LARGE, EFA)


def hopper(count: int) -> Device:
    """Make a kind of large GPU."""
    return _gpu("h100", count, "Hopper", "80Gi")


def ampere(count: int) -> Device:
    """Make a kind of small GPU; it shares its DeviceClass with the large one."""
    return _gpu("a100", count, "Ampere", "40Gi")


def efa(count: int) -> Device:
    """Make a kind of network interface."""
    attributes = (("pciDevice", "string", EFA_PRODUCT), ("rdma", "bool", True))
    return Device("efa", EFA_DRIVER, count, EFA_CLASS, attributes=attributes)


def _gpu(name: str, count: int, architecture: str, memory: str) -> Device:
    attributes = (("architecture", "string", architecture), ("type", "string", "gpu"))
    return Device(name, GPU_DRIVER, count, GPU_DRIVER, attributes=attributes, capacity=(("memory", memory),))


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod, as Berth makes it, and the scheduler's own account of what it takes of a node."""

    name: str
    spec: Object
    demand: Demand
    exact: bool
    """Each of its requests matches one kind, so that the allocator has no choice among kinds."""


@dataclass(frozen=True, slots=True)
class PodSet:
    """Replicas that an accounting let on a pool, as objects."""

    namespace: str
    pool: Pool
    templates: tuple[Manifest, ...]
    pods: tuple[Pod, ...]

    @property
    def has(self) -> tuple[int, ...]:
        """What a node has of each kind of device, and of CPU and memory where the pool says so."""
        return (*(device.count for device in self.pool.devices), *(amount for _, amount in self.pool.allocatable))

    @property
    def takes(self) -> list[tuple[int, ...]]:
        """What the pods take of that, in their order; of an undecided kind what it might."""
        first, last = len(self.pool.devices), len(self.pool.allocatable)
        return [(*pod.demand[:first], *pod.demand[len(pod.demand) - last :]) for pod in self.pods]

    def promised(self) -> bool:
        """Whether the scheduler's own accounting of devices promises room to all of them."""
        node = make_hardware(0, self.pool.devices, self.pool.allocatable).node
        return Capacity().fits(node, self.pool.nodes, Counter(pod.demand for pod in self.pods))

    def __str__(self) -> str:
        """Say what it is, for whoever has to find out why it failed."""
        kinds = ", ".join(f"{each.count} {each.name} ({each.device_class})" for each in self.pool.devices)
        kinds = ", ".join([kinds, *words(self.pool.allocatable)])
        lines = [f"pool {self.pool.name}: {self.pool.nodes} nodes, each with {kinds}"]
        for each in self.templates:
            requests = each.body["spec"]["spec"]["devices"]["requests"]
            asked = ", ".join(
                f"{one['exactly']['count']} of {one['exactly']['deviceClassName']} where "
                + " and ".join(selector["cel"]["expression"] for selector in one["exactly"]["selectors"])
                for one in requests
            )
            pods = [pod for pod in self.pods if each.name in _templates(pod)]
            beside = pods[0].spec["containers"][0]["resources"]
            lines.append(f"{', '.join(pod.name for pod in pods)}: {asked}; {beside}")
        return "\n".join(lines)


def draw(random: Random, name: str) -> tuple[Pool, tuple[Deployment, ...]]:
    """Draw a pool, and deployments that may want more than there is."""
    few, many = random.choice((1, 2, 3, 4)), random.choice((2, 4, 8))
    devices = random.choice(
        (
            (hopper(many),),
            (hopper(many),),
            (hopper(few), ampere(random.choice((1, 2)))),
            (hopper(few), efa(random.choice((2, 4)))),
            (ampere(few), efa(2), hopper(2)),
        )
    )
    nodes = random.choice((1, 2, 2, 3))
    offers = read({"cpu": random.choice(("4", "8")), "memory": random.choice(("16Gi", "64Gi"))})
    pool = Pool(
        name,
        devices[0].name,
        devices,
        realised=nodes,
        maximum=nodes,
        allocatable=random.choice(((), (), offers, offers[:1])),
    )
    return pool, tuple(_deployment(random, f"d{each}", most=many) for each in range(random.randint(1, 4)))


def _deployment(random: Random, name: str, *, most: int) -> Deployment:
    requests = [(random.randint(1, most), random.choice(SELECTORS)) for _ in range(random.choice((1, 1, 2)))]
    beside = {"cpu": random.choice(("500m", "1", "3")), "memory": random.choice(("1Gi", "7Gi"))}
    resources = random.choice(({}, {"requests": beside}, {"limits": beside}))
    return deployment(name, random.randint(1, 4), requests, copies=random.choice((1, 1, 2)), resources=resources)


def deployment(
    name: str,
    replicas: int,
    requests: Sequence[tuple[int, str]],
    *,
    copies: int = 1,
    resources: Mapping[str, Mapping[str, str]] | None = None,
) -> Deployment:
    """Make a deployment of one engine, whose pods ask for numbers of devices that selectors match."""
    asked = tuple(
        RequestShape(name=f"r{number}", count=count, selectors=(selector,))
        for number, (count, selector) in enumerate(requests)
    )
    member = MemberShape(role="Standalone", requests=asked, template=template(resources=dict(resources or {})))
    shape = ReplicaShape(engines=(EngineShape(name="main", copies=copies, members=(member,)),))
    return Deployment("ml", name, replicas, shape, shape_digest(shape))


def accepted(pool: Pool, deployments: tuple[Deployment, ...], accounting: Accounting) -> PodSet:
    """Return the pods of all replicas that ``schedule`` places on a pool under an accounting."""
    templates: dict[str, Manifest] = {}
    pods: list[Pod] = []
    for placed, objects in replicas(pool, deployments, accounting):
        templates |= {each.name: each for each in objects if each.kind == "ResourceClaimTemplate"}
        taken = _taken(pool, placed.shape.engines[0].members[0])
        for each in objects:
            if each.kind == "Deployment":
                spec = each.body["spec"]["template"]["spec"]
                pods += [Pod(f"{placed.name}-{copy}", spec, *taken) for copy in range(each.body["spec"]["replicas"])]
    return PodSet(pool.name, pool, tuple(templates.values()), tuple(pods))


def replicas(
    pool: Pool, deployments: tuple[Deployment, ...], accounting: Accounting
) -> Iterator[tuple[Placed, list[Manifest]]]:
    """Yield what ``schedule`` places on a pool, with claim templates and workloads; their namespace is the pool's."""
    cluster = Cluster(CLUSTER, pools=(pool,))
    for placed in schedule(Snapshot((cluster,), deployments, options=Options(accounting=accounting))).placements:
        plan = ReplicaPlan(name=placed.name, shape=placed.shape, placement=placed.placement)
        objects = replica_objects(Owner(str(placed.id), pool.name, "dev"), plan)
        yield placed, [each for each in objects if each.role.startswith(("claim-", "workload-"))]


def _taken(pool: Pool, member: MemberShape) -> tuple[Demand, bool]:
    hardware = make_hardware(0, pool.devices, pool.allocatable)
    match = Matcher(cel_evaluate()).match(requests_of(member), hardware, requested(member))
    assert isinstance(match, Match)
    assert match.demand is not None
    kinds = match.demand[: len(hardware.kinds)]
    return match.demand, sum(kinds) == sum(request.count for request in member.requests)


def _templates(pod: Pod) -> list[str]:
    return [claim["resourceClaimTemplateName"] for claim in pod.spec["resourceClaims"]]


def node_name(pool: Pool, number: int) -> str:
    """Name a node of a pool."""
    return f"{pool.name}-{number}"


def pool_objects(pool: Pool) -> Iterator[Object]:
    """Make the nodes of a pool with what its drivers publish of them."""
    for number in range(pool.nodes):
        name = node_name(pool, number)
        made = node(name, machine("aws", "p5.48xlarge"), labels={Label.POOL.value: pool.name})
        made["status"]["allocatable"] |= {kind: quantity(kind, amount) for kind, amount in pool.allocatable}
        yield made
        yield from slices(name, pool.devices)


def slices(node_name: str, devices: tuple[Device, ...]) -> Iterator[Object]:
    """Make a slice for each driver of a node, with as many devices of every kind as the node has, in their order."""
    for driver in dict.fromkeys(device.driver for device in devices):
        published = [
            {
                "name": f"{device.name}-{number}",
                "attributes": {key: {kind: value} for key, kind, value in device.attributes},
                "capacity": {key: {"value": value} for key, value in device.capacity},
            }
            for device in devices
            if device.driver == driver
            for number in range(device.count)
        ]
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{node_name}-{driver}"},
            "spec": {
                "driver": driver,
                "nodeName": node_name,
                "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1},
                "devices": published,
            },
        }


def pod_object(pod: Pod, name: str, *, wish: str = "") -> Object:
    """Make a pod under a name of its own; it prefers the node ``wish``, where the scheduler puts it if it fits."""
    spec: Object = {**pod.spec, "terminationGracePeriodSeconds": 0}
    if wish:
        there = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [wish]}]}
        preferred = [{"weight": 100, "preference": there}]
        spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def placed_on(pods: Mapping[str, Any]) -> dict[str, str]:
    """Give the node of each pod, for a message."""
    return {name: pod.get("spec", {}).get("nodeName", "-") for name, pod in sorted(pods.items())}
