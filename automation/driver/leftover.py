"""Removes the stacks of clusters that are gone, so that nothing of a cluster is left behind.

Only with one stack per cluster: when a cluster was removed, or was lost and forgotten, its stack holds nothing any
more. Nor is anything in the stack of a cluster that became a front door before it was built. A stack that is only empty
stays: its cluster is yet to be built.
"""

from automation.driver.layout import is_leaving
from automation.driver.reading import Situation
from automation.driver.session import Session
from components.naming import StackName


def remove_leftovers(session: Session, situation: Situation) -> tuple[StackName, ...]:
    """Remove every empty stack of a cluster that nobody asks for; return which."""
    gone: list[StackName] = []
    if situation.fleet.environment.spec.layout == "Single":
        return ()
    doors = situation.fleet.environment.spec.front_doors
    for stack, checkpoint in situation.checkpoints.items():
        if not stack.cluster or not checkpoint.is_empty:
            continue
        if stack.cluster in doors or is_leaving(situation.fleet, stack.cluster):
            # What is left in it is the engine's own entry for the stack, which stands for nothing outside.
            session.runner.remove_stack(stack, force=True)
            gone.append(stack)
    return tuple(gone)
