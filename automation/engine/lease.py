"""The state backend's lease on a stack: who holds it, and whether its holder still lives.

A self-managed backend writes one small file per holder and fails fast when there is another. An engine that was killed
leaves its file behind, and the next run must not break it silently: Berth says who holds it, since when, whether that
process still runs on this machine, and which command frees it. Taking leases is the engine's work; whether the driver
frees one by itself is its own decision, and only a proven death allows it (``run_mark``).
"""

import os
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from components.errors import StackLeased
from components.naming import StackName


class Trace(StrEnum):
    """What is left of a run that this checkout started, by its mark."""

    NONE = "none"
    """There is no mark: it was started elsewhere, or by hand."""
    HELD = "held"
    """The engine or one of its plugins still lives."""
    FREE = "free"
    """Nothing of it lives."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One holder of a lease. ``since`` is None when the backend's record does not say.

    ``command`` and ``trace`` are what the holder's mark says.
    """

    user: str
    host: str
    pid: int
    since: datetime | None = None
    command: str = ""
    trace: Trace = Trace.NONE

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read the content of a lease file."""
        return cls(
            user=str(raw.get("username") or "somebody"),
            host=str(raw.get("hostname") or "an unknown host"),
            pid=int(raw.get("pid") or 0),
            since=_moment(str(raw.get("timestamp") or "")),
        )

    def to_json(self) -> dict[str, object]:
        """Return it as :meth:`from_json` reads it."""
        since = self.since.isoformat() if self.since else ""
        return {"username": self.user, "hostname": self.host, "pid": self.pid, "timestamp": since}

    def __str__(self) -> str:
        """Return who holds it since when, in words."""
        since = f" since {self.since.isoformat(timespec='seconds')}" if self.since else ""
        command = f", `{self.command}`" if self.command else ""
        return f"{self.user}@{self.host} (pid {self.pid}{command}){since}"

    @property
    def proven_dead(self) -> bool:
        """Whether nothing of the holder can be left: its mark is free, and so is its number."""
        return self.trace is Trace.FREE and self.holder_is_dead

    @property
    def holder_is_dead(self) -> bool:
        """Whether the holder ran on this machine and is gone; False as well when that cannot be known."""
        if self.host != socket.gethostname() or not self.pid or self.trace is Trace.HELD:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return self._was_reused()

    def _was_reused(self) -> bool:
        """Return whether another process has the number now: it began after the lease was taken (Linux only)."""
        if self.since is None:
            return False
        try:
            ticks = int(Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
            boot = next(line for line in Path("/proc/stat").read_text(encoding="utf-8").splitlines() if "btime" in line)
            began = int(boot.split()[1]) + ticks / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, StopIteration, IndexError):
            return False
        return began > self.since.timestamp() + _CLOCK_SLACK


_CLOCK_SLACK = 5.0  # seconds; boot time is only known to the second, and clocks are stepped
_HOLDER = re.compile(r"created by (?P<user>\S*)@(?P<host>\S*) \(pid (?P<pid>\d+)\) at (?P<since>\S+)")


def read_leases(text: str) -> tuple[Lease, ...]:
    """Return the holders that the engine's refusal names."""
    return tuple(
        Lease(found["user"], found["host"], int(found["pid"]), _moment(found["since"]))
        for found in _HOLDER.finditer(text)
    )


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def leased_error(stack: StackName, leases: Sequence[Lease], *, release: str) -> StackLeased:
    """Return the error for a stack that somebody else holds; ``release`` is the command that frees it."""
    holders = ", ".join(str(lease) for lease in leases) or "another run"
    dead = [lease for lease in leases if lease.holder_is_dead]
    if leases and len(dead) == len(leases):
        advice = (
            f"That process no longer runs on this machine: it was killed or crashed. Free the stack with `{release}`."
        )
    elif any(lease.trace is Trace.HELD for lease in leases):
        advice = f"It is still at work here: wait for it to end. Once it is gone, `{release}` frees the stack."
    elif leases:
        advice = f"Wait for it to end. If you know that it is gone, free the stack with `{release}`."
    else:
        advice = f"Wait for it to end, or free the stack with `{release}`."
    return StackLeased(
        f"stack {stack} is leased by {holders}",
        consequence=f"Nothing was changed. {advice}",
        help=release,
    )
