"""Finds what was changed behind Berth's back, without changing anything, not even the state."""

from automation.driver.lost import lost_clusters
from automation.driver.provisions import require_provisions
from automation.driver.reading import Situation
from automation.driver.session import Session
from automation.engine.events import ResourceStep
from automation.engine.family import Family
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
        found[stack] = preview.changed
    return found
