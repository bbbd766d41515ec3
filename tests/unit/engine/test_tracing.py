"""What the SDK says of its own work, and where, never reaches the engine; what a program says does."""

from types import SimpleNamespace
from typing import Any

import pytest
from pulumi import log
from pulumi.runtime import resource

from automation.engine.inline import InlineProgram, serving


def test_a_run_sends_no_tracing(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the moment at which a program is served."""
    said: list[Any] = []
    monkeypatch.setattr(log, "get_engine", lambda: SimpleNamespace(Log=said.append))
    monkeypatch.setattr(log, "debug", log.debug)  # to be as before afterwards
    with serving(InlineProgram(lambda: None), lambda _: None):
        log.debug("a step of the SDK")
        log.info("a word of the program")
    assert [each.message for each in said] == ["a word of the program"]


def test_a_run_sends_no_stack_of_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state would be twice as long, and hold the paths of the machine that ran last."""
    for registers in (resource.register_resource, resource.read_resource):
        assert "_get_stack_trace" in registers.__code__.co_names  # if the SDK calls it otherwise, this has to fail
    trace = SimpleNamespace(frames=["here"])
    monkeypatch.setattr(resource, "_get_stack_trace", lambda: trace)  # to be as before afterwards
    with serving(InlineProgram(lambda: None), lambda _: None):
        assert not vars(resource)["_get_stack_trace"]().frames
