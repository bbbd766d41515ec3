"""The target lock on disk, and which kinds of run may take each other's place there.

The lock is committed and reviewed, and there is one for all kinds of run. A rehearsal is planned from a state of its
own, so what it decides says nothing of real clouds: their lock is left as it is. A rehearsal's lock gives way to any
other kind of run, with a word.
"""

from collections.abc import Iterable
from pathlib import Path

from automation.driver.planner import Plan
from automation.driver.session import Session
from stacks.environment import write_lock


def write_target(session: Session, plan: Plan) -> tuple[Path, ...]:
    """Write the lock of a plan where it may be written; return the files that changed, sorted."""
    return () if plan.keeps_lock else write_lock(session.workspace.folder, plan.target)


def lock_notes(plan: Plan) -> Iterable[str]:
    """Say what becomes of a lock on disk that another kind of run planned."""
    found, ours = plan.situation.planned_for, plan.target.platform.planned_for
    if plan.keeps_lock:
        yield f"lock/ was planned for {found} clouds and is left as it is: this {ours} plan is not written there"
    elif found not in {None, ours}:
        yield f"lock/ was planned for {found} clouds: this {ours} plan takes its place when it is written"
