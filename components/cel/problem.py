"""The errors of the selector language, with their place in the expression.

``SelectorError`` is raised for an expression that the API server would refuse; ``EvaluationError`` travels inside an
evaluation and never leaves the package: ``Selector.evaluate`` turns it into an answer. Both carry a ``kind``, one word
per class of error, that tables and messages share. Error text is bounded.
"""

from __future__ import annotations

from components.cel.record import Record, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MAX_MESSAGE: Final = 500
_CARET_WIDTH: Final = 100


class Position(Record):
    """A place in an expression: offset in code points from 0, line from 1, column in code points from 0."""

    __slots__ = ("column", "line", "offset")

    offset: int
    line: int
    column: int

    def __init__(self, offset: int, line: int, column: int) -> None:
        put(self, "offset", offset)
        put(self, "line", line)
        put(self, "column", column)

    @classmethod
    def at(cls, expression: str, offset: int) -> Position:
        """Locate an offset of an expression."""
        start = expression.rfind("\n", 0, offset) + 1
        return cls(offset, expression.count("\n", 0, offset) + 1, offset - start)


class SelectorError(Exception):
    """The API server (or the scheduler, for a stored expression) would refuse the expression."""

    def __init__(self, kind: str, message: str, *, expression: str = "", offset: int = 0) -> None:
        self.kind = kind
        self.message = bounded(message)
        self.expression = expression
        self.position = Position.at(expression, min(offset, len(expression)))
        super().__init__(f"{self.position.line}:{self.position.column + 1}: {self.message}")

    def located(self, expression: str, offset: int) -> SelectorError:
        """Give the error a place, unless it has one."""
        return self if self.expression else SelectorError(self.kind, self.message, expression=expression, offset=offset)

    def caret(self) -> str:
        """Give the offending line, cut to a readable width, with a caret under the place."""
        start = self.expression.rfind("\n", 0, self.position.offset) + 1
        line = self.expression[start:].split("\n", 1)[0]
        line = "".join(" " if char.isspace() else char for char in line)  # some would end the line on a terminal
        column = self.position.column
        if len(line) > _CARET_WIDTH:
            cut = max(0, min(column - _CARET_WIDTH // 2, len(line) - _CARET_WIDTH))
            line = line[cut : cut + _CARET_WIDTH]
            column -= cut
        return f"{line}\n{' ' * column}^"


class EvaluationError(Exception):
    """One error value of a running evaluation; ``offset`` is -1 until the node that made it is known."""

    def __init__(self, kind: str, message: str, *, offset: int = -1, key: object = None) -> None:
        super().__init__(kind)
        self.kind = kind
        self.message = message
        self.offset = offset
        self.key = key

    def again(self) -> EvaluationError:
        """Make the same error without a place, for one that a value holds: each look at the value is a place."""
        return EvaluationError(self.kind, self.message, key=self.key)


class EvaluationAborted(Exception):
    """The whole evaluation ends, and no ``||`` absorbs it: the cost limit, or a key that upstream cannot hash."""

    def __init__(self, kind: str, message: str, *, offset: int = -1) -> None:
        super().__init__(kind)
        self.kind = kind
        self.message = message
        self.offset = offset
        self.key: object = None


def bounded(message: str) -> str:
    """Cut a message that quotes too much of the input."""
    return message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 3] + "..."
