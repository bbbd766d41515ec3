"""A cloud's table: the facts about a package's types that its simulation needs, read from one JSON file.

Adding a cloud is adding such a file (``data/<package>.json``). A type that the table does not name still works, by what
the SDK's classes say about it: the table adds what classes do not know (names and their limits, what forces a
replacement, what blocks a deletion, what outputs look like). ``data/README.md`` documents the format.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).resolve().parent.parent / "data"


@dataclass(frozen=True, slots=True)
class Table:
    """The facts of one package."""

    package: str
    style: str
    facts: Mapping[str, Any]

    def type(self, token: str) -> Mapping[str, Any]:
        """Give the facts about one type; empty for a type that the table does not name."""
        found: Mapping[str, Any] = self.facts.get("types", {}).get(token, {})
        return found

    @property
    def tokens(self) -> tuple[str, ...]:
        """Name every type in the table, and the provider itself."""
        named = {*self.facts.get("types", {}), *self.facts.get("sdk_types", ())}
        return (*sorted(named), f"pulumi:providers:{self.package}")


def load_table(package: str, *, folder: Path = DATA) -> Table:
    """Read the table of a package."""
    facts = json.loads((folder / f"{package}.json").read_text(encoding="utf-8"))
    return Table(package=package, style=facts["style"], facts=facts)


def packages(*, folder: Path = DATA) -> tuple[str, ...]:
    """Name every package that has a table, sorted."""
    return tuple(sorted(path.stem for path in folder.glob("*.json")))
