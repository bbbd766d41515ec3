"""``berth drift``: what was changed behind Berth's back; exits 7 when anything was."""

from automation.cli.options import Show, Where

_SHOW = Show()
_WHERE = Where()


def drift(*, where: Where = _WHERE, show: Show = _SHOW) -> int:
    """Compare what exists with the state; changes nothing, and exits 7 when they differ."""
    from automation.cli.running import session_for
    from automation.driver.drift import find_drift
    from automation.driver.reading import read_situation
    from automation.driver.view import resource_views
    from automation.render.status import drift_lines
    from automation.render.views import DriftView
    from components.errors import UnexpectedChanges

    sinks = show.sinks()
    with session_for(where, sinks, previews=True) as session:
        situation = read_situation(session, create=False, lenient=True)
        found = find_drift(session, situation)
        view = DriftView(
            environment=where.env,
            simulated=where.simulated,
            backed=where.backed,
            resources=tuple(each for stack, steps in found.items() for each in resource_views(stack, steps)),
            notes=tuple(f"{name} SKIPPED unreachable: {why}" for name, why in situation.unreachable.items()),
        )
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(drift_lines(view))
    return UnexpectedChanges.exit_code if view.resources else 0
