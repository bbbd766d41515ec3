"""Settles what an interrupted run left behind, before anything else is planned or applied."""

from collections.abc import Collection, Mapping

from automation.driver.leases import living
from automation.driver.provisions import require_provisions
from automation.driver.reading import Situation
from automation.driver.session import Session
from automation.engine.repair import (
    NoFinder,
    Orphan,
    OrphanFinder,
    RepairReport,
    forget_orphans,
    known_orphans,
    repair,
)
from components.errors import UsageError
from components.naming import StackName


def repair_all(session: Session, situation: Situation) -> tuple[RepairReport, ...]:
    """Repair every stack that was cut off; each report that did something is announced."""
    reports = []
    for stack, checkpoint in situation.checkpoints.items():
        if not checkpoint.pending:
            continue
        require_provisions(session, situation)
        session.reporter.phase(f"repairing stack {stack}: its last run was interrupted")
        report = repair(
            session.runner,
            stack,
            finder_of(session),
            unreachable=situation.unreachable.keys(),
        )  # unheard: reading what is not there looks like a deletion, and the report says what it was
        for text in report.lines:
            session.reporter.note(text)
        reports.append(report)
    return tuple(reports)


def pending_lines(session: Session, situation: Situation) -> tuple[str, ...]:
    """Return what was cut off and waits for a repair, in words; not what a run that lives is just doing."""
    busy = living(session)
    cut_off = [each for stack, each in sorted(situation.checkpoints.items()) if stack not in busy]
    return tuple(str(operation) for checkpoint in cut_off for operation in checkpoint.pending)


def orphans(session: Session, situation: Situation) -> dict[StackName, tuple[Orphan, ...]]:
    """Return what may exist without being in the state, by stack; only stacks that have any."""
    found = {stack: known_orphans(session.runner, stack) for stack in situation.checkpoints}
    return {stack: each for stack, each in found.items() if each}


def cross_out(
    session: Session, noted: Mapping[StackName, tuple[Orphan, ...]], names: Collection[str]
) -> dict[StackName, tuple[Orphan, ...]]:
    """Forget the orphans of these names, which a person dealt with, and return what is left.

    Raises UsageError, before anything is forgotten, when there is none of a name.
    """
    known = sorted({each.name for found in noted.values() for each in found})
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise UsageError(
            f"there is no orphan {unknown[0]!r} ({', '.join(known) or 'none is known'})",
            consequence="Nothing was changed.",
            help="berth orphans",
        )
    left = {}
    for stack, found in noted.items():
        gone = [each.urn for each in found if each.name in names]
        left[stack] = forget_orphans(session.runner, stack, gone) if gone else found
    return left


def finder_of(session: Session) -> OrphanFinder:
    """Return what looks for orphans: the simulated cloud's own records, or nothing that could search a real one."""
    if session.workspace.simulated:
        from automation.observe.simulated import SimulatedFinder  # noqa: PLC0415 (only in rehearsals)
        from automation.rehearsal.cloud import SimulatedCloud  # noqa: PLC0415 (only in rehearsals)

        return SimulatedFinder(SimulatedCloud(session.workspace.layout.simulated_clouds))
    return NoFinder()
