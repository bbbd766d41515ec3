"""What one evaluation may still spend on work that upstream's costs do not bound: searches, and values inside values.

The cost of a search does not grow with the steps that it takes, and a value that holds another one twice, fifty times
over, has more parts than any time would suffice for, at a cost of a hundred. What is spent is counted, never timed.
"""

from __future__ import annotations

from contextvars import ContextVar

from components.cel.problem import EvaluationAborted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, TypeVar

    _T = TypeVar("_T")

MAX_WORK: Final = 4_000_000
"""Instructions of regular expressions visited, in all searches."""

MAX_STEPS: Final = 20_000_000
"""Steps of the interpreter's own engine for regular expressions, from above."""

MAX_PARTS: Final = 1_000_000
"""Parts of lists and maps compared, measured or written."""


class Meter:
    """What is left of one evaluation's bounds."""

    __slots__ = ("automata", "parts", "steps", "work")

    def __init__(self) -> None:
        self.work = MAX_WORK
        self.steps = MAX_STEPS
        self.parts = MAX_PARTS
        self.automata: dict[object, object] = {}


METER: Final[ContextVar[Meter | None]] = ContextVar("meter", default=None)
"""Set while an evaluation runs, in the thread that runs it."""


def metered(work: Callable[[], _T]) -> _T:
    """Evaluate with one bound on everything."""
    token = METER.set(Meter())
    try:
        return work()
    finally:
        METER.reset(token)


def spend_parts(count: int) -> None:
    """Count parts of a list or map that are looked at; ends the evaluation when they are too many."""
    meter = METER.get()
    if meter is None:
        return  # without a fold nothing is held twice
    meter.parts -= count
    if meter.parts < 0:
        message = f"lists and maps inside each other have more than {MAX_PARTS} parts; they are not compared"
        raise EvaluationAborted("unsupported", message)
