"""The Pulumi CLI that was found: where it is, its version, where it came from, and the language host it will take."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Source(StrEnum):
    """Where a CLI may come from, in the order in which they are tried."""

    PATH = "path"
    DOWNLOAD = "download"
    BUILD = "build"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A usable CLI. ``host`` is the Python language host that it finds, ``None`` while there is none."""

    pulumi: Path
    version: str
    source: Source
    host: Path | None = None


class Unavailable(Exception):
    """A source cannot give the CLI; the message says why, in words for the person who reads the final error."""
