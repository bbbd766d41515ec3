"""Field managers of adopted Kubernetes objects: whoever made an object goes on changing it.

The provider draws a manager for every object that it makes, keeps the name in the state, and applies under it. Of an
object whose creation was cut off the state has none. Reading it makes the provider draw another, and from then on the
API server refuses every change: the fields belong to the first one (pulumi-kubernetes 4.25.0 with server-side apply).
Who that was stands in the object itself.

Limit: an object that was adopted while its cluster did not answer is read by a later update, and keeps the wrong one.
"""

import copy
from collections.abc import Collection, Mapping
from typing import Any, Final

from automation.engine.checkpoint import Checkpoint

_KEY: Final = "__fieldManager"
_PREFIX: Final = "pulumi-kubernetes"


def with_makers(checkpoint: Checkpoint, urns: Collection[str]) -> Checkpoint | None:
    """Return the state in which the objects ``urns`` are managed by who made them; None when they are already."""
    raw: dict[str, Any] = copy.deepcopy(dict(checkpoint.raw))
    changed = False
    for entry in raw["deployment"].get("resources") or ():
        outputs = entry.get("outputs")
        if entry["urn"] not in urns or not isinstance(outputs, dict):
            continue
        makers = _makers(outputs)
        if makers and outputs.get(_KEY) not in makers:
            outputs[_KEY] = makers[-1]
            changed = True
    return Checkpoint.from_json(checkpoint.stack, raw) if changed else None


def _makers(outputs: Mapping[str, Any]) -> list[str]:
    """Return the providers that have applied an object, the last one last."""
    metadata = outputs.get("metadata")
    fields = metadata.get("managedFields") if isinstance(metadata, dict) else None
    applied = [each for each in fields or () if each.get("operation") == "Apply"]
    return [
        each["manager"]
        for each in sorted(applied, key=lambda each: str(each.get("time") or ""))
        if str(each.get("manager")).startswith(_PREFIX)
    ]
