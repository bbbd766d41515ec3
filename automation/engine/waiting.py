"""Lets the SDK wait for a program's outputs in time that grows with their number.

At the end of a program the SDK waits until the first of its outputs is there, takes it off, and waits for the others in
the same way: it looks at all that are left for each of them, 300,000 times for a fleet of 236 resources (SDK
3.272). Waiting until all are there, or one fails, is the same wait once.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

from pulumi.runtime import stack


def wait_once() -> None:
    """Make the SDK of this process wait for all outputs at once."""
    vars(stack)["asyncio"] = _Patient()


class _Patient:
    """``asyncio``, but for one function."""

    def __getattr__(self, name: str) -> Any:
        """Return what ``asyncio`` has."""
        return getattr(asyncio, name)

    @staticmethod
    async def wait(tasks: Iterable[asyncio.Task[Any]], **_how: Any) -> tuple[set[Any], set[Any]]:
        """Wait until all tasks are done or one has failed; give those that are done, and the others."""
        return await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
