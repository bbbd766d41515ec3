"""One process at a time installs a tool; the others wait and then find what it installed."""

import fcntl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from automation.engine.toolchain.progress import Progress


@contextmanager
def exclusive(path: Path, *, what: str, progress: Progress) -> Generator[None]:
    """Hold the lock of a file; the system frees it when the process ends in whatever way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"another process is installing {what} here; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
