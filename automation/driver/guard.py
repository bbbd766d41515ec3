"""The guard of an update: a step is applied to the state that it was made from, or not at all.

Between a plan and its update another run may come and go: somebody leaves the question open over lunch, two pipelines
start at once. Applied to what that run left, a step would bring back what it took away. So the program first asks, when
its engine holds the lease, whether the fleet in the state is still the one that was planned from. What a refresh may
change (what the clouds say about their resources) does not count.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from automation.driver.session import Session
from automation.engine.checkpoint import Checkpoint
from automation.engine.family import COMPONENT_PREFIX
from automation.engine.runner import Program
from components.errors import DriverError


@dataclass(frozen=True, slots=True)
class GuardedProgram:
    """A program that raises DriverError instead of running when its stack is no longer as in ``planned``."""

    session: Session
    planned: Checkpoint
    program: Program

    def __call__(self) -> None:
        """Look at the state, then run."""
        self.check()
        self.program()

    def check(self) -> None:
        """Raise DriverError when the fleet in the state is another one than was planned from."""
        stack = self.planned.stack
        if _fleet(self.session.runner.export(stack)) != _fleet(self.planned):
            raise DriverError(
                f"stack {stack} was changed by another run since this one planned",
                consequence="Nothing more was changed.",
                help=f"berth up -e {stack.environment}",
            )


def _fleet(checkpoint: Checkpoint) -> Mapping[str, Mapping[str, Any]]:
    """Return what the components say about themselves; everything is planned from that."""
    return {each.urn: each.inputs for each in checkpoint if each.type.startswith(COMPONENT_PREFIX)}
