"""Looking at processes from outside: whether they are there, and waiting for them to go."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that ended and was not waited for does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def running(pids: Iterable[int]) -> list[int]:
    """Give those that run."""
    return [pid for pid in pids if is_running(pid)]


def memory(pid: int) -> int:
    """Give the resident memory of a process in megabytes (10^6 bytes)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith("VmRSS:")]
    return round(int(line.split()[1]) * 1024 / 1e6)


def soon(done: Callable[[], bool], *, seconds: float = 30.0) -> bool:
    """Wait until something is so; gives whether it was before the time ran out."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
