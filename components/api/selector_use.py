"""Where a selector of devices is written, so that what fails only on a device can be said with its place."""

from dataclasses import dataclass

from components.api.location import Location
from components.api.nodes import PathPart


@dataclass(frozen=True, slots=True)
class SelectorUse:
    """One CEL expression of a deployment: ``document`` is kind, namespace and name, ``path`` leads to the text."""

    document: tuple[str, str, str]
    path: tuple[PathPart, ...]
    expression: str
    place: Location
