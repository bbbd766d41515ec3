"""The machine types with GPUs that Berth knows, by cloud, with the GPUs of each.

The table is ``machines.csv``, with its sources; it holds NVIDIA GPUs alone. It is never complete: clouds bring new
types every month, so one that is not here may be right.
"""

import csv
import functools
from collections.abc import Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Final

_SOURCES: Final = {"aws": "EKS", "gcp": "GKE", "azure": "AKS", "nebius": "Nebius", "vultr": "Vultr"}


def rows() -> Iterator[Mapping[str, str]]:
    """Yield the rows of the table, by the names of its columns."""
    text = files("components.clusters").joinpath("machines.csv").read_text(encoding="utf-8")
    yield from csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))


@functools.cache
def gpus_by_machine() -> Mapping[str, Mapping[str, int]]:
    """Return by source the GPUs of every machine type; one of Nebius is platform and preset, with a space between."""
    found: dict[str, dict[str, int]] = {}
    for row in rows():
        name = f"{row['machine']} {row['preset']}".strip()
        found.setdefault(_SOURCES[row["cloud"]], {})[name] = int(row["gpus"])
    return MappingProxyType(found)
