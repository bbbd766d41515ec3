"""What a program registers, derived from its lock: the components with their true descriptions, and a few children.

The fake engine needs no SDK and no network for it, so a whole run of the driver takes milliseconds. The descriptions
come from the components' own arguments; ``tests/unit/driver/test_fake_runner.py`` compares all of it with what the real
program registers: every component is there with the same inputs and outputs, and every child here is one there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from components.api.fleet import Fleet
from components.checks.check_lock import footprint
from components.clusters.contract import ClusterArgs
from components.clusters.eks.facts import STORAGE_CLASS
from components.clusters.existing.args import ExistingClusterArgs
from components.clusters.kubeconfig import parse_kubeconfig
from components.frontdoor.endpoint import Address, EndpointArgs, backend_name
from components.frontdoor.gateway import FrontDoorArgs
from components.frontdoor.service import ServiceArgs, ServiceBackend, service_address
from components.labels import Label
from components.lock import ClusterEntry, EngineShape, Lock, Phase, ReplicaEntry, ReplicaShape, ServiceEntry
from components.models.cache import CacheArgs
from components.models.namespace import NamespaceArgs
from components.models.replica import ReplicaArgs
from components.models.routing import replica_path
from components.naming import CacheId, ReplicaId, StackName, cache_claim_name
from components.serving.catalogue import load_release
from components.serving.stack import ServingStackArgs
from stacks.rehearsal import simulated_server
from stacks.shard import Shard

UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
STACK_TYPE: Final = "pulumi:pulumi:Stack"
_STORAGE: Final = {"EKS": STORAGE_CLASS}
"""The storage class that a source offers whatever its manifest says."""


Key = tuple[str, str]
"""Type and logical name of a resource."""


@dataclass(frozen=True, slots=True)
class Registration:
    """One resource as a program registers it; ``parent``, ``provider`` and ``needs`` are URNs.

    ``derived`` are outputs beside the inputs; those of a component are known once ``rests_on`` is made.
    """

    urn: str
    type: str
    name: str
    parent: str
    inputs: Mapping[str, Any]
    custom: bool = False
    derived: Mapping[str, Any] = field(default_factory=dict)
    rests_on: Key | None = None
    provider: str = ""
    needs: tuple[str, ...] = ()
    protect: bool = False
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Registered:
    """What one run of a program registers, parents and dependencies first, and the outputs of the stack."""

    resources: tuple[Registration, ...]
    outputs: Mapping[str, Any]


def register(
    fleet: Fleet,
    lock: Lock,
    shard: Shard,
    *,
    simulated: bool,
    gateways: Mapping[str, str],
    staged: Iterable[str] = (),
    secrets: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    addresses: Mapping[str, str] = MappingProxyType({}),
) -> Registered:
    """Return what the program registers for ``shard``.

    ``gateways``, ``staged`` and ``secrets`` are what it is told; ``addresses`` are those that gateways have by now.
    """
    scene = _Scene(fleet, lock, shard, gateways, frozenset(staged), secrets, addresses)
    for entry in lock.platform.clusters:
        if shard.holds(entry.name):
            scene.cluster(entry)
    scene.namespaces()
    scene.caches()
    scene.replicas()
    if shard.routes:
        for door in lock.platform.front_doors:
            if shard.holds(door):
                scene.front_door(door)
    outputs = {
        "schema": 1,
        "environment": fleet.name,
        "simulated": simulated,
        "platformDigest": shard.platform_digest(fleet),
    }
    return Registered(tuple(scene.made), outputs)


def with_address(address: str) -> dict[str, Any]:
    """Return the status of a gateway with an address."""
    return {"addresses": [{"value": address}]}


def addresses_in(resources: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the addresses of the gateways in a state, by their names."""
    return {
        each["urn"].rpartition("::")[2]: each["outputs"]["status"]["addresses"][0]["value"]
        for each in resources
        if each["type"] == _GATEWAY
    }


@dataclass(slots=True)
class _Scene:
    fleet: Fleet
    lock: Lock
    shard: Shard
    gateways: Mapping[str, str]
    staged: frozenset[str]
    secrets: Mapping[str, Mapping[str, str]]
    addresses: Mapping[str, str]
    made: list[Registration] = field(default_factory=list)
    urns: dict[Key, str] = field(default_factory=dict)
    workloads: dict[ReplicaId, list[Key]] = field(default_factory=dict)

    def component(self, type_: str, name: str, inputs: Mapping[str, Any], **fields: Any) -> Key:
        """Register a component, a child of the stack."""
        key = (f"berth:index:{type_}", name)
        return self._add(key, urn_of(self.shard.stack, *key), stack_urn(self.shard.stack), inputs, **fields)

    def child(
        self,
        above: Key,
        role: str,
        type_: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        needs: Iterable[Key] = (),
        **fields: Any,
    ) -> Key:
        """Register what is under a component."""
        key = (type_, f"{above[1]}-{role}")
        urn = urn_of(self.shard.stack, *key, above=above[0])
        fields["needs"] = tuple(self.urns[each] for each in needs)
        return self._add(key, urn, self.urns[above], inputs or {}, custom=True, **fields)

    def object(
        self, above: Key, role: str, type_: str, cluster: str, *, needs: Iterable[Key] = (), **fields: Any
    ) -> Key:
        """Register what is on a cluster."""
        provider = self.urns[_PROVIDER, f"{cluster}-kubernetes"]
        return self.child(above, role, type_, needs=[*self.ready(cluster), *needs], provider=provider, **fields)

    def _add(self, key: Key, urn: str, parent: str, inputs: Mapping[str, Any], **fields: Any) -> Key:
        known = {name: value for name, value in inputs.items() if value is not None}  # as the SDK sends them
        self.urns[key] = urn
        self.made.append(Registration(urn, *key, parent, known, **fields))
        return key

    def ready(self, cluster: str) -> tuple[Key, ...]:
        found = self.fleet.clusters.get(cluster)
        return ((_CLUSTER, f"{cluster}-cluster"),) if found is not None and found.source == "EKS" else ()

    def cluster(self, entry: ClusterEntry) -> None:
        name, manifest = entry.name, self.fleet.clusters[entry.name]
        args = ClusterArgs.from_spec(self.fleet, name, release=entry.release, stack=str(self.shard.stack))
        owned = manifest.source == "EKS"
        source: Any = manifest.spec.cluster
        storage = _STORAGE.get(manifest.source)
        if not owned and source.existing.cache:
            storage = source.existing.cache.storage_class_name
        made = (_CLUSTER, f"{name}-cluster")
        address = f"https://{name}.eks.test" if owned else self.server(name)
        facts = {"endpoint": address, "storageClass": storage, "clusterIdentifier": args.identifier}
        component = self.component(
            f"{manifest.source if not owned else 'Eks'}Cluster",
            name,
            args.props(),
            derived={key: value for key, value in facts.items() if value is not None},
            rests_on=made if owned else None,
        )
        if owned:
            what = {"name": name, "version": args.kubernetes_version}
            self.child(component, "cluster", _CLUSTER, inputs=what, protect=args.protect)
        self.child(component, "kubernetes", _PROVIDER, needs=self.ready(name))
        for pool in args.pools:
            mine = self.component("Pool", f"{name}/{pool.pool}", pool.props())
            if owned:
                size = {"accelerator": pool.accelerator, "maxSize": pool.max_nodes}
                self.child(mine, "nodes", _NODES, inputs=size, needs=self.ready(name), protect=args.protect)
        self.serving(entry, args)

    def server(self, cluster: str) -> str:
        secret, key = ExistingClusterArgs.secret_of(self.fleet, cluster)
        text = self.secrets.get(secret, {}).get(key)
        return parse_kubeconfig(text).endpoint if text else simulated_server(cluster)

    def serving(self, entry: ClusterEntry, args: ClusterArgs) -> None:
        release = load_release(entry.release)
        stack = ServingStackArgs(
            cluster=entry.name, environment=self.fleet.name, release=release, pools=bool(args.pools)
        )
        name = f"{entry.name}/serving"
        address = {"gatewayAddress": self.reached(entry.name)} if args.pools else {}
        rests_on = (_GATEWAY, f"{name}-gateway") if args.pools else None
        component = self.component("ServingStack", name, stack.props(), derived=address, rests_on=rests_on)
        self.object(component, "system-namespace", _SYSTEM, entry.name)
        if args.pools:
            self.gateway(component, entry.name, needs=[(_SYSTEM, f"{name}-system-namespace")])

    def reached(self, cluster: str) -> str:
        return self.address(f"{cluster}/serving-gateway") or self.gateways.get(cluster, "")

    def address(self, gateway: str) -> str:
        return self.addresses.get(gateway, f"{gateway.replace('/', '-')}.lb.test")

    def gateway(self, above: Key, cluster: str, **fields: Any) -> None:
        status = {"status": with_address(self.address(f"{above[1]}-gateway"))}
        self.object(above, "gateway", _GATEWAY, cluster, derived=status, **fields)

    def namespaces(self) -> None:
        for namespace, part in self.lock.namespaces.items():
            for entry in part.namespaces:
                if self.shard.holds(entry.cluster):
                    args = NamespaceArgs(
                        cluster=entry.cluster, namespace=namespace, environment=self.fleet.name, created=entry.created
                    )
                    component = self.component("Namespace", f"{entry.cluster}/{namespace}", args.props())
                    if entry.created:
                        self.object(component, "namespace", _SPACE, entry.cluster, retain=True)

    def space(self, cluster: str, namespace: str) -> tuple[Key, ...]:
        key = (_SPACE, f"{cluster}/{namespace}-namespace")
        return (key,) if key in self.urns else ()

    def caches(self) -> None:
        for identity, entry, shape in self.lock.caches():
            if self.shard.holds(identity.cluster):
                args = CacheArgs(
                    identity=identity, digest=entry.shape, shape=shape, environment=self.fleet.name, storage_class=""
                )
                claim = {"claimName": cache_claim_name(identity)}
                component = self.component("Cache", str(identity), args.props(), derived=claim)
                needs = list(self.space(identity.cluster, identity.namespace))
                size = {"gib": shape.size_gib}
                needs.append(self.object(component, "volume", _VOLUME, identity.cluster, inputs=size, needs=needs))
                if shape.secret and str(identity) not in self.staged:
                    needs.append(self.object(component, "token", _SECRET, identity.cluster, needs=needs))
                what = {"repo": shape.repo}
                self.object(component, "hydrate", _JOB, identity.cluster, inputs=what, needs=needs)

    def replicas(self) -> None:
        copies = {
            (each.namespace, each.cache, each.cluster, entry.shape): each for each, entry, _ in self.lock.caches()
        }
        for identity, entry, shape in self.lock.replicas():
            if self.shard.holds(identity.cluster):
                self.replica(identity, entry, shape, copies)

    def replica(
        self,
        identity: ReplicaId,
        entry: ReplicaEntry,
        shape: ReplicaShape,
        copies: Mapping[tuple[str, str, str, str], CacheId],
    ) -> None:
        deployment = self.fleet.deployments.get((identity.namespace, identity.deployment))
        limited = self.fleet.caches.get((identity.namespace, shape.cache.name)) if shape.cache else None
        tolerations = deployment.spec.template.spec.tolerations if deployment else ()
        args = ReplicaArgs(
            identity=identity,
            entry=entry,
            shape=shape,
            environment=self.fleet.name,
            tolerations=tuple(each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in tolerations),
            cache_footprint=footprint(self.fleet, limited) if limited else None,
        )
        component = self.component("Replica", str(identity), args.props())
        needs = list(self.space(identity.cluster, identity.namespace))
        if shape.cache:
            staged = copies[identity.namespace, shape.cache.name, identity.cluster, shape.cache.shape]
            needs.append((_JOB, f"{staged}-hydrate"))
        nodes: list[Key] = []
        if self.fleet.clusters[identity.cluster].source == "EKS":
            pools = {member.pool for engine in entry.placement for member in engine.members}
            nodes = [(_NODES, f"{identity.cluster}/{pool}-nodes") for pool in sorted(pools)]
        what = {"shape": entry.shape, "placement": [engine.to_json() for engine in entry.placement]}
        on = identity.cluster
        pool = self.object(component, "pool", _POOL, on, needs=needs)
        self.object(component, "picker", _DEPLOYMENT, on, needs=needs)
        self.object(component, "picker-service", _SERVICE, on, needs=needs)
        made = [
            self.object(
                component, f"workload-{engine.name}", _workload(engine), on, inputs=what, needs=[*needs, *nodes]
            )
            for engine in shape.engines
        ]
        made.append(self.object(component, "route", _ROUTE, on, needs=[*needs, pool]))
        self.workloads[identity] = made

    def front_door(self, name: str) -> None:
        gateway = self.fleet.gateways["default"]
        traefik: Any = gateway.spec.traefik
        args = FrontDoorArgs(cluster=name, gateway=gateway.name, version=traefik.version, environment=self.fleet.name)
        door = f"{name}/front-door"
        address = self.address(f"{door}-gateway")
        component = self.component(
            "FrontDoor", door, args.props(), derived={"address": address}, rests_on=(_GATEWAY, f"{door}-gateway")
        )
        system = (_SYSTEM, f"{name}/serving-system-namespace")
        protect = self.fleet.environment.spec.protect and not self.fleet.clusters[name].spec.removing
        self.gateway(component, name, needs=[system], protect=protect)
        for namespace, part in self.lock.namespaces.items():
            routes = self.endpoints(name, namespace)
            for service in part.services:
                self.service(name, namespace, service, routes, address)

    def endpoints(self, door: str, namespace: str) -> dict[str, Key]:
        routes: dict[str, Key] = {}
        part = self.lock.namespaces[namespace]
        for entry in sorted(part.replicas, key=lambda each: (each.deployment, each.cluster, each.index)):
            if entry.phase is Phase.STARTING:
                continue
            identity = entry.id_in(namespace)
            labels = {
                **entry.labels,
                Label.DEPLOYMENT.value: identity.deployment,
                Label.CLUSTER.value: identity.cluster,
                Label.REPLICA_INDEX.value: str(identity.index),
            }
            host = self.reached(identity.cluster)
            if not self.shard.holds(identity.cluster):
                host = self.gateways.get(identity.cluster, UNKNOWN)
            args = EndpointArgs(
                front_door=door,
                namespace=namespace,
                endpoint=entry.name,
                environment=self.fleet.name,
                address=Address("http", host, 80),
                replica=str(identity),
                rewrite_path=replica_path(namespace, entry.name),
                labels=labels,
            )
            behind = [(_GATEWAY, f"{identity.cluster}/serving-gateway")] if self.shard.holds(identity.cluster) else []
            routes[entry.name] = self.endpoint(args, host, [*behind, *self.workloads.get(identity, ())])
        for external in part.endpoints:
            labels = dict(self.fleet.endpoints[namespace, external.name].metadata.labels)
            args = EndpointArgs(
                front_door=door,
                namespace=namespace,
                endpoint=external.name,
                environment=self.fleet.name,
                address=Address.parse(external.url),
                url=external.url,
                rewrite_path=external.rewrite_path,
                labels=labels,
            )
            routes[external.name] = self.endpoint(args, external.url, [])
        return routes

    def endpoint(self, args: EndpointArgs, host: str, needs: list[Key]) -> Key:
        door, outputs = args.front_door, {"backendName": backend_name(args.endpoint)}
        name = f"{door}/{args.namespace}/{args.endpoint}"
        component = self.component("Endpoint", name, args.props(), derived=outputs)
        needs = [*self.space(door, args.namespace), *needs]
        service = self.object(component, "service", _SERVICE, door, needs=needs)
        return self.object(component, "slice", _SLICE, door, inputs={"host": host}, needs=[*needs, service])

    def service(
        self,
        door: str,
        namespace: str,
        entry: ServiceEntry,
        routes: Mapping[str, Key],
        address: str,
    ) -> None:
        args = ServiceArgs(
            front_door=door,
            namespace=namespace,
            service=entry.name,
            environment=self.fleet.name,
            backends=tuple(
                ServiceBackend(endpoint=each.endpoint, weight=each.weight, backend="", port=80)
                for each in entry.backends
            ),
        )
        gateway = (_GATEWAY, f"{door}/front-door-gateway")
        outputs = {"address": service_address(address, args)}
        name = f"{door}/{namespace}/{entry.name}"
        component = self.component("Service", name, args.props(), derived=outputs, rests_on=gateway)
        leads = [routes[each.endpoint] for each in args.backends]
        what = {"to": args.props()["backends"]}
        self.object(
            component, "route", _ROUTE, door, inputs=what, needs=[*self.space(door, namespace), gateway, *leads]
        )


_CLUSTER: Final = "aws:eks/cluster:Cluster"
_NODES: Final = "aws:eks/nodeGroup:NodeGroup"
_GATEWAY: Final = "kubernetes:gateway.networking.k8s.io/v1:Gateway"
_ROUTE: Final = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute"
_SPACE: Final = "kubernetes:core/v1:NamespacePatch"
_VOLUME: Final = "kubernetes:core/v1:PersistentVolumeClaim"
_JOB: Final = "kubernetes:batch/v1:Job"
_SLICE: Final = "kubernetes:discovery.k8s.io/v1:EndpointSlice"


_PROVIDER: Final = "pulumi:providers:kubernetes"
_SYSTEM: Final = "kubernetes:core/v1:Namespace"
_SECRET: Final = "kubernetes:core/v1:Secret"
_SERVICE: Final = "kubernetes:core/v1:Service"
_DEPLOYMENT: Final = "kubernetes:apps/v1:Deployment"
_POOL: Final = "kubernetes:inference.networking.k8s.io/v1:InferencePool"


def urn_of(stack: StackName, type_: str, name: str, *, above: str = "") -> str:
    """Return a URN; ``above`` is the type of the component that it is under."""
    return f"urn:pulumi:{stack}::berth::{above + '$' if above else ''}{type_}::{name}"


def stack_urn(stack: StackName) -> str:
    """Return the URN of a stack."""
    return urn_of(stack, STACK_TYPE, f"berth-{stack}")


def _workload(engine: EngineShape) -> str:
    gang = sum(member.pods for member in engine.members) > 1
    return "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet" if gang else _DEPLOYMENT
