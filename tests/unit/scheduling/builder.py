"""Small fleets for tests of the scheduler: one short call per cluster, pool, deployment and live replica."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.matching import Said
from automation.scheduling.resources import Resources, read
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import (
    Accounting,
    Cluster,
    ClusterState,
    Deployment,
    Device,
    Options,
    Pool,
    Snapshot,
    Strategy,
)
from components.cel.environment import DEFAULT_MINOR
from components.cel.selector import Outcome
from components.checks.facts import Taint, Toleration
from components.lock import (
    Claim,
    EnginePlacement,
    EngineShape,
    MemberPlacement,
    MemberShape,
    Phase,
    ReplicaEntry,
    ReplicaShape,
    RequestShape,
    shape_digest,
)
from components.naming import ReplicaId, replica_name

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def evaluate(expression: str, device: Device, minor: str = DEFAULT_MINOR) -> Said:
    """Answer a toy selector: ``any``, ``none``, ``boom``, ``name=h100|a100``, or a number of GiB of memory at least.

    A device without memory makes the last one an error, as an unguarded selector is. With ``@1.35`` behind it, it is
    known from that minor on.
    """
    expression, _, needs = expression.partition("@")
    found = _answer(expression, device)
    return found._replace(needs=needs, refusal=f"{expression} is not known") if minor < needs else found


def _answer(expression: str, device: Device) -> Said:
    if expression in {"any", "none"}:
        return Said(Outcome.MATCH if expression == "any" else Outcome.NO_MATCH)
    if expression == "boom":
        return Said(Outcome.ERROR, "no such key: x")
    name = re.fullmatch(r"name=(.+)", expression)
    if name:
        return Said(Outcome.MATCH if device.name in name[1].split("|") else Outcome.NO_MATCH)
    memory = dict(device.capacity).get("memory")
    if memory is None:
        return Said(Outcome.ERROR, "no such key: memory")
    return Said(Outcome.MATCH if int(memory) >= int(expression) else Outcome.NO_MATCH)


def gpu(name: str = "h100", count: int = 8, memory: int = 80, **other: Any) -> Device:
    """Make a GPU kind."""
    options: dict[str, Any] = {
        "driver": "gpu.nvidia.com",
        "device_class": "gpu.nvidia.com",
        "capacity": (("memory", str(memory)),),
    }
    return Device(name=name, count=count, **(options | other))


def nic(name: str = "efa", count: int = 32, **other: Any) -> Device:
    """Make a network kind without memory."""
    options: dict[str, Any] = {"driver": "dra.net", "device_class": "efa.aws"}
    return Device(name=name, count=count, **(options | other))


def synthetic(name: str = "ib", count: int = 8) -> Device:
    """Make a kind that is matched and never claimed."""
    return Device(name=name, driver="nic.nvidia.com", count=count, claimable=False)


def pool(name: str = "gpus", *devices: Device, nodes: int = 1, **other: Any) -> Pool:
    """Make a pool of fixed size; ``maximum`` and ``scales`` say otherwise."""
    devices = devices or (gpu(),)
    return Pool(
        name=name,
        class_name=other.pop("class_name", devices[0].name),
        devices=devices,
        realised=nodes,
        maximum=other.pop("maximum", nodes),
        **other,
    )


def cluster(name: str, *pools: Pool, taints: Sequence[str] = (), **other: Any) -> Cluster:
    """Make a ready cluster; taints are written ``key=value:Effect``."""
    state = ClusterState(other.pop("state", "ready"))
    return Cluster(name=name, state=state, pools=pools or (pool(),), taints=tuple(map(taint, taints)), **other)


def taint(text: str) -> Taint:
    """Read ``key=value:Effect``."""
    rest, _, effect = text.rpartition(":")
    key, _, value = rest.partition("=")
    return Taint(key, value, effect)


def member(
    count: int = 1, selector: str = "any", *, role: str = "Standalone", pods: int = 1, cpu: str = "", memory: str = ""
) -> MemberShape:
    """Make a member that asks for ``count`` devices (0 for none), and for ``cpu`` and ``memory`` if they are given."""
    requests = (RequestShape(name="gpu", count=count, selectors=(selector,)),) if count else ()
    resources = {name: text for name, text in (("cpu", cpu), ("memory", memory)) if text}
    return MemberShape(role=role, pods=pods, requests=requests, template=asking(resources) if resources else {})


def asking(requests: Mapping[str, str]) -> dict[str, Any]:
    """Make the template of a pod whose container requests something."""
    return {"spec": {"containers": [{"name": "engine", "resources": {"requests": dict(requests)}}]}}


def offering(**amounts: str) -> Resources:
    """Return what a node offers: ``offering(cpu="64", memory="512Gi")``."""
    return read(amounts)


def engine(name: str = "main", *members: MemberShape, copies: int = 1) -> EngineShape:
    """Make an engine."""
    return EngineShape(name=name, copies=copies, members=members or (member(),))


def shape(*engines: EngineShape, version: str = "v1") -> ReplicaShape:
    """Make a shape; another ``version`` is another image."""
    engines = engines or (engine(),)
    stamped = [
        each.model_copy(
            update={
                "members": tuple(
                    one.model_copy(update={"template": {**one.template, "image": version}}) for one in each.members
                ),
            }
        )
        for each in engines
    ]
    return ReplicaShape(engines=tuple(stamped))


def gang(count: int = 8, workers: int = 1, selector: str = "any") -> EngineShape:
    """Make an engine of a leader and workers, each asking for ``count`` devices."""
    return engine("main", member(count, selector, role="Leader"), member(count, selector, role="Worker", pods=workers))


def deployment(
    name: str, replicas: int = 1, *engines: EngineShape, namespace: str = "ml", version: str = "v1", **other: Any
) -> Deployment:
    """Make a deployment; tolerations are written ``key=value:Effect``, all parts but the key optional."""
    what = shape(*engines, version=version)
    tolerations = tuple(map(toleration, other.pop("tolerations", ())))
    return Deployment(namespace, name, replicas, what, shape_digest(what), tolerations=tolerations, **other)


def toleration(text: str) -> Toleration:
    """Read ``key=value:Effect``; without ``=`` it tolerates every value."""
    rest, _, effect = text.partition(":")
    key, equal, value = rest.partition("=")
    return Toleration(key, "Equal" if equal else "Exists", value, effect)


def live(
    wanted: Deployment,
    where: str,
    index: int = 0,
    *,
    pools: str = "gpus",
    device_class: str = "gpu.nvidia.com",
    version: str | None = None,
    phase: Phase = Phase.SERVING,
    ready: bool = True,
    failure: str = "",
    labels: Mapping[str, str] | None = None,
) -> ExistingReplica:
    """Make a live replica of a deployment, by default of its shape, labelled as it wants, and serving."""
    what = shape(*wanted.shape.engines, version=version) if version else wanted.shape
    identity = ReplicaId(wanted.namespace, wanted.name, where, index)
    placement = tuple(
        EnginePlacement(
            engine=each.name,
            members=tuple(
                MemberPlacement(
                    pool=pools,
                    claims=tuple(Claim(request=one.name, device_class=device_class) for one in role.requests),
                )
                for role in each.members
            ),
        )
        for each in what.engines
    )
    entry = ReplicaEntry(
        deployment=wanted.name,
        cluster=where,
        index=index,
        name=replica_name(identity),
        phase=phase,
        shape=shape_digest(what),
        labels=dict(wanted.labels if labels is None else labels),
        placement=placement,
    )
    return ExistingReplica(identity, entry, what, ready=ready, failure=failure)


def plan(
    clusters: Sequence[Cluster],
    deployments: Sequence[Deployment],
    replicas: Sequence[ExistingReplica] = (),
    *,
    strategy: Strategy = Strategy.SPREAD,
    accounting: Accounting | None = None,
    **other: Any,
) -> Schedule:
    """Schedule a small fleet with the toy selectors."""
    if accounting is None:
        accounting = Accounting.NODE if strategy is Strategy.COMPATIBLE else Accounting.DEVICE
    return schedule(
        snapshot(clusters, deployments, replicas, Options(strategy, accounting), **other), evaluate=evaluate
    )


def snapshot(
    clusters: Sequence[Cluster],
    deployments: Sequence[Deployment],
    replicas: Sequence[ExistingReplica] = (),
    options: Options = Options(),  # noqa: B008 (frozen)
    **other: Any,
) -> Snapshot:
    """Make a snapshot."""
    return Snapshot(tuple(clusters), tuple(deployments), tuple(replicas), options=options, now=NOW, **other)


def after(made: Schedule, before: Sequence[ExistingReplica], **new: Any) -> list[ExistingReplica]:
    """Return the live replicas once a schedule's build step has run: new ones start, in-place ones are changed.

    ``new`` overrides ``phase``, ``ready`` and ``failure`` of what was built or changed.
    """
    known = {each.id: each for each in before}
    result = []
    for placed in made.placements:
        old = known.pop(placed.id, None)
        same = old is not None and old.entry.shape == placed.digest
        entry = ReplicaEntry(
            deployment=placed.id.deployment,
            cluster=placed.id.cluster,
            index=placed.id.index,
            name=placed.name,
            phase=old.entry.phase if old and same else new.get("phase", Phase.STARTING),
            shape=placed.digest,
            labels=placed.labels,
            placement=placed.placement,
        )
        ready = old.ready if old and same else new.get("ready", True)
        failure = old.failure if old and same else new.get("failure", "")
        result.append(ExistingReplica(placed.id, entry, placed.shape, ready=ready, failure=failure))
    return [*result, *known.values()]


def where(made: Schedule) -> list[str]:
    """Return the target in short: ``deployment@cluster/index``, sorted."""
    return sorted(f"{each.id.deployment}@{each.id.cluster}/{each.id.index}" for each in made.placements)
