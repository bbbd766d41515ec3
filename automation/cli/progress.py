"""Progress on stderr: phases, notes, and one line for every resource that an update finished or failed."""

from automation.cli.sinks import Sinks
from automation.engine.events import Event, Op, StepEnds, StepFails
from automation.render.text import Span, Style, line

_WORDS: dict[Op, tuple[str, Style]] = {
    Op.CREATE: ("created", "add"),
    Op.UPDATE: ("updated", "change"),
    Op.DELETE: ("deleted", "remove"),
    Op.REPLACE: ("replaced", "change"),
    Op.DELETE_REPLACED: ("deleted the old", "remove"),
    Op.IMPORT: ("imported", "add"),
}
_LET_GO: tuple[str, Style] = ("let go of", "dim")
"""It leaves the state and stays where it is, as with namespaces on clusters that Berth did not make."""


class Progress:
    """Prints what the driver reports; quiet previews, one line per change of an update."""

    def __init__(self, sinks: Sinks) -> None:
        self._sinks = sinks

    def phase(self, text: str) -> None:
        """Print the beginning of a phase."""
        self._sinks.talk([line(Span("> ", "dim"), text)])

    def note(self, text: str) -> None:
        """Print one thing a person should know."""
        self._sinks.talk([line(Span("note: ", "warn"), text)])

    def event(self, event: Event) -> None:
        """Print a resource that is done; planned ones are shown in the plan."""
        if isinstance(event, StepEnds) and not event.planning and event.step.custom:
            word = _LET_GO if event.step.lets_go else _WORDS.get(event.step.op)
            if word:
                self._sinks.talk([line("  ", Span(word[0], word[1]), f" {event.step.type} {event.step.name}")])
        elif isinstance(event, StepFails):
            self._sinks.talk([line("  ", Span("failed", "bad"), f" {event.step.type} {event.step.name}")])
