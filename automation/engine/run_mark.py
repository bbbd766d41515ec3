"""The mark of a running engine: a locked file by which a later run can prove that nothing of it is left.

A lease names a host and a process number, and neither proves a death: containers may share a host name and not see each
other's processes, and numbers are given anew. So whoever starts an engine makes a small file, takes the system's lock
on it, and hands the open file down to the engine, which hands it down to its plugins. The system frees that lock when
the last of them is gone, however they went, and never before. A mark also says which command started the engine.

A mark that cannot be made (a full disk, a file system without locks) is left out: then nothing is proven, and a person
has to say that a lease may be freed. What follows from a proven death is the driver's decision.
"""

import fcntl
import json
import os
import socket
import time
import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from automation.engine.lease import Lease, Trace

_LEASE_WITHIN = timedelta(minutes=10)
"""How long after its start an engine takes its lease: seconds, on a busy machine a minute."""
_CLOCK_SLACK = timedelta(seconds=5)
_KEPT = 30 * 24 * 3600.0
"""Seconds after which the mark of an engine that is gone is removed, although nobody freed its lease."""


@dataclass(slots=True)
class RunMark:
    """The mark of one start. ``descriptor`` is the file to hand down; None when there could be no mark."""

    path: Path
    since: datetime
    command: str
    descriptor: int | None = None
    over: bool = False
    """Whether the engine came to an end of its own, so that the mark has nothing left to prove."""

    def started(self, pid: int) -> None:
        """Say which process was started."""
        if self.descriptor is not None:
            said = {
                "host": socket.gethostname(),
                "pid": pid,
                "since": self.since.isoformat(),
                "command": self.command,
            }
            with suppress(OSError):
                os.write(self.descriptor, json.dumps(said).encode())


class RunMarks:
    """The marks of all engines that were started from one checkout; ``command`` is what starts them now."""

    def __init__(self, folder: Path, *, command: str = "") -> None:
        self._folder = folder
        self._command = command

    @contextmanager
    def marking(self) -> Generator[RunMark]:
        """Mark one start while the block runs. The mark stays unless the block says that the engine is over."""
        mark = RunMark(self._folder / f"{uuid.uuid4().hex}.json", datetime.now(UTC), self._command)
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            mark.descriptor = _locked(mark.path)
        try:
            yield mark
        finally:
            if mark.descriptor is not None:
                if mark.over:
                    mark.path.unlink(missing_ok=True)
                os.close(mark.descriptor)

    def look(self, lease: Lease) -> Lease:
        """Return ``lease`` with what its holder's mark says: which command, and whether anything of it is left."""
        for path, said in self._marks():
            if _is_of(said, lease):
                trace = Trace.FREE if _is_free(path) else Trace.HELD
                return replace(lease, command=str(said.get("command") or ""), trace=trace)
        return lease

    def forget(self, lease: Lease) -> None:
        """Remove the mark of a holder whose lease was freed, and those that nobody will ask for any more."""
        for path, said in self._marks():
            with suppress(OSError):
                old = time.time() - path.stat().st_mtime > _KEPT
                if (old or _is_of(said, lease)) and _is_free(path):
                    path.unlink()

    def _marks(self) -> Iterator[tuple[Path, dict[str, object]]]:
        for path in sorted(self._folder.glob("*.json")):
            with suppress(OSError, ValueError):
                said = json.loads(path.read_bytes())
                if isinstance(said, dict):
                    yield path, said


def _locked(path: Path) -> int | None:
    """Make a file and take its lock; None when this file system has none."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        path.unlink(missing_ok=True)
        return None
    return descriptor


def _is_free(path: Path) -> bool:
    """Return whether nobody holds a mark; False as well when that cannot be told."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _is_of(said: dict[str, object], lease: Lease) -> bool:
    """Return whether a mark is that of a lease's holder: same host, same number, and taken soon after the start."""
    if (said.get("host"), said.get("pid")) != (lease.host, lease.pid) or lease.since is None:
        return False
    try:
        after = lease.since - datetime.fromisoformat(str(said.get("since")))
    except (ValueError, TypeError):
        return False
    return -_CLOCK_SLACK <= after <= _LEASE_WITHIN
