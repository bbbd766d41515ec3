"""Keeps the SDK from telling the engine every step that it takes.

The SDK has about five lines to say of each resource that it registers, at the level of debugging. Each is a call of its
own to the engine, waited for in the program's event loop, and comes back as an event that is read and dropped: more
than half of all calls of a run. There is no setting for it.
"""

from typing import Any

from pulumi import log


def leave_tracing_out() -> None:
    """Make the SDK of this process silent below the level of information; what a program says is said as ever."""
    vars(log)["debug"] = _unsaid


def _unsaid(*_said: Any, **_how: Any) -> None:
    """Say nothing."""
