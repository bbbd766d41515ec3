"""Namespace: a namespace on a cluster, and the secrets that its workloads name.

A namespace that Berth created stays when Berth has nothing left in it: deleting one deletes every volume claim in it,
and with them weights and other people's data. So it must be adoptable when Berth comes back, and is applied as a patch,
which creates what is missing and takes over what is there. One that Berth does not create is used as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import pulumi
from pulumi_kubernetes.core.v1 import NamespacePatch, Secret

from components.base import Component
from components.clusters.contract import ClusterOutputs
from components.labels import TAKES_BACK

SecretData = Mapping[str, pulumi.Input[str]]
"""A secret's values by key; they leave this module only as secret Outputs, which the engine encrypts."""

_DOCKER_TYPES: Final = {
    ".dockerconfigjson": "kubernetes.io/dockerconfigjson",
    ".dockercfg": "kubernetes.io/dockercfg",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceArgs:
    """A namespace as the lock has it."""

    cluster: str
    namespace: str
    environment: str
    created: bool = True
    secrets: Mapping[str, SecretData] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    """The secrets that workloads here name and that Berth holds, by name."""

    def props(self) -> dict[str, Any]:
        """Return the description that the component keeps in the state."""
        return {"cluster": self.cluster, "namespace": self.namespace, "created": self.created}


class Namespace(Component):
    """One namespace on a cluster; logical name ``<cluster>/<namespace>``."""

    TYPE = "berth:index:Namespace"

    def __init__(self, args: NamespaceArgs, *, cluster: ClusterOutputs, depends_on: Sequence[pulumi.Resource]) -> None:
        super().__init__(f"{args.cluster}/{args.namespace}", args.props(), environment=args.environment)
        before = [*cluster.ready, *depends_on]
        space = self._namespace(args, cluster, before)
        secrets = [
            self._secret(args, name, data, cluster, [*before, *space]) for name, data in sorted(args.secrets.items())
        ]
        self.ready: tuple[pulumi.Resource, ...] = (*space, *secrets)
        """What workloads in the namespace depend on."""
        self.publish()

    def _namespace(
        self, args: NamespaceArgs, cluster: ClusterOutputs, before: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        if not args.created:
            return []
        options = self.options(provider=cluster.provider, depends_on=before, retain_on_delete=True)
        # A label that another environment's run once set may be set again; nothing else of the namespace is touched.
        metadata: Any = self.metadata(args.namespace, annotations=TAKES_BACK)
        return [NamespacePatch(self.child("namespace"), metadata=metadata, opts=options)]

    def _secret(
        self,
        args: NamespaceArgs,
        name: str,
        data: SecretData,
        cluster: ClusterOutputs,
        before: Sequence[pulumi.Resource],
    ) -> pulumi.Resource:
        kind = next((kind for key, kind in _DOCKER_TYPES.items() if key in data), "Opaque")
        metadata: Any = self.metadata(name, namespace=args.namespace, named_by_others=True)
        return Secret(
            self.child(f"secret-{name}"),
            metadata=metadata,
            type=kind,
            string_data={key: pulumi.Output.secret(value) for key, value in sorted(data.items())},
            opts=self.options(provider=cluster.provider, depends_on=before, deleted_with=cluster.deleted_with),
        )
