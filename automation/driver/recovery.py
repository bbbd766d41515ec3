"""Settles what an interrupted run left behind, before anything else is planned or applied."""

from automation.driver.reading import Situation
from automation.driver.session import Session
from automation.engine.repair import NoFinder, OrphanFinder, RepairReport, repair


def repair_all(session: Session, situation: Situation) -> tuple[RepairReport, ...]:
    """Repair every stack that was cut off; each report that did something is announced."""
    reports = []
    for shard in situation.shards:
        checkpoint = situation.checkpoints.get(shard.stack)
        if checkpoint is None or not checkpoint.pending:
            continue
        session.reporter.phase(f"repairing stack {shard.stack}: its last run was interrupted")
        report = repair(
            session.runner,
            shard.stack,
            finder_of(session),
            unreachable=situation.unreachable.keys(),
            listener=session.reporter.event,
        )
        for text in report.lines:
            session.reporter.note(text)
        reports.append(report)
    return tuple(reports)


def finder_of(session: Session) -> OrphanFinder:
    """Return what looks for orphans: the simulated cloud's own records, or nothing that could search a real one."""
    if session.workspace.simulated:
        from automation.observe.simulated import SimulatedFinder  # noqa: PLC0415 (only in rehearsals)
        from automation.rehearsal.cloud import SimulatedCloud  # noqa: PLC0415

        return SimulatedFinder(SimulatedCloud(session.workspace.layout.simulated_clouds))
    return NoFinder()
