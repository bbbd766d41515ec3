"""One process at a time installs a tool; the others wait, see how far it is, and then find what it installed.

The file of the lock holds the last line that its holder said. Nobody reads it without looking whether the lock is held:
what a process that was killed said last stays there, and the system frees its lock.
"""

import fcntl
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from automation.engine.toolchain.progress import Progress

_SECONDS_BETWEEN_TRIES: Final = 0.2
_SECONDS_BETWEEN_LINES: Final = 10.0


@contextmanager
def exclusive(path: Path, *, what: str, progress: Progress) -> Generator[Progress]:
    """Hold the lock of a file, and yield a ``progress`` whose lines whoever waits for it sees too.

    The system frees the lock when the process ends in whatever way.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        if not _take(file):
            progress(f"another process is installing {what} here; waiting for it")
            _wait(file, progress)

        def say(line: str) -> None:
            _write(file, line)
            progress(line)

        _write(file, "")
        yield say


def said_by_holder(path: Path) -> str | None:
    """Return the last line of the process that holds the lock, which may be none yet; None when nobody holds it."""
    try:
        with path.open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _read(file)
    except OSError:
        pass
    return None


def _take(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(file: TextIO, progress: Progress) -> None:
    last, due = "", time.monotonic() + _SECONDS_BETWEEN_LINES
    while not _take(file):
        time.sleep(_SECONDS_BETWEEN_TRIES)
        if time.monotonic() >= due:
            due += _SECONDS_BETWEEN_LINES
            line = _read(file)
            if line and line != last:
                progress(line)
                last = line


def _read(file: TextIO) -> str:
    file.seek(0)
    return file.read().strip()


def _write(file: TextIO, line: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(line)
    file.flush()
