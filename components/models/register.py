"""Turns manifests into resources: the one place that knows which class stands for which kind."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import pulumi
from pulumi_kubernetes import apps, batch, core, discovery, rbac, resource
from pulumi_kubernetes.apiextensions import CustomResource

from components.base import Component
from components.clusters.contract import ClusterOutputs
from components.models.manifest import Manifest

_CLASSES: Final[Mapping[tuple[str, str], Callable[..., pulumi.CustomResource]]] = {
    ("apps/v1", "Deployment"): apps.v1.Deployment,
    ("batch/v1", "Job"): batch.v1.Job,
    ("discovery.k8s.io/v1", "EndpointSlice"): discovery.v1.EndpointSlice,
    ("rbac.authorization.k8s.io/v1", "Role"): rbac.v1.Role,
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): rbac.v1.RoleBinding,
    ("resource.k8s.io/v1", "ResourceClaimTemplate"): resource.v1.ResourceClaimTemplate,
    ("v1", "ConfigMap"): core.v1.ConfigMap,
    ("v1", "PersistentVolumeClaim"): core.v1.PersistentVolumeClaim,
    ("v1", "Service"): core.v1.Service,
    ("v1", "ServiceAccount"): core.v1.ServiceAccount,
}
"""By apiVersion and kind; whatever is not listed is a custom object."""


def register(
    component: Component,
    manifests: Iterable[Manifest],
    *,
    cluster: ClusterOutputs,
    depends_on: Callable[[Manifest], Sequence[pulumi.Resource]],
) -> dict[str, pulumi.CustomResource]:
    """Register every manifest as a child of ``component`` on ``cluster`` and return the resources by role.

    Manifests come in an order in which each stands behind those it names in ``after``.
    """
    made: dict[str, pulumi.CustomResource] = {}
    for manifest in manifests:
        before = [*depends_on(manifest), *(made[role] for role in manifest.after)]
        made[manifest.role] = register_one(
            manifest, component.child(manifest.role), options_for(component, manifest, cluster, before)
        )
    return made


def register_one(manifest: Manifest, name: str, options: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """Register one manifest under a logical name."""
    body = dict(manifest.body)
    api_version, kind = body.pop("apiVersion"), body.pop("kind")
    known = _CLASSES.get((api_version, kind))
    if known is None:
        return CustomResource(name, api_version=api_version, kind=kind, opts=options, **body)
    return known(name, opts=options, **{_ARGUMENTS.get(key, key): value for key, value in body.items()})


_ARGUMENTS: Final = {"roleRef": "role_ref", "addressType": "address_type", "stringData": "string_data"}
"""Top-level fields whose argument has another spelling in Python."""


def options_for(
    component: Component,
    manifest: Manifest,
    cluster: ClusterOutputs,
    depends_on: Sequence[pulumi.Resource],
    **options: Any,
) -> pulumi.ResourceOptions:
    """Return the options of an object that owns nothing outside its cluster, and so goes with it."""
    if manifest.minutes:
        waits = f"{manifest.minutes}m"
        options["custom_timeouts"] = pulumi.CustomTimeouts(create=waits, update=waits)
    options.setdefault("deleted_with", cluster.deleted_with)
    return component.options(provider=cluster.provider, depends_on=depends_on, **options)
