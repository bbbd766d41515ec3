"""Keeps the SDK from telling the engine every step that it takes, and where in the program it was taken.

The SDK has about five lines to say of each resource that it registers, at the level of debugging. Each is a call of its
own to the engine, waited for in the program's event loop, and comes back as an event that is read and dropped: more
than half of all calls of a run. With each resource it sends the whole stack of calls that led there, down to the thread
that serves the program. The engine keeps that in the state: half of its bytes, written again at every step, with the
paths of the machine that ran last. There is a setting for neither (SDK 3.272).
"""

from typing import Any

from pulumi import log
from pulumi.runtime import resource
from pulumi.runtime.proto import source_pb2


def leave_tracing_out() -> None:
    """Make the SDK of this process silent below the level of information; what a program says is said as ever."""
    vars(log)["debug"] = _unsaid
    vars(resource)["_get_stack_trace"] = source_pb2.StackTrace


def _unsaid(*_said: Any, **_how: Any) -> None:
    """Say nothing."""
