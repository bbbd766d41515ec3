"""What the SDK says of its own work never reaches the engine; what a program says does."""

from types import SimpleNamespace
from typing import Any

import pytest
from pulumi import log

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
