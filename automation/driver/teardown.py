"""Tears an environment down: routes first, then everything on the clusters, then the clusters; says what stays."""

from dataclasses import dataclass

from automation.driver.provisions import require_provisions
from automation.driver.reading import Situation
from automation.driver.searches import searches
from automation.driver.session import Session
from automation.driver.so_far import SoFar
from automation.engine.checkpoint import Checkpoint, Resource
from automation.engine.failures import failures_by_component
from automation.engine.family import Family, is_cluster
from automation.engine.repair import known_orphans
from automation.render.text import listed
from components.errors import ResourceFailed


@dataclass(frozen=True, slots=True)
class Teardown:
    """What is gone and what is left on purpose."""

    deleted: int
    retained: tuple[str, ...]
    failures: dict[str, str]
    orphans: tuple[str, ...] = ()
    """What may still exist without ever having been in the state; their stacks stay, so that it is not forgotten."""
    silent: tuple[str, ...] = ()
    """What to do about clusters that do not answer, when not everything could be deleted."""
    searches: tuple[str, ...] = ()
    """How a person sees that nothing of the environment is left in a real cloud."""

    @property
    def ok(self) -> bool:
        """Whether everything that should go is gone."""
        return not self.failures


def protected(situation: Situation) -> tuple[str, ...]:
    """Return what a teardown would be refused for: protected resources, by stack and name."""
    return tuple(
        f"{stack}: {resource.name}"
        for stack, checkpoint in situation.checkpoints.items()
        for resource in checkpoint
        if resource.protected
    )


def tear_down(session: Session, situation: Situation, *, keep_stacks: bool = False) -> Teardown:
    """Delete every resource of every stack and then the stacks; a failure leaves the rest for the next run.

    Raises ResourceFailed, before anything is touched, when something is protected.
    """
    kept_back = protected(situation)
    if kept_back:
        raise ResourceFailed(
            f"protected resources: {listed(kept_back, few=5)}",
            consequence="Nothing was deleted.",
            help="set `protect: false` in the Environment and run `berth up` first",
        )
    require_provisions(session, situation)
    so_far = SoFar("deleted")
    retained: list[str] = []
    failures: dict[str, str] = {}
    left: list[str] = []
    # The front doors' stack goes first, whatever layout the manifests say by now.
    for stack, checkpoint in sorted(situation.checkpoints.items(), key=lambda each: bool(each[0].cluster)):
        session.reporter.phase(f"deleting stack {stack}")
        kept = retained_lines(checkpoint)
        with so_far.told(f"Nothing of stack {stack} was deleted"):
            applied = session.runner.destroy(stack, continue_on_error=True, listener=session.reporter.event)
            failures |= failures_by_component(applied.failures, checkpoint, steps=applied.steps)
            if not failures:
                applied.require_ok()
        so_far.count += sum(step.deletes for step in applied.steps)
        if not applied.ok:
            continue
        retained += kept
        with so_far.told(f"Stack {stack} stays, with nothing in it"):
            noted = known_orphans(session.runner, stack)
            left += [str(each) for each in noted]
            if not keep_stacks and not noted:
                session.runner.remove_stack(stack)
    looks = searches(situation.fleet, situation.checkpoints.values(), simulated=session.workspace.simulated)
    silent = situation.unreachable if failures else {}
    advice = [
        f"{name} does not answer ({why}): when it is gone for good, mark it `lost: true` and destroy again"
        for name, why in sorted(silent.items())
    ]
    return Teardown(
        so_far.count,
        tuple(retained),
        failures,
        tuple(left),
        tuple(advice),
        tuple(f"to see what is left, {x}" for x in looks),
    )


def retained_lines(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Return what stays when the state lets go of it: kind, name and cluster, sorted.

    What is on a cluster that is deleted with the rest does not stay.
    """
    family = Family(checkpoint)
    existing = {each.name for each in checkpoint if is_cluster(each.type) and each.inputs.get("source") == _NOT_OURS}
    return tuple(
        sorted(
            _line(each, family)
            for each in checkpoint
            if each.retained and each.custom and family.cluster(each.urn) in {"", *existing}
        )
    )


_NOT_OURS = "Existing"
"""The source of clusters that Berth did not make and does not delete."""


def _line(resource: Resource, family: Family) -> str:
    kind = resource.type.rpartition(":")[2]
    cluster = family.cluster(resource.urn)
    return f"{kind} {resource.id}{f' on cluster {cluster}' if cluster else ''}"
