"""Calls that fail wherever an expression is evaluated, because they read a constant text that is no such value.

The API server takes ``quantity('80GB')`` and ``semver('9.0')``; kube-scheduler fails at them on every device. Only
constants are looked at, so what is said here holds for any device, cluster and version.
"""

from __future__ import annotations

from components.cel.library.registry import implementation
from components.cel.messages import words
from components.cel.problem import EvaluationError, Position
from components.cel.record import Record, put
from components.cel.syntax import Call, Literal, children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

    from components.cel.selector import Selector

_READERS: Final = ("quantity", "semver", "ip", "cidr", "url")
"""Functions that make a value of a text; what ``duration`` and ``timestamp`` cannot read is refused at admission."""


class FailingCall(Record):
    """One call of ``function`` with the constant ``text``; ``message`` is the error that a device would get."""

    __slots__ = ("function", "message", "position", "text")

    function: str
    text: str
    message: str
    position: Position

    def __init__(self, function: str, text: str, message: str, position: Position) -> None:
        put(self, "function", function)
        put(self, "text", text)
        put(self, "message", message)
        put(self, "position", position)


def failing_calls(selector: Selector) -> Iterator[FailingCall]:
    """Yield the calls of a selector that can only fail, in the order in which they stand; each at its text."""
    if not any(name in selector.expression for name in _READERS):
        return
    checked = selector.tree()
    nodes = [checked.root]
    while nodes:
        node = nodes.pop()
        nodes += reversed(children(node))
        if type(node) is not Call or node.function not in _READERS or node.target is not None:
            continue
        texts = [arg for arg in node.args if type(arg) is Literal]
        if len(texts) < len(node.args) or not isinstance(texts[0].value, str):
            continue
        run = implementation(checked.environment.functions[node.function], checked.overloads[node.id], growing=False)
        try:
            run(*(each.value for each in texts))
        except EvaluationError as error:
            message = words(error.kind, error.key, error.message)
            yield FailingCall(node.function, texts[0].value, message, Position.at(selector.expression, texts[0].pos))
