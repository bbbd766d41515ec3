"""One whole run: repair, forget what is lost, plan, write the lock, apply. What ``berth up`` does."""

from dataclasses import dataclass, field, replace

from automation.driver.applier import Announce, Report, apply_plan
from automation.driver.gate import require_passed
from automation.driver.leases import free_proven
from automation.driver.lost import forget_lost
from automation.driver.planner import Plan, make_plan
from automation.driver.reading import Situation, read_situation, unmake
from automation.driver.recovery import repair_all
from automation.driver.refresh import Refresh
from automation.driver.session import Session
from automation.driver.so_far import after_settling
from automation.driver.target_file import write_target


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan that may be applied, and what was done to get there."""

    plan: Plan
    notes: tuple[str, ...] = field(default=())
    unsettled: bool = False
    """Whether an earlier run was cut off and nothing was done about it yet."""

    def require_passed(self) -> None:
        """Raise unless policies and engine let the plan pass."""
        with after_settling(self.notes):
            require_passed(self.plan.previews)


def prepare(session: Session, *, refresh: Refresh = Refresh.AUTO, settle: bool = True) -> Prepared:
    """Settle what an earlier run left behind, then plan. Without ``settle`` nothing is touched before the plan."""
    notes: list[str] = []
    if settle:
        notes, situation = _settled(session)
    else:
        situation = read_situation(session)
    try:
        with after_settling(notes):
            plan = make_plan(session, situation, refresh=refresh)
    except BaseException:
        unmake(session, situation)
        raise
    return Prepared(plan, tuple(notes), unsettled=not settle and bool(situation.existing.pending))


def _settled(session: Session) -> tuple[list[str], Situation]:
    notes = list(free_proven(session))
    for text in notes:
        session.reporter.note(text)
    situation = read_situation(session)
    repaired = repair_all(session, situation)
    for report in repaired:
        notes += report.lines
    forgotten = forget_lost(session, read_situation(session) if repaired else situation)
    for each in forgotten:
        for text in each.lines:
            session.reporter.note(text)
        notes += each.lines
    if repaired or forgotten:
        again = read_situation(session)
        situation = replace(again, made=(*situation.made, *again.made))
    return notes, situation


def run_plan(session: Session, plan: Plan, *, announce: Announce) -> Report:
    """Write the target lock, then apply; the lock is written first, so that what was meant is on disk in a crash."""
    write_target(session, plan)
    return apply_plan(session, plan, announce=announce)
