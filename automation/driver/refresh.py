"""Whether a run looks at the real resources before it compares, so that what was changed behind its back is put right.

The engine reads what exists in the same start as a preview or an update. A cluster that does not answer cannot be read;
what is on it is left out (``previewing``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from automation.engine.checkpoint import Checkpoint
from automation.engine.runner import Preview
from components.naming import StackName


class Refresh(StrEnum):
    """When to look."""

    AUTO = "auto"
    """Wherever a cluster answers."""
    NEVER = "never"
    """The state is taken at its word."""
    ALWAYS = "always"
    """Everywhere; a cluster that does not answer fails the run."""

    def reads(self, checkpoint: Checkpoint) -> bool:
        """Return whether to look at the real resources of a stack that holds any."""
        return self is not Refresh.NEVER and not checkpoint.is_empty


@dataclass(slots=True)
class Looks:
    """When the previews of one plan look: at each stack until its real resources were found as the state has them."""

    refresh: Refresh
    as_stored: frozenset[StackName] = frozenset()

    def at(self, stack: StackName) -> Refresh:
        """Return whether the next preview of ``stack`` looks."""
        known = stack in self.as_stored and self.refresh is Refresh.AUTO
        return Refresh.NEVER if known else self.refresh

    def note(self, previews: Mapping[StackName, Preview]) -> None:
        """Take in what previews have read."""
        self.as_stored |= {stack for stack, each in previews.items() if each.has_read and not each.drifted}
