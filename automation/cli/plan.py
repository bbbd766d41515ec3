"""``berth plan``: what would happen, why, and what the policies say; writes the target lock."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from automation.cli.options import Seen, Show, When, Where

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks
    from automation.driver.planner import Plan
    from automation.driver.session import Session

_SHOW = Show()
_WHERE = Where()


def plan(
    *,
    check: Annotated[bool, Parameter(negative="")] = False,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    expect_no_changes: Annotated[bool, Parameter(negative="")] = False,
    save_snapshot: Path | None = None,
    without: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    what_if: Annotated[tuple[Path, ...], Parameter(negative="")] = (),
    capacity: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    observation: Seen = None,
    refresh: When = "auto",
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """Compute placements, preview them with the policies, and write the target lock.

    Parameters
    ----------
    check
        Write nothing; exit 7 when the committed lock is not what planning gives.
    dry_run
        Write nothing.
    expect_no_changes
        Exit 7 when anything would change.
    save_snapshot
        File to write everything to that the scheduler looked at; `berth schedule` answers it again.
    without
        A question, not a plan: what if this cluster were gone? May be given several times, with the two below.
    what_if
        A question, not a plan: what if the manifests in this file were added, or stood in for those they name?
    capacity
        A question, not a plan: what if a pool had so many nodes? As ``CLUSTER/POOL=NODES``, or ``POOL=NODES``
        where only one cluster has such a pool.
    observation
        File that `berth observe -o json` wrote: nodes that are not usable and devices that others hold are not
        promised. It never moves a replica that runs.
    refresh
        Look at the real resources first: wherever a cluster answers, nowhere, or everywhere.
    """
    from automation.cli.advice import completed
    from automation.cli.running import session_for
    from automation.driver.gate import require_passed
    from automation.driver.planner import make_plan
    from automation.driver.programs import import_ahead
    from automation.driver.reading import read_situation, unmake
    from automation.driver.refresh import Refresh
    from automation.driver.target_file import write_target
    from components.errors import UnexpectedChanges, UsageError
    from stacks.shown_path import shown_path

    sinks = show.sinks()
    if without or what_if or capacity:
        from automation.cli.asking_what_if import ask, question_of

        if check or expect_no_changes:
            raise UsageError("a what-if question writes nothing and is no plan to check", help="ask it by itself")
        with session_for(where, sinks, observation=observation, previews=True) as session:
            ask(session, sinks, question_of(without, what_if, capacity), save_snapshot)
        return 0
    with session_for(where, sinks, observation=observation, previews=True) as session, ExitStack() as unless_written:
        import_ahead()
        situation = read_situation(session)
        unless_written.callback(unmake, session, situation)
        made = make_plan(session, situation, refresh=Refresh(refresh))
        if save_snapshot is not None:
            from automation.cli.snapshot_file import save_snapshot as save

            save(save_snapshot, made.snapshot)
        show_plan(session, sinks, made)
        require_passed(made.previews)
        if check:
            _require_committed(made, where)
        if expect_no_changes and not made.empty:
            raise UnexpectedChanges("the plan has changes and none were expected", consequence="Nothing was written.")
        if not check and not dry_run:
            for path in write_target(session, made):
                sinks.say(f"wrote {shown_path(path)}")
            unless_written.pop_all()  # the stack stays, for the run that comes next
            if not made.empty:
                sinks.say(f"next: {completed(f'berth up -e {where.env}', sys.argv[1:])}")
    return 0


def _require_committed(made: "Plan", where: Where) -> None:
    """Raise UnexpectedChanges unless the lock on disk is what planning gives."""
    from components.errors import UnexpectedChanges

    nothing = "Nothing was written."
    if made.keeps_lock:
        ours = made.target.platform.planned_for
        raise UnexpectedChanges(
            f"the committed lock was planned for real clouds, and this is a {ours} plan: the two are never the same",
            consequence=nothing,
            help=f"run without {ours.option}",
        )
    if made.lock_changed:
        files = ", ".join(f"lock/{name}" for name in made.lock_changed)
        raise UnexpectedChanges(
            f"the committed lock is not what planning gives: {files}",
            consequence=nothing,
            help=f"berth plan -e {where.env}",
        )


def show_plan(session: "Session", sinks: "Sinks", made: "Plan") -> None:
    """Print a plan in the form that was asked for."""
    from automation.driver.view import plan_view
    from automation.render.plan import plan_lines

    view = plan_view(session, made)
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(plan_lines(view, width=sinks.width))
