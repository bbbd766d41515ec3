"""Removes the stacks of clusters that are gone, so that nothing of a cluster is left behind.

Only with one stack per cluster: when a cluster was removed, or was lost and forgotten, its stack holds nothing any
more. A stack that is only empty stays: its cluster is yet to be built.
"""

from automation.driver.reading import Situation, is_leaving
from automation.driver.session import Session
from components.naming import StackName


def remove_leftovers(session: Session, situation: Situation) -> tuple[StackName, ...]:
    """Remove every empty stack of a cluster that nobody asks for; return which."""
    gone = []
    for shard in situation.shards:
        checkpoint = situation.checkpoints.get(shard.stack)
        if not shard.cluster or checkpoint is None or not checkpoint.is_empty:
            continue
        if is_leaving(situation.fleet, shard.cluster):
            # What is left in it is the engine's own entry for the stack, which stands for nothing outside.
            session.runner.remove_stack(shard.stack, force=True)
            gone.append(shard.stack)
    return tuple(gone)
