"""The gate between a preview and an update: policies, refused deletions, surprises. Nothing passes by accident."""

from collections.abc import Iterable, Mapping

from automation.engine.runner import Preview
from components.errors import ResourceFailed
from components.naming import StackName


def require_passed(previews: Mapping[StackName, Preview]) -> None:
    """Raise PolicyViolation or ResourceFailed with every reason unless all previews may be applied."""
    for preview in previews.values():
        _require_one(preview)


def _require_one(preview: Preview) -> None:
    if preview.policies.blocking:
        preview.require_ok()
    if preview.refused:
        names = ", ".join(urn.rpartition("::")[2] for urn in preview.refused)
        raise ResourceFailed(
            f"protected resources would be deleted or replaced: {names}",
            consequence="Nothing was changed.",
            help="undo the edit, or set `protect: false` in the Environment and apply that first",
        )
    preview.require_ok()


def data_losses(previews: Iterable[Preview]) -> tuple[str, ...]:
    """Return the URNs of resources that hold data and would be deleted or replaced."""
    return tuple(
        step.urn
        for preview in previews
        for step in preview.steps
        if step.type in HOLDS_DATA and (step.op.removes or step.op.replaces) and not step.retained
    )


HOLDS_DATA = frozenset(
    {
        "aws:efs/fileSystem:FileSystem",
        "kubernetes:core/v1:Namespace",
        "kubernetes:core/v1:PersistentVolume",
        "kubernetes:core/v1:PersistentVolumeClaim",
    }
)
"""Types whose deletion loses what somebody stored: weights, and whatever else lies in a namespace."""
