"""The gate between a preview and an update: policies, refused deletions, surprises. Nothing passes by accident."""

from collections.abc import Mapping

from automation.engine.events import ResourceStep
from automation.engine.family import SERVING_TYPE
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


def holds_data(step: ResourceStep) -> bool:
    """Whether a resource holds what somebody stored; namespaces of the serving stack hold nobody's."""
    return step.type in HOLDS_DATA and f"{SERVING_TYPE}$" not in step.urn


HOLDS_DATA = frozenset(
    {
        "aws:efs/fileSystem:FileSystem",
        "kubernetes:core/v1:Namespace",
        "kubernetes:core/v1:PersistentVolume",
        "kubernetes:core/v1:PersistentVolumeClaim",
    }
)
"""Types whose deletion loses what somebody stored: weights, and whatever else lies in a namespace."""
