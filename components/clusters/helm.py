"""Install a Helm chart as part of a component.

Charts become Helm releases and not rendered objects, because hooks of several of them do real work (certificates,
clean-up) that rendering would drop. The release's name is fixed, and Helm waits until its pods are ready.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pulumi

from components.base import Component
from components.clusters.chart import Chart

if TYPE_CHECKING:
    import pulumi_kubernetes as kubernetes

_TIMEOUT_SECONDS = 600
_MAX_HISTORY = 3
"""Releases that Helm keeps for a roll-back by hand; each is a Secret of up to a megabyte."""


def install(
    component: Component,
    role: str,
    chart: Chart,
    *,
    provider: "kubernetes.Provider",
    values: Mapping[str, Any],
    depends_on: Sequence[pulumi.Resource] = (),
    deleted_with: pulumi.Resource | None = None,
    create_namespace: bool = True,
) -> "kubernetes.helm.v3.Release":
    """Register the release of ``chart`` as the child ``role`` of ``component``.

    ``deleted_with`` is for charts that own nothing outside the cluster: they vanish with it and are not taken down one
    by one.
    """
    import pulumi_kubernetes as kubernetes  # noqa: PLC0415 (a quarter of a second, only where a cluster is built)

    return kubernetes.helm.v3.Release(
        component.child(role),
        name=chart.release,
        chart=chart.reference,
        version=chart.version,
        namespace=chart.namespace,
        create_namespace=create_namespace,
        repository_opts=None if chart.is_oci else kubernetes.helm.v3.RepositoryOptsArgs(repo=chart.repository),
        values=dict(values),
        max_history=_MAX_HISTORY,
        timeout=_TIMEOUT_SECONDS,
        opts=component.options(provider=provider, depends_on=depends_on, deleted_with=deleted_with),
    )
