"""What was found: a tool of the chain, and the Pulumi CLI with the language host it will take."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Source(StrEnum):
    """Where a tool may come from, in the order in which they are tried."""

    PATH = "path"
    DOWNLOAD = "download"
    BUILD = "build"

    @property
    def words(self) -> str:
        """How it got here, for people."""
        return {Source.PATH: "on PATH", Source.DOWNLOAD: "downloaded", Source.BUILD: "built here"}[self]


@dataclass(frozen=True, slots=True)
class Found:
    """A usable tool: its program, its version, and where it came from."""

    path: Path
    version: str
    source: Source


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A usable CLI. ``host`` is the Python language host that it finds, ``None`` while there is none."""

    pulumi: Path
    version: str
    source: Source
    host: Path | None = None


class Unavailable(Exception):
    """A source cannot give the tool; the message says why, in words for the person who reads the final error."""
