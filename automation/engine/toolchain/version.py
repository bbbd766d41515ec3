"""Versions as tools print them, and the platform in which releases are named."""

import platform
import re
import sys
from dataclasses import dataclass
from typing import Final, Self

_NUMBERS: Final = re.compile(r"(?<![\w.])v?(\d+)\.(\d+)\.(\d+)(?![\d.])")
_SYSTEMS: Final = {"linux": "linux", "darwin": "darwin"}
_MACHINES: Final = {"x86_64": "amd64", "amd64": "amd64", "arm64": "arm64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A version by its three numbers; what follows them (``-dev.0``) does not count."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read the first version in a text: ``v3.274.1``, ``Kubernetes v1.34.4``; ``None`` when there is none."""
        match = _NUMBERS.search(text)
        return cls(*(int(group) for group in match.groups())) if match else None

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True, slots=True)
class Platform:
    """An operating system and a processor in Go's words (``linux``, ``amd64``)."""

    system: str
    machine: str

    @classmethod
    def current(cls) -> Self:
        """Say where this process runs; words that Go does not have are kept as they are."""
        machine = platform.machine().lower()
        return cls(system=_SYSTEMS.get(sys.platform, sys.platform), machine=_MACHINES.get(machine, machine))
