"""Location: where something stands in the manifests. PURE."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file; ``line`` and ``column`` count from 1, column 0 is the whole line, ``text`` the line itself."""

    file: str
    line: int
    column: int = 0
    text: str = ""


NOWHERE: Final = Location("", 0)
"""For what no file says."""
