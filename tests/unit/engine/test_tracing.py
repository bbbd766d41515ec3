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
    trace = getattr(resource, "_get_stack_trace")  # noqa: B009 (not public: if it is called otherwise, this has to fail)
    monkeypatch.setattr(resource, "_get_stack_trace", trace)  # to be as before afterwards
    assert _Resource().trace.frames
    with serving(InlineProgram(lambda: None), lambda _: None):
        assert not _Resource().trace.frames


class _Bottom:
    """The SDK starts at whatever called the third constructor, counted from within."""

    def __init__(self) -> None:
        self.trace = vars(resource)["_get_stack_trace"]()


class _Middle(_Bottom):
    def __init__(self) -> None:
        super().__init__()


class _Resource(_Middle):
    def __init__(self) -> None:
        super().__init__()
