"""Settings that the Pulumi SDK has no words for (3.272), for programs that register hundreds of resources.

They hold for the whole process, and are made where a program is run: by the driver, and by plain ``pulumi``.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

from pulumi import log
from pulumi.runtime import resource, stack
from pulumi.runtime.proto import source_pb2


def leave_debugging_out() -> None:
    """Make the SDK silent below the level of information; what a program says is said as ever.

    It has about five lines to say of each resource that it registers. Each is a call of its own to the engine, waited
    for in the program's event loop, and comes back as an event that is read and dropped: more than half of all calls of
    a run. For runs whose reader takes no such lines; ``pulumi up --debug`` shows them.
    """
    vars(log)["debug"] = _unsaid


def leave_stack_traces_out() -> None:
    """Send no stack of calls with a resource.

    The SDK sends all of it, down to the thread that serves the program. The engine keeps that in the state: half of its
    bytes, written again at every step, with the paths of the machine that ran last.
    """
    vars(resource)["_get_stack_trace"] = source_pb2.StackTrace


def wait_once() -> None:
    """Wait for a program's outputs in time that grows with their number.

    At the end of a program the SDK waits until the first of its outputs is there, takes it off, and waits for the
    others in the same way: it looks at all that are left for each of them, 300,000 times for a fleet of 236 resources.
    Waiting until all are there, or one fails, is the same wait once.
    """
    vars(stack)["asyncio"] = _Patient()


def _unsaid(*_said: Any, **_how: Any) -> None:
    """Say nothing."""


class _Patient:
    """``asyncio``, but for one function."""

    def __getattr__(self, name: str) -> Any:
        """Return what ``asyncio`` has."""
        return getattr(asyncio, name)

    @staticmethod
    async def wait(tasks: Iterable[asyncio.Task[Any]], **_how: Any) -> tuple[set[Any], set[Any]]:
        """Wait until all tasks are done or one has failed; give those that are done, and the others."""
        return await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
