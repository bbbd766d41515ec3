"""The mark of a backed run on what a verb prints, whose state means nothing on real clouds.

What is said on stderr when a run begins is not there with ``-q``, nor in what a pipe gets.
"""

from collections.abc import Sequence
from typing import Protocol

from automation.render.text import Line, Span, line


class Marked(Protocol):
    """A view that knows the kind of its run."""

    @property
    def backed(self) -> bool:
        """Whether the clusters of its simulated clouds are control planes on this machine."""
        ...


def marked(view: Marked, lines: Sequence[Line]) -> list[Line]:
    """Return the lines of a view, below the mark of a backed run."""
    return [*mark_lines(backed=view.backed), *lines]


def mark_lines(*, backed: bool) -> list[Line]:
    """Return the mark alone; nothing for a run of another kind."""
    return [line(Span("BACKED", "warn"), ": simulated clouds, real Kubernetes on this machine")] if backed else []
