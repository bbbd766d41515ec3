"""``berth explain``: why a deployment's replicas are where they are, cluster by cluster."""

from automation.cli.options import Show, Where

_SHOW = Show()
_WHERE = Where()


def explain(deployment: str, /, *, where: Where = _WHERE, show: Show = _SHOW) -> int:
    """Say why a deployment's replicas are where they are, or are not.

    Asks the engine for no preview: the platform is taken as it was applied.

    Parameters
    ----------
    deployment
        ``NAMESPACE/NAME``, or a name that only one namespace has.
    """
    import difflib

    from automation.cli.running import session_for
    from automation.driver.planner import make_plan
    from automation.driver.reading import read_situation
    from automation.driver.view import explanation_view
    from automation.render.status import explanation_lines
    from components.errors import UsageError

    sinks = show.sinks()
    with session_for(where, sinks) as session:
        situation = read_situation(session, create=False, missing_ok=True)
        known = [f"{namespace}/{name}" for namespace, name in situation.fleet.deployments]
        wanted = [each for each in known if deployment in {each, each.partition("/")[2]}]
        if len(wanted) != 1:
            near = difflib.get_close_matches(deployment, known, n=3, cutoff=0.4)
            said = "several namespaces have" if wanted else "there is no"
            raise UsageError(
                f"{said} deployment {deployment!r}",
                help=f"one of: {', '.join(wanted or near or known)}",
            )
        namespace, _, name = wanted[0].partition("/")
        view = explanation_view(make_plan(session, situation, previews=False), namespace, name)
    assert view is not None
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(explanation_lines(view, width=sinks.width))
    return 0
