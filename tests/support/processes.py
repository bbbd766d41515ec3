"""Looking at processes from outside: whether they are there, whether they listen, and waiting for them to go."""

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_LISTENS: Final = "0A"
"""The state of a socket that listens, as Linux spells it."""


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that ended and was not waited for does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(parent: int) -> list[int]:
    """Give the processes that a process has started and not yet waited for."""
    return [pid for pid, fields in _stats() if int(fields[1]) == parent]


def of_session(number: int) -> list[int]:
    """Give the processes of a session that run, whoever their parent is by now."""
    return [pid for pid, fields in _stats() if fields[0] != "Z" and int(fields[3]) == number]


def _stats() -> Iterator[tuple[int, list[str]]]:
    """Give every process with what Linux says of it after its name: state, parent, group, session."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            yield int(stat.parent.name), stat.read_text(errors="replace").rpartition(")")[2].split()


def listens(port: int) -> bool:
    """Whether anybody answers on a port of this machine."""
    with socket.socket() as client:
        client.settimeout(5)
        return client.connect_ex(("127.0.0.1", port)) == 0


def running(pids: Iterable[int]) -> list[int]:
    """Give those that run."""
    return [pid for pid in pids if is_running(pid)]


def memory(pid: int) -> int:
    """Give the resident memory of a process in megabytes (10^6 bytes)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith("VmRSS:")]
    return round(int(line.split()[1]) * 1024 / 1e6)


def soon(done: Callable[[], object], *, seconds: float = 30.0, pause: float = 0.02) -> bool:
    """Wait until something is so, looking every ``pause`` seconds; gives whether it was before the time ran out."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def served(pid: int) -> set[int]:
    """Give the TCP ports that a process listens on, whatever the address; Linux only."""
    held = {str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()}
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
    ]
    return {
        int(fields[1].rpartition(":")[2], 16)
        for fields in lines
        if fields[3] == _LISTENS and f"socket:[{fields[9]}]" in held
    }
