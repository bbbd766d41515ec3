"""Reads one cluster: each kind of object by itself, so that what is forbidden or missing hides nothing else."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, TypeVar

from automation.observe.api import ClusterApi, NoAnswer
from automation.observe.facts import (
    Claim,
    ClusterFacts,
    Fact,
    Node,
    Pod,
    Published,
    Templates,
    newest_slices,
    slice_devices,
)
from components.labels import Label

_T = TypeVar("_T")

NODES: Final = "/api/v1/nodes"
PODS: Final = "/api/v1/pods"
SLICES: Final = "/apis/resource.k8s.io/v1/resourceslices"
CLAIMS: Final = "/apis/resource.k8s.io/v1/resourceclaims"
TEMPLATES: Final = "/apis/resource.k8s.io/v1/resourceclaimtemplates"


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def read_cluster(api: ClusterApi, *, environment: str, clock: Callable[[], datetime] = utc_now) -> ClusterFacts:
    """Read a cluster; raises NoAnswer when its server does not answer, or does not know who asks.

    Claims come before the templates and pods that explain them: a pod of ours that starts in between is known then,
    and its claim not yet seen, so that it is never taken for somebody else's.
    """

    def fact(read: Callable[[], _T]) -> Fact[_T]:
        at = clock()
        try:
            return Fact(at, read())
        except NoAnswer as error:
            if error.final:
                raise
            return Fact(at, trouble=error)

    return ClusterFacts(
        version=fact(lambda: str(api.get("/version").get("gitVersion") or "")),
        ready=fact(lambda: is_ready(api)),
        nodes=fact(lambda: tuple(map(Node.read, api.items(NODES)))),
        devices=fact(lambda: read_devices(api)),
        claims=fact(lambda: tuple(map(Claim.read, api.items(CLAIMS)))),
        templates=fact(lambda: _templates(api, environment)),
        pods=fact(lambda: tuple(pod for raw in api.items(PODS) if (pod := Pod.read(raw)).templates)),
    )


def read_devices(api: ClusterApi) -> tuple[Published, ...]:
    """Read every device that a driver publishes. Raises NoAnswer."""
    return tuple(device for raw in newest_slices(api.items(SLICES)) for device in slice_devices(raw))


def is_ready(api: ClusterApi) -> bool:
    """Return whether an API server says of itself that it is ready. Raises NoAnswer."""
    try:
        return api.text("/readyz").strip() == "ok"
    except NoAnswer as error:
        if error.final or error.forbidden:
            raise
        return False


def _templates(api: ClusterApi, environment: str) -> Templates:
    """Read which replicas made claim templates; a template that names no owner is nobody's."""
    replicas = {}
    for raw in api.items(TEMPLATES, labels=f"{Label.ENVIRONMENT.value}={environment}"):
        metadata = raw["metadata"]
        owner = (metadata.get("annotations") or {}).get(Label.OWNER.value)
        if owner:
            replicas[metadata["namespace"], metadata["name"]] = owner
    return Templates(replicas)
