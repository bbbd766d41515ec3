"""What the SDK says of its own work, and where, stays in it; a program's outputs are waited for once each."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from pulumi import log
from pulumi.runtime import resource, stack
from pulumi.runtime.settings import SETTINGS

from automation.engine.inline import InlineProgram, serving
from stacks.entry import run
from stacks.sdk import wait_once

OUTPUTS = 200


class Watched(asyncio.Task[None]):
    """A task that counts how often somebody begins to wait for it."""

    looks = 0

    def add_done_callback(self, *given: Any, **named: Any) -> None:
        """Count."""
        Watched.looks += 1
        super().add_done_callback(*given, **named)


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave the SDK as it was."""
    monkeypatch.setattr(stack, "asyncio", asyncio)
    monkeypatch.setattr(log, "debug", log.debug)
    monkeypatch.setattr(resource, "_get_stack_trace", lambda: SimpleNamespace(frames=["here"]))
    Watched.looks = 0
    yield
    SETTINGS.outputs.clear()


def serve() -> None:
    """Run a program as the driver does."""
    with serving(InlineProgram(lambda: None), lambda _: None):
        pass


def enter() -> None:
    """Run a program as plain ``pulumi`` does; here there is no environment."""
    with suppress(Exception):
        run()


BOTH_WAYS = pytest.mark.parametrize("begin", [serve, enter])


@BOTH_WAYS
def test_no_stack_of_calls_is_sent(begin: Callable[[], None]) -> None:
    """The state would be twice as long, and hold the paths of the machine that ran last."""
    for registers in (resource.register_resource, resource.read_resource):
        assert "_get_stack_trace" in registers.__code__.co_names  # if the SDK calls it otherwise, this has to fail
    begin()
    assert not vars(resource)["_get_stack_trace"]().frames


def test_the_driver_sends_no_tracing(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the moment at which a program is served."""
    said: list[Any] = []
    monkeypatch.setattr(log, "get_engine", lambda: SimpleNamespace(Log=said.append))
    serve()
    log.debug("a step of the SDK")
    log.info("a word of the program")
    assert [each.message for each in said] == ["a word of the program"]


async def _later(steps: int) -> None:
    for _ in range(steps):
        await asyncio.sleep(0)


def looks_of(prepare: Callable[[], object]) -> int:
    """Wait for many outputs that come one after the other; return how often the SDK looked at one."""

    async def program() -> None:
        loop = asyncio.get_running_loop()
        SETTINGS.outputs.update(Watched(_later(number), loop=loop) for number in range(OUTPUTS))
        await stack.wait_for_rpcs()

    prepare()
    asyncio.run(program())
    assert not SETTINGS.outputs
    return Watched.looks


@BOTH_WAYS
def test_each_output_is_waited_for_once(begin: Callable[[], None]) -> None:
    """From the moment at which a program is run; the SDK alone looks at all that are left for each of them."""
    assert looks_of(lambda: None) > OUTPUTS * 20

    def start_anew() -> None:
        Watched.looks = 0
        begin()

    assert looks_of(start_anew) <= OUTPUTS * 3


def test_the_first_failure_ends_the_wait() -> None:
    """What is not there yet is not waited for."""

    async def fail() -> None:
        await _later(3)
        raise ValueError("no address")

    async def program() -> None:
        never = asyncio.get_running_loop().create_future()
        waiting = asyncio.ensure_future(never)
        SETTINGS.outputs.update((asyncio.ensure_future(fail()), waiting))
        try:
            await asyncio.wait_for(stack.wait_for_rpcs(), 5)
        finally:
            never.cancel()

    wait_once()
    with pytest.raises(ValueError, match="no address"):
        asyncio.run(program())


def test_an_output_that_comes_while_others_are_waited_for_is_waited_for() -> None:
    """As programs make them: in what is done with the first."""
    done: list[str] = []

    async def second() -> None:
        await _later(5)
        done.append("second")

    async def first() -> None:
        await _later(2)
        SETTINGS.outputs.add(asyncio.ensure_future(second()))
        done.append("first")

    async def program() -> None:
        SETTINGS.outputs.add(asyncio.ensure_future(first()))
        await stack.wait_for_rpcs()

    wait_once()
    asyncio.run(program())
    assert done == ["first", "second"]
