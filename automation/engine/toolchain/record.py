"""What is remembered about the programs of a tool that were seen, so that the next look starts no process.

A program is recognised by path, size and time of change. The record is a cache and nothing more: when it is missing,
unreadable or written by another Berth, what it says is found out again.
"""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from automation.engine.toolchain.disk import write_whole
from automation.engine.toolchain.toolchain import Source

_SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Identity:
    """Tells whether a file is still the one that was looked at."""

    path: str
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> Self | None:
        """Look at a file (through links); ``None`` when there is none."""
        try:
            status = path.stat()
        except OSError:
            return None
        return cls(path=str(path), size=status.st_size, changed=status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Seen:
    """A program and the version it said it has; an empty version when it did not say one."""

    identity: Identity
    version: str
    source: Source

    def is_still(self, identity: Identity | None) -> bool:
        """Whether the file is the one that was seen."""
        return identity is not None and identity == self.identity


@dataclass(frozen=True, slots=True)
class Record:
    """The last program seen on PATH and the one installed under ``.berth``."""

    on_path: Seen | None = None
    installed: Seen | None = None

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the record; an empty one when there is none that this Berth understands."""
        try:
            data = json.loads(path.read_bytes())
            if data["schema"] != _SCHEMA:
                return cls()
            return cls(on_path=_seen(data["onPath"]), installed=_seen(data["installed"]))
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def write(self, path: Path) -> None:
        """Write the record, whole or not at all."""
        data = {"schema": _SCHEMA, "onPath": _data(self.on_path), "installed": _data(self.installed)}
        write_whole(path, json.dumps(data, indent=2).encode() + b"\n")

    def with_path(self, seen: Seen) -> "Record":
        """Remember another program on PATH."""
        return replace(self, on_path=seen)

    def with_installed(self, seen: Seen) -> "Record":
        """Remember another installed program."""
        return replace(self, installed=seen)


def _seen(data: dict[str, Any] | None) -> Seen | None:
    if data is None:
        return None
    identity = Identity(path=str(data["path"]), size=int(data["size"]), changed=int(data["changed"]))
    return Seen(identity=identity, version=str(data["version"]), source=Source(data["source"]))


def _data(seen: Seen | None) -> dict[str, Any] | None:
    return None if seen is None else {**asdict(seen.identity), "version": seen.version, "source": seen.source.value}
