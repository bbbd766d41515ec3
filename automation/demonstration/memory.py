"""How much memory everything takes that a process has started, at the most: the proportional set size, on Linux.

It is summed over the process and all its descendants, so that what several of them share counts once. Elsewhere, and of
processes that belong to others, nothing is known.
"""

import os
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from automation.demonstration.meanwhile import meanwhile

_PROC: Final = Path("/proc")
_SECONDS_BETWEEN_LOOKS: Final = 1.0
_PPID: Final = 1
_BYTES_OF_A_KB: Final = 1024
_BYTES_OF_A_MB: Final = 1_000_000


class Memory:
    """The largest sum that was seen, and which programs it went to."""

    def __init__(self, root: int | None = None) -> None:
        """Look at the process ``root`` (this one) and whatever descends from it."""
        self.peak: int = 0
        """In MB (10^6 bytes); 0 where nothing could be read."""
        self.programs: Mapping[str, int] = {}
        self._root = root or os.getpid()

    @contextmanager
    def measuring(self) -> Generator[None]:
        """Look once a second while the block runs."""
        with meanwhile(self.look, every=_SECONDS_BETWEEN_LOOKS):
            yield

    def look(self) -> None:
        """Sum what is there now."""
        found = Counter[str]()
        for pid in descendants(self._root):
            name, size = _program(pid), proportional(pid)
            found[name] += size
        total = found.total() // _BYTES_OF_A_MB
        if total > self.peak:
            self.peak = total
            self.programs = {name: size // _BYTES_OF_A_MB for name, size in found.most_common()}


def proportional(pid: int) -> int:
    """Return the proportional set size of a process in bytes; 0 when it has ended or the system does not tell."""
    with suppress(OSError, StopIteration, ValueError, IndexError):
        lines = (_PROC / str(pid) / "smaps_rollup").read_text(encoding="utf-8").splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) * _BYTES_OF_A_KB
    return 0


def descendants(root: int) -> list[int]:
    """Give a process and all that descend from it, through those that run now."""
    parents = dict(_parents())
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found)


def _parents() -> Iterable[tuple[int, int]]:
    for stat in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            # The name, in brackets before this, may hold anything.
            yield int(stat.parent.name), int(stat.read_text(errors="replace").rpartition(")")[2].split()[_PPID])


def _program(pid: int) -> str:
    """Name what a process runs; the system cuts names."""
    with suppress(OSError):
        return (_PROC / str(pid) / "comm").read_text(errors="replace").strip()
    return "?"
