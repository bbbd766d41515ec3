"""Finds what was changed behind Berth's back, without changing anything, not even the state.

The engine compares inputs. A gateway's address is none, and all the same what routes lead to.
"""

from dataclasses import replace

from automation.driver.lost import lost_clusters
from automation.driver.provisions import require_provisions
from automation.driver.reading import Situation
from automation.driver.session import Session
from automation.engine.checkpoint import Checkpoint
from automation.engine.events import Op, PropertyDiff, ResourceStep
from automation.engine.family import Family
from automation.engine.read_back import GATEWAY_TYPE, address_in
from components.naming import StackName


def find_drift(session: Session, situation: Situation) -> dict[StackName, tuple[ResourceStep, ...]]:
    """Return by stack the resources that differ from the state; unreachable and lost clusters are not looked at."""
    found: dict[StackName, tuple[ResourceStep, ...]] = {}
    require_provisions(session, situation)
    silent = {*situation.unreachable, *lost_clusters(situation)}
    for stack, checkpoint in situation.checkpoints.items():
        if checkpoint.is_empty:
            continue
        session.reporter.phase(f"reading the resources of stack {stack}")
        family = Family(checkpoint)
        dead = [each.urn for each in checkpoint if each.custom and family.cluster(each.urn) in silent]
        preview = session.runner.drift(stack, exclude=dead, listener=session.reporter.event)
        preview.require_ok()
        steps = (_with_address(step, checkpoint) for step in preview.steps)
        found[stack] = tuple(step for step in steps if step.op.changes)
    return found


def _with_address(step: ResourceStep, checkpoint: Checkpoint) -> ResourceStep:
    """Return what was read of a resource; a gateway with another address than the state says is changed."""
    state = checkpoint.get(step.urn) if step.type == GATEWAY_TYPE and step.op is Op.SAME else None
    if state is None or address_in(state.outputs) == address_in(step.outputs):
        return step
    return replace(step, op=Op.UPDATE, diffs=(PropertyDiff("status.addresses", "update"),))
