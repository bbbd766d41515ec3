"""Whether a run looks at the real resources before it compares, so that what was changed behind its back is put right.

The engine reads what exists in the same start as a preview or an update. A cluster that does not answer cannot be read,
and a preview that fails over it would say nothing about the others.

Limit: the engine leaves out of a preview what it leaves unread, so a stack with a cluster that does not answer is not
read at all; ``berth drift`` still looks at its other clusters.
"""

from collections.abc import Collection
from enum import StrEnum

from automation.driver.reading import cluster_components
from automation.engine.checkpoint import Checkpoint


class Refresh(StrEnum):
    """When to look."""

    AUTO = "auto"
    """Wherever every cluster of the stack answers."""
    NEVER = "never"
    """The state is taken at its word."""
    ALWAYS = "always"
    """Everywhere; a cluster that does not answer fails the run."""

    def reads(self, checkpoint: Checkpoint | None, unreachable: Collection[str]) -> bool:
        """Return whether to look at the real resources of a stack."""
        if self is Refresh.NEVER or checkpoint is None or checkpoint.is_empty:
            return False
        return self is Refresh.ALWAYS or not set(unreachable) & cluster_components(checkpoint).keys()
