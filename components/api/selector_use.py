"""Where a selector of devices is written, so that what fails only on a device can be said with its place."""

from dataclasses import dataclass

from components.api.location import Location
from components.api.nodes import PathPart


@dataclass(frozen=True, slots=True)
class SelectorUse:
    """One CEL expression of a deployment: ``document`` is kind, namespace and name, ``path`` leads to the text.

    ``lines`` are the places of the expression's lines where it stands as it was written; none where folding or escapes
    moved it.
    """

    document: tuple[str, str, str]
    path: tuple[PathPart, ...]
    expression: str
    place: Location
    lines: tuple[Location, ...] = ()

    def at(self, inner: tuple[int, int] | None) -> Location:
        """Return the place of a line and column (from 0) inside the expression; its beginning where it is not known."""
        if inner is None or inner[0] >= len(self.lines):
            return self.place
        line = self.lines[inner[0]]
        return Location(line.file, line.line, line.column + inner[1], line.text)
