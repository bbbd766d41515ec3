"""What a plan leaves out because a cluster does not answer, and what it owes that cluster.

Everything on the cluster and everything it is made of is left alone, piece by piece: the engine's own way to leave out
dependents (``--exclude-dependents``) goes up to the stack and down again when something is to be deleted, and then
nothing is deleted anywhere (3.274.1). What would have been done is counted and said; it comes first when the cluster
answers again.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from automation.engine.checkpoint import STACK_TYPE, Checkpoint
from automation.engine.events import Op
from automation.engine.family import KUBERNETES_PROVIDER, Family
from automation.engine.runner import Preview


@dataclass(frozen=True, slots=True)
class Owed:
    """What was not done on one cluster."""

    cluster: str
    creations: int = 0
    changes: int = 0
    deletions: int = 0

    def __add__(self, other: "Owed") -> "Owed":
        """Return what two stacks owe to one cluster."""
        return Owed(
            self.cluster,
            self.creations + other.creations,
            self.changes + other.changes,
            self.deletions + other.deletions,
        )

    def __str__(self) -> str:
        """Return one line, as a plan shows it."""
        counted = (
            (self.creations, "creation"),
            (self.changes, "change"),
            (self.deletions, "deletion"),
        )
        parts = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counted if count]
        return f"{self.cluster} SKIPPED unreachable, {', '.join(parts) if parts else 'nothing'} owed"


@dataclass(frozen=True, slots=True)
class Skipped:
    """The URNs to leave out, and what is owed, one entry per cluster that does not answer."""

    exclude: tuple[str, ...] = ()
    owed: tuple[Owed, ...] = ()


def skip_unreachable(preview: Preview, checkpoint: Checkpoint, unreachable: Collection[str]) -> Skipped:
    """Return what to leave out of ``preview`` so that nothing on ``unreachable`` clusters is touched.

    ``exclude`` also names what exists there and would not change, so that it holds for the update whatever the preview
    could not know.
    """
    if not unreachable:
        return Skipped()
    family = Family([*checkpoint, *preview.steps])
    there = {
        member.urn: cluster
        for member in family
        if member.type != STACK_TYPE and (cluster := _home(family, member.urn)) in unreachable
    }
    ops: dict[str, list[Op]] = {}
    for step in preview.steps:
        if step.urn in there and step.custom and not step.is_provider:
            ops.setdefault(step.urn, []).append(step.op)
    owed = {cluster: Owed(cluster) for cluster in sorted(unreachable)}
    for urn, done in ops.items():
        owed[there[urn]] = _add(owed[there[urn]], done)
    return Skipped(exclude=tuple(sorted(there)), owed=tuple(owed.values()))


def _home(family: Family, urn: str) -> str:
    """Return the cluster a resource is on: that of its provider if it is an object, else that of its component."""
    member = family.get(urn)
    provider = family.get(member.provider) if member else None
    if provider is not None and provider.type == KUBERNETES_PROVIDER:
        return family.cluster(provider.urn)
    return family.cluster(urn)


def _add(owed: Owed, ops: Iterable[Op]) -> Owed:
    done = frozenset(ops)
    creations, changes, deletions = owed.creations, owed.changes, owed.deletions
    if done & {Op.CREATE, Op.IMPORT}:
        creations += 1
    elif done & {Op.UPDATE} or any(op.replaces for op in done):
        changes += 1
    elif Op.DELETE in done:
        deletions += 1
    return Owed(owed.cluster, creations, changes, deletions)
