"""A small world for tests of planning: manifests as text, what exists, and steps that succeed, fail or stop halfway."""

import copy
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import yaml

from automation.planning.arrive import arrived
from automation.planning.step import Step, StepKind
from automation.planning.steps import next_step
from automation.planning.target import target_lock
from automation.scheduling.build import build_snapshot
from automation.scheduling.changes import NO_CHANGES, PlatformChanges
from automation.scheduling.existing import Existing, ExistingEndpoint
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from components.api.fleet import Fleet
from components.api.load import load_fleet
from components.clusters.contract import ClusterArgs
from components.lock import Lock, Phase
from components.lock_model import HeldPool
from components.naming import ReplicaId

MODELPLANE = "modelplane.ai/v1alpha1"
BERTH = "berth.dev/v1alpha1"
BIG = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{}Gi')) >= 0"


def document(kind: str, name: str, spec: object, *, api: str = BERTH, **metadata: object) -> dict[str, object]:
    """Return a manifest."""
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def cluster(
    name: str,
    *,
    nodes: int = 2,
    taints: Iterable[str] = (),
    labels: dict[str, str] | None = None,
    storage: bool = False,
    **spec: object,
) -> dict[str, object]:
    """Return an existing cluster with one pool of eight-GPU nodes; taints are written ``key=value:Effect``."""
    existing: dict[str, object] = {"secretRef": {"name": f"{name}-kubeconfig"}, "region": f"region-{name}"}
    if storage:
        existing["cache"] = {"storageClassName": "shared"}
    written = []
    for taint in taints:
        rest, _, effect = taint.rpartition(":")
        key, _, value = rest.partition("=")
        written.append({"key": key, "value": value, "effect": effect})
    body: dict[str, object] = {
        "cluster": {"source": "Existing", "existing": existing},
        "nodePools": [{"name": "gpus", "className": "h100", "nodeCount": nodes}],
        **({"taints": written} if written else {}),
        **spec,
    }
    return document("InferenceCluster", name, body, labels=labels or {})


def deployment(
    name: str,
    replicas: int = 1,
    *,
    image: str = "vllm:1",
    count: int = 8,
    namespace: str = "ml",
    labels: dict[str, str] | None = None,
    cache: str = "",
    tolerations: Sequence[dict[str, str]] = (),
    gap: bool = False,
) -> dict[str, object]:
    """Return a deployment of one whole-node engine."""
    pod = {"spec": {"containers": [{"name": "engine", "image": image}]}}
    request = {"name": "gpu", "count": count, "selectors": [{"cel": BIG.format(70)}]}
    spec: dict[str, object] = {
        "engines": [{"name": "main", "members": [{"nodeSelector": {"devices": [request]}, "template": pod}]}],
        **({"modelCacheRef": {"name": cache}} if cache else {}),
        **({"tolerations": list(tolerations)} if tolerations else {}),
    }
    body = {
        "replicas": replicas,
        "template": {"metadata": {"labels": {"app": name} if labels is None else labels}, "spec": spec},
        **({"surge": {"allowGap": True}} if gap else {}),
    }
    return document("ModelDeployment", name, body, namespace=namespace)


def with_field(manifest: Mapping[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return a manifest with one field set; ``path`` has dots."""
    made: dict[str, Any] = copy.deepcopy(dict(manifest))
    *holders, last = path.split(".")
    holder: Any = made
    for part in holders:
        holder = holder[int(part)] if part.isdecimal() else holder.setdefault(part, {})
    holder[last] = value
    return made


def cache(
    name: str, *, revision: str = "main", selector: dict[str, str] | None = None, namespace: str = "ml"
) -> dict[str, object]:
    """Return a cache."""
    body: dict[str, object] = {
        "source": "HuggingFace",
        "huggingFace": {"repo": "org/model", "revision": revision, "sizeGiB": 10},
        **({"clusterSelector": {"matchLabels": selector}} if selector is not None else {}),
    }
    return document("ModelCache", name, body, namespace=namespace)


def service(name: str, *groups: tuple[int, dict[str, str]], namespace: str = "ml") -> dict[str, object]:
    """Return a service of weighted groups."""
    endpoints = [{"weight": weight, "selector": {"matchLabels": labels}} for weight, labels in groups]
    return document("ModelService", name, {"endpoints": endpoints}, namespace=namespace)


def external(name: str, url: str = "https://api.example.com/", **labels: str) -> dict[str, object]:
    """Return an endpoint outside the fleet."""
    return document("ModelEndpoint", name, {"url": url, "rewritePath": "/"}, namespace="ml", labels=labels)


H100 = document(
    "InferenceClass",
    "h100",
    {
        "devices": [
            {
                "name": "gpu",
                "driver": "gpu.nvidia.com",
                "deviceClassName": "gpu.nvidia.com",
                "count": 8,
                "capacity": {"memory": {"value": "80Gi"}},
            }
        ]
    },
)
GATEWAY = document(
    "InferenceGateway", "default", {"backend": "Traefik", "traefik": {"version": "40.2.0"}}, api=MODELPLANE
)


def fleet(*documents: dict[str, object], doors: Iterable[str] = (), **environment: object) -> Fleet:
    """Load an environment; ``doors`` are its front doors."""
    spec: dict[str, object] = {"frontDoors": list(doors), **environment}
    files: dict[str, list[dict[str, object]]] = {
        "environment.yaml": [document("Environment", "dev", spec)],
        "platform/all.yaml": [H100, GATEWAY],
    }
    for each in documents:
        metadata = each["metadata"]
        assert isinstance(metadata, dict)
        space = metadata.get("namespace")
        files.setdefault(f"models/{space}/all.yaml" if space else "platform/all.yaml", []).append(each)
    loaded = load_fleet((path, yaml.safe_dump_all(each).encode()) for path, each in files.items())
    return loaded.raise_if_errors()


@dataclass
class World:
    """Manifests, what exists, and what has been planned last."""

    fleet: Fleet
    existing: Existing = field(default_factory=Existing)
    changes: PlatformChanges = NO_CHANGES
    held: frozenset[tuple[str, str]] = frozenset()

    def schedule(self) -> Schedule:
        """Schedule what exists."""
        snapshot = build_snapshot(
            self.fleet,
            self.existing,
            changes=self.changes,
            observation=None,
            now=datetime(2026, 1, 1, tzinfo=UTC),
            held=self.held,
        )
        return schedule(snapshot)

    def target(self) -> Lock:
        """Plan the target, and keep what the schedule says about pools that shrink, as the driver does."""
        made = self.schedule()
        shrinking = {(each.cluster, each.pool): frozenset(each.excess) for each in made.shrinking}
        self.changes = replace(self.changes, shrinking=shrinking)
        return target_lock(self.fleet, made, self.existing, berth="1.0", changes=self.changes)

    def step(self, kind: StepKind, target: Lock | None = None) -> Step | None:
        """Make one step from what exists now."""
        return next_step(kind, self.existing, target or self.target(), self.fleet, changes=self.changes)

    def apply(
        self,
        step: Step | None,
        *,
        failing: Collection[str] = (),
        unbuilt: Collection[str] = (),
        shut: Collection[str] = (),
        silent: Collection[str] = (),
    ) -> None:
        """Apply a step.

        ``failing`` replicas (``deployment@cluster/index``) do not come up, ``unbuilt`` ones were never begun, and front
        doors on the clusters ``shut`` get no address. Front doors that are ``silent`` keep what they have.
        """
        if step is None:
            return
        after = arrived(self.existing, step.lock)
        replicas = {}
        for identity, each in after.replicas.items():
            short = f"{identity.deployment}@{identity.cluster}/{identity.index}"
            before = self.existing.replicas.get(identity)
            if short in unbuilt:
                if before is not None:
                    replicas[identity] = before
                continue
            same = before is not None and before.entry.shape == each.entry.shape
            ready = before.ready if before is not None and same and step.kind is not StepKind.BUILD else True
            ready = ready and short not in failing
            replicas[identity] = replace(each, ready=ready, failure="" if ready else "it does not come up")
        clusters = {name: replace(each, gateway_address=f"gateway.{name}") for name, each in after.clusters.items()}
        routes = {
            (identity.namespace, each.entry.name): ExistingEndpoint(identity.namespace, each.entry.name, identity)
            for identity, each in replicas.items()
            if each.entry.phase is not Phase.STARTING
        }
        doors = {
            name: replace(each, address=_address(name, shut), ready=name not in shut)
            for name, each in after.front_doors.items()
        } | {name: each for name, each in self.existing.front_doors.items() if name in silent}
        self.existing = replace(
            after,
            replicas=replicas,
            clusters=clusters,
            endpoints={**after.endpoints, **routes},
            front_doors=doors,
            pools=registered_pools(step.lock, self.fleet),
        )

    def up(self, *, failing: Collection[str] = (), shut: Collection[str] = ()) -> list[StepKind]:
        """Plan and apply all steps, as the driver does; return those that there were."""
        target = self.target()
        done = []
        for kind in StepKind:
            step = self.step(kind, target)
            if step is not None:
                self.apply(step, failing=failing, shut=shut)
                done.append(kind)
        return done

    def phases(self) -> dict[str, Phase]:
        """Return the phase of every replica that exists, in short."""
        return {short(identity): each.entry.phase for identity, each in sorted(self.existing.replicas.items())}

    def backends(self, service_name: str = "chat") -> dict[str, int]:
        """Return where a service leads: replicas in short, or external endpoints by name, with weights."""
        names = {each.entry.name: short(identity) for identity, each in self.existing.replicas.items()}
        entry = self.existing.services["ml", service_name].entry
        return {names.get(each.endpoint, each.endpoint): each.weight for each in entry.backends}


def registered_pools(lock: Lock, fleet: Fleet) -> dict[tuple[str, str], HeldPool]:
    """Return the pools as the program registers them: as the lock holds them, else as the manifests say."""
    found = {}
    for entry in lock.platform.clusters:
        args = ClusterArgs.from_spec(fleet, entry.name, release=entry.release, stack="dev", held=entry.held)
        for facts in args.pools:
            props = facts.props()
            fields = {key: props[key] for key in ("pool", "className", "nodes", "minNodes", "maxNodes", "devices")}
            found[entry.name, facts.pool] = HeldPool.from_json(fields)
    return found


def _address(door: str, shut: Collection[str]) -> str | None:
    return None if door in shut else f"{door}.example.com"


def short(replica: ReplicaId) -> str:
    """Return ``deployment@cluster/index``."""
    return f"{replica.deployment}@{replica.cluster}/{replica.index}"


def phases_of(step: Step | None) -> dict[str, Phase]:
    """Return the phases of a step's lock, in short."""
    assert step is not None
    return {short(identity): entry.phase for identity, entry, _ in step.lock.replicas()}
