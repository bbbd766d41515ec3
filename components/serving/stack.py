"""ServingStack: what a release installs on one cluster, in order, and the gateway in front of its replicas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.base import Component
from components.clusters.contract import ClusterOutputs
from components.clusters.helm import install
from components.errors import ConfigError
from components.naming import SYSTEM_NAMESPACE
from components.serving.catalogue import load_definition
from components.serving.gateway import build_gateway
from components.serving.registry import NO_RULES, Registry
from components.serving.release import Needs, Release, ReleaseComponent

_CRITICAL = ("system-node-critical", "system-cluster-critical")
_QUOTA = "allow-critical-pods"
_EXTENSION = "x-kubernetes-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingStackArgs:
    """A release on a cluster."""

    cluster: str
    environment: str
    release: Release
    pools: bool
    """Whether the cluster has GPU pools; without any it is a front door only and gets no part that serves models."""
    registry: Registry = NO_RULES

    @property
    def parts(self) -> tuple[ReleaseComponent, ...]:
        """The components this cluster gets, each after what it depends on."""
        return self.release.parts_for(pools=self.pools)

    def props(self) -> dict[str, Any]:
        """Return the description that the component keeps in the state."""
        charts = [(part.name, self.registry.chart(part.helm)) for part in self.parts]
        return {
            "cluster": self.cluster,
            "release": self.release.name,
            "components": [
                {
                    "name": name,
                    "chart": chart.name,
                    "version": chart.version,
                    "repository": chart.repository,
                    "namespace": chart.namespace,
                }
                for name, chart in charts
            ],
        }

    @classmethod
    def of_cluster(
        cls, cluster: ClusterOutputs, *, environment: str, release: Release, registry: Registry = NO_RULES
    ) -> "ServingStackArgs":
        """Return what ``release`` means for a cluster.

        Raises ConfigError when the cluster's Kubernetes is older than the release needs.
        """
        unfit = release.unfit(cluster.name, cluster.kubernetes_version, block=cluster.source.lower())
        if unfit is not None:
            raise ConfigError([unfit])
        return cls(
            cluster=cluster.name,
            environment=environment,
            release=release,
            pools=bool(cluster.pools),
            registry=registry,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StackOutputs:
    """What the serving stack gives to what is built on it."""

    stack: pulumi.Resource
    namespace: pulumi.Resource
    """The system namespace, where gateways live."""
    ready: tuple[pulumi.Resource, ...]
    """What replicas, routes and front doors on this cluster depend on; a monitor is not among it."""
    gateway_address: pulumi.Output[str] | None
    """Where the cluster's gateway is reached; None on a cluster that serves no models."""


class ServingStack(Component):
    """The serving stack of one cluster; logical name ``<cluster>/serving``.

    ``last_address`` is where its gateway was reached last. It stands for the address while there is none (a load
    balancer is made anew): no route can lead to nothing, and the state must not forget what routes lead to.
    """

    TYPE = "berth:index:ServingStack"

    def __init__(self, args: ServingStackArgs, *, cluster: ClusterOutputs, last_address: str = "") -> None:
        super().__init__(f"{args.cluster}/serving", args.props(), environment=args.environment)
        self._args, self._cluster = args, cluster
        versions = args.release.constraints.kubernetes
        if versions.too_new(cluster.kubernetes_version):
            pulumi.log.warn(
                f"release {args.release.name} was put together for Kubernetes up to {versions.maximum}; the manifest of"
                f" this cluster says {cluster.kubernetes_version}",
                resource=self,
            )
        definitions = self._definitions()
        built: dict[str, pulumi.Resource] = {}
        for part in args.parts:
            needed = (built[name] for name in part.depends_on)
            built[part.name] = self._part(part, [*cluster.ready, *definitions, *needed])
        namespace = self._namespace("system-namespace", SYSTEM_NAMESPACE, stays_for_load_balancer=False)
        ready = [*definitions, *(built[part.name] for part in args.parts if part.serves), namespace]
        address: pulumi.Output[str] | None = None
        plan = args.release.gateway
        if args.pools or plan.needs is Needs.CLUSTER:
            parts = build_gateway(
                self,
                plan,
                provider=cluster.provider,
                depends_on=[namespace, *(built[name] for name in (plan.provider, *plan.depends_on))],
                deleted_with=cluster.deleted_with,
            )
            ready += [parts.gateway_class, parts.gateway]
            address = parts.gateway.address.apply(lambda found: found or last_address)
        self.stack_outputs = StackOutputs(stack=self, namespace=namespace, ready=tuple(ready), gateway_address=address)
        self.publish(gatewayAddress=address)

    def _definitions(self) -> list[pulumi.Resource]:
        """Register the definitions that no chart brings. They come first: a controller reads them when it starts."""
        import pulumi_kubernetes as kubernetes  # noqa: PLC0415 (a slow SDK, for those who need it)

        made: list[pulumi.Resource] = []
        for definition in self._args.release.definitions:
            if definition.needs is Needs.POOLS and not self._args.pools:
                continue
            document = load_definition(definition)
            metadata = document["metadata"]
            made.append(
                kubernetes.apiextensions.v1.CustomResourceDefinition(
                    self.child(definition.name),
                    metadata=self.metadata(metadata["name"], annotations=metadata.get("annotations")),
                    spec=_as_inputs(document["spec"]),
                    opts=self._options(self._cluster.ready),
                )
            )
        return made

    def _part(self, part: ReleaseComponent, before: Sequence[pulumi.Resource]) -> pulumi.Resource:
        """Register a chart, in a namespace of its own where something must be in it first or be awaited at the end."""
        owned: list[pulumi.Resource] = []
        if part.owns_outside or part.critical_pods:
            owned.append(
                self._namespace(f"{part.name}-namespace", part.namespace, stays_for_load_balancer=part.owns_outside)
            )
        if part.critical_pods:
            owned.append(self._quota(part, owned))
        values = part.values_for(pools=self._args.pools, facts={"driverRoot": self._cluster.driver_root})
        registry = self._args.registry
        return install(
            self,
            part.name,
            registry.chart(part.helm),
            provider=self._cluster.provider,
            values=registry.values(values, part.image_values),
            depends_on=[*before, *owned],
            deleted_with=None if part.owns_outside else self._cluster.deleted_with,
            create_namespace=not owned,
        )

    def _namespace(self, role: str, name: str, *, stays_for_load_balancer: bool) -> pulumi.Resource:
        """Register a namespace. One with load balancers is deleted and awaited, whatever becomes of the cluster."""
        import pulumi_kubernetes as kubernetes  # noqa: PLC0415 (a slow SDK, for those who need it)

        options = (
            self.options(provider=self._cluster.provider, depends_on=self._cluster.ready)
            if stays_for_load_balancer
            else self._options(self._cluster.ready)
        )
        return kubernetes.core.v1.Namespace(self.child(role), metadata=self.metadata(name), opts=options)

    def _quota(self, part: ReleaseComponent, before: Sequence[pulumi.Resource]) -> pulumi.Resource:
        import pulumi_kubernetes as kubernetes  # noqa: PLC0415 (a slow SDK, for those who need it)

        scope: Any = {"operator": "In", "scope_name": "PriorityClass", "values": list(_CRITICAL)}
        return kubernetes.core.v1.ResourceQuota(
            self.child(f"{part.name}-quota"),
            metadata=self.metadata(_QUOTA, namespace=part.namespace),
            spec={"hard": {"pods": str(part.critical_pods)}, "scope_selector": {"match_expressions": [scope]}},
            opts=self._options(before),
        )

    def _options(self, depends_on: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        """Return the options of something that owns nothing outside the cluster."""
        return self.options(
            provider=self._cluster.provider, depends_on=depends_on, deleted_with=self._cluster.deleted_with
        )


def _as_inputs(value: Any) -> Any:
    """Spell a definition's extensions as the provider does: its names hold no dashes, and it puts them back."""
    if isinstance(value, dict):
        names = {key: key.replace("-", "_") if key.startswith(_EXTENSION) else key for key in value}
        return {names[key]: _as_inputs(item) for key, item in value.items()}
    return [_as_inputs(item) for item in value] if isinstance(value, list) else value
