"""``berth destroy``: tears an environment down and lists what stays on purpose."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from automation.cli.options import Show, Where

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks

_SHOW = Show()
_WHERE = Where()


def destroy(
    *,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"], negative="")] = False,
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """Tear the environment down: routes, models, software, clusters; then say what is left.

    Parameters
    ----------
    yes
        Do not ask for the environment's name.
    """
    from automation.cli.running import session_for
    from automation.driver.leases import free_proven
    from automation.driver.lost import forget_lost
    from automation.driver.reading import read_situation
    from automation.driver.recovery import repair_all
    from automation.driver.teardown import tear_down
    from automation.driver.view import failure_view
    from automation.render.status import destroyed_lines
    from automation.render.views import DestroyedView
    from components.errors import ResourceFailed

    sinks = show.sinks()
    with session_for(where, sinks, previews=True) as session:
        situation = read_situation(session, create=False, lenient=True)
        if not yes:
            _confirm(where, sinks)
        for text in free_proven(session):
            session.reporter.note(text)
        if repair_all(session, situation):
            situation = read_situation(session, create=False, lenient=True)
        forgotten = forget_lost(session, situation)
        if forgotten:
            situation = read_situation(session, create=False, lenient=True)
        done = tear_down(session, situation)
        view = DestroyedView(
            environment=where.env,
            simulated=where.simulated,
            backed=where.backed,
            deleted=done.deleted,
            retained=done.retained,
            failures=tuple(failure_view(name, text) for name, text in sorted(done.failures.items())),
            notes=(*(text for each in forgotten for text in each.lines), *done.orphans, *done.silent, *done.searches),
        )
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(destroyed_lines(view))
    return 0 if done.ok else ResourceFailed.exit_code


def _confirm(where: Where, sinks: "Sinks") -> None:
    from automation.cli.asking import asked, can_ask
    from components.errors import Cancelled, UsageError

    if not can_ask(sinks):
        raise UsageError(
            f"nobody can be asked whether to destroy {where.env}",
            consequence="Nothing was deleted.",
            help=f"berth destroy -e {where.env} --yes",
        )
    if asked(f"This deletes everything of {where.env}. Type its name to go on: ") != where.env:
        raise Cancelled("not destroyed", consequence="Nothing was deleted.")
