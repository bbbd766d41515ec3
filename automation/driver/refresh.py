"""Whether a run looks at the real resources before it compares, so that what was changed behind its back is put right.

The engine reads what exists in the same start as a preview or an update. A cluster that does not answer cannot be read;
what is on it is left out (``previewing``).
"""

from enum import StrEnum

from automation.engine.checkpoint import Checkpoint


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
