"""Which Kubernetes the clusters have that Berth made, and which of them an update would give another one.

The control plane's own resource says it, as its cloud said last: what the component says of itself is what was asked
for, also when the upgrade failed. A cluster without a control plane yet has none here, nor has one that Berth did not
make.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from automation.engine.changes import CLUSTER_IDENTITIES, POOL_IDENTITIES
from automation.engine.checkpoint import Checkpoint, Resource
from automation.engine.events import Op
from automation.engine.family import POOL_TYPE, Family
from automation.engine.runner import Preview
from components.checks.versions import numbers_of


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A control plane that an update would give another version, in place."""

    cluster: str
    before: str
    after: str


def control_plane_version(checkpoint: Checkpoint, cluster: Resource) -> str:
    """Return what the control plane under a cluster's component has; empty where nothing says."""
    return _said(part for part in checkpoint.subtree(cluster.urn) if part.type in CLUSTER_IDENTITIES)


def pool_versions(checkpoint: Checkpoint, cluster: str) -> Mapping[str, str]:
    """Return what the nodes of a cluster's pools have, by pool; without those of which nothing says."""
    found = {}
    for pool in checkpoint.of_type(POOL_TYPE):
        if pool.inputs.get("cluster") == cluster:
            nodes = (part for part in checkpoint.subtree(pool.urn) if part.type in POOL_IDENTITIES)
            found[str(pool.inputs["pool"])] = _said(nodes)
    return {pool: version for pool, version in sorted(found.items()) if version}


def version_changes(preview: Preview, checkpoint: Checkpoint | None = None) -> tuple[VersionChange, ...]:
    """Return the control planes to which ``preview`` would give another version; one that is made anew is none.

    Where the preview looked at the real resources, what each has now is what its cloud says.
    """
    family = Family([*(checkpoint or ()), *preview.steps])
    found = []
    for step in preview.steps:
        before, after = step.old_inputs.get("version"), step.inputs.get("version")
        if step.type in CLUSTER_IDENTITIES and step.op is Op.UPDATE and _is_other(before, after):
            found.append(VersionChange(family.cluster(step.urn), str(before), str(after)))
    return tuple(sorted(found, key=lambda each: each.cluster))


def _is_other(before: Any, after: Any) -> bool:
    return isinstance(before, str) and isinstance(after, str) and numbers_of(before) != numbers_of(after)


def _said(parts: Iterable[Resource]) -> str:
    """Return the first version that some resources give; what is unknown is none."""
    return next((version for part in parts for version in _versions(part)), "")


def _versions(part: Resource) -> Iterator[str]:
    """Yield the versions of one resource, what its cloud says first."""
    for properties in (part.outputs, part.inputs):
        version = properties.get("version")
        if isinstance(version, str) and numbers_of(version):
            yield version
