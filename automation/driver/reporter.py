"""What the driver says while it works; the command line prints it, tests collect it."""

from typing import Protocol

from automation.engine.events import Event


class Reporter(Protocol):
    """Listens to a run. Methods may be called from other threads and must not raise."""

    def phase(self, text: str) -> None:
        """Begin a phase: one line in words."""
        ...

    def note(self, text: str) -> None:
        """Say one thing that a person should know: a skipped cluster, a repaired stack."""
        ...

    def event(self, event: Event) -> None:
        """Pass on an event of the engine."""
        ...


class Silent:
    """A reporter that says nothing."""

    def phase(self, text: str) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def event(self, event: Event) -> None:
        """Say nothing."""
