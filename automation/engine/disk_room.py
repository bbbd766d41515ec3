"""Room on disk for the state of a folder backend, kept free while the engine works.

An engine that cannot write its state does not stop: it leaves a truncated file in the state's place, tries again for
half a minute and goes on, for every step (3.274.1). Should the disk stay full until it ends, the state is lost. So
before an operation a reserve is taken in the backend's folder, several times what the state takes. While the engine
works the disk is watched: when little is left, the reserve is given back, which the engine's next try finds, and the
run is asked to stop. Other backends have no disk of ours to watch.
"""

import errno
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from automation.engine.interruption import Interruption
from components.errors import DriverError

_COPIES = 8
"""How many copies of its state an engine may write at the end: the file, its backup, the history, one being written."""
_LEAST = 4 * 1024 * 1024
"""Bytes of the smallest reserve: states grow, logs and the simulated clouds' file are written beside them."""
_LOOK = 0.25
"""Seconds between two looks; the engine waits a second before it tries to write again."""


@dataclass(slots=True)
class DiskRoom:
    """The reserve of one operation. ``gave_out`` says that it had to be given back."""

    folder: Path
    gave_out: bool = False

    def error(self) -> DriverError:
        """Return the error of a run that was stopped because the disk is nearly full."""
        return DriverError(
            f"the disk of {self.folder} is nearly full: the run was stopped while its state can still be written",
            consequence="What had begun was finished and is in the state; the rest was not started.",
            help="free some space and run it again",
        )


@contextmanager
def disk_room(folder: Path, *, name: str, state: int, interruption: Interruption) -> Generator[DiskRoom]:
    """Keep room for a state of ``state`` bytes in ``folder`` while the block runs; ``name`` tells reserves apart.

    Raises DriverError at once when there is no room for it. When the disk fills up later, asks for a graceful stop.
    """
    reserve = folder / f".berth-reserve-{name}"
    room = DiskRoom(folder)
    _take(reserve, max(_LEAST, _COPIES * state))
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(room, reserve, max(_LEAST, 2 * state) // 2, done, interruption))
    watcher.start()
    try:
        yield room
    finally:
        done.set()
        watcher.join()
        reserve.unlink(missing_ok=True)


def _take(reserve: Path, size: int) -> None:
    try:
        descriptor = os.open(reserve, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _fill(descriptor, size)
        finally:
            os.close(descriptor)
    except OSError as error:
        with suppress(OSError):
            reserve.unlink(missing_ok=True)
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise DriverError(
                f"the disk of {reserve.parent} is full: a run needs {size // 1024 // 1024} MiB there to be safe",
                consequence="Nothing was changed.",
                help="free some space and run it again",
            ) from error
        # A file system that cannot reserve (or a folder that only the engine can write to): go on without.


def _fill(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    left = size
    while left > 0:
        left -= os.write(descriptor, bytes(min(left, 1 << 20)))


def _watch(room: DiskRoom, reserve: Path, least: int, done: threading.Event, interruption: Interruption) -> None:
    while not done.wait(_LOOK):
        if _free(room.folder) < least and reserve.exists():
            reserve.unlink(missing_ok=True)
            room.gave_out = True
            interruption.request()
            return


def _free(folder: Path) -> int:
    try:
        found = os.statvfs(folder)
    except OSError:
        return 1 << 62
    return found.f_bavail * found.f_frsize
