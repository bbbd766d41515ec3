"""What Berth's own package asks of others, read from its metadata: their versions are pinned there and only there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Final

_LINE: Final = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*\(?(?P<range>[^;()]*)\)?\s*(?:;(?P<marker>.*))?$"
)
_EXTRA: Final = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_BOUND: Final = re.compile(r"(==|>=|<=|!=|<|>)\s*([0-9][0-9.]*)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package, the range of versions that fit, and the extra that pulls it in (empty: always)."""

    name: str
    range: str = ""
    extra: str = ""

    def accepts(self, version: str) -> bool:
        """Whether a version lies in the range, by its numbers alone; an empty range takes all."""
        found = _numbers(version)
        return all(_holds(found, operator, _numbers(bound)) for operator, bound in _BOUND.findall(self.range))

    def __str__(self) -> str:
        return f'"{self.name}{self.range}"'


def requirements(package: str) -> Mapping[str, Requirement]:
    """Read the requirements of an installed package by name; of one named by several extras the first counts."""
    try:
        lines = metadata.requires(package) or []
    except metadata.PackageNotFoundError:
        return {}
    found: dict[str, Requirement] = {}
    for line in lines:
        if match := _LINE.match(line):
            extra = _EXTRA.search(match["marker"] or "")
            name = re.sub(r"[-_.]+", "-", match["name"]).lower()
            found.setdefault(
                name, Requirement(name=name, range=match["range"].strip(), extra=extra[1] if extra else "")
            )
    return found


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(number) for number in re.findall(r"\d+", version)[:4]]
    return tuple([*numbers, 0, 0, 0, 0][:4])


def _holds(found: tuple[int, ...], operator: str, bound: tuple[int, ...]) -> bool:
    return {
        "==": found == bound,
        "!=": found != bound,
        ">=": found >= bound,
        "<=": found <= bound,
        ">": found > bound,
        "<": found < bound,
    }[operator]
