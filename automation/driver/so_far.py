"""What a run has done by the time that it fails: an error knows its own operation, its reader takes it for the run.

So an error that leaves a run says what the run did before it. Where that is nothing, it is left as it is.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from components.errors import BerthError

NOTHING: Final = "Nothing was changed."
"""How errors say that their operation changed nothing; more may stand behind it."""


@dataclass(slots=True)
class SoFar:
    """What the operations of one run did outside the state. ``did`` is what they did to resources, in one word."""

    did: str = "changed"
    count: int = 0

    @contextmanager
    def told(self, nothing: str) -> Generator[None]:
        """Let an error say what was done before, and of its own operation ``nothing``, if it says that it did nothing.

        ``nothing`` is a sentence without its full stop.
        """
        try:
            yield
        except BerthError as error:
            if self.count:
                error.consequence = self._after(error.consequence, nothing)
            raise

    def _after(self, consequence: str, nothing: str) -> str:
        if self._stays[1:] in consequence:  # by an inner one
            return consequence
        if consequence.startswith(NOTHING):
            rest = consequence.removeprefix(NOTHING)
            return f"{nothing}; {self._stays}{rest}"
        return f"{consequence} {self._stays[0].upper()}{self._stays[1:]}".strip()

    @property
    def _stays(self) -> str:
        return f"what this run did before that stays: {self.count} resource{'' if self.count == 1 else 's'} {self.did}."


@contextmanager
def after_settling(notes: Sequence[str]) -> Generator[None]:
    """Let an error not deny what was settled of an earlier run before it, which ``notes`` say."""
    try:
        yield
    except BerthError as error:
        if notes and error.consequence.startswith(NOTHING):
            rest = error.consequence.removeprefix(NOTHING)
            error.consequence = f"Nothing was changed but what an earlier run had left unsettled.{rest}"
        raise
