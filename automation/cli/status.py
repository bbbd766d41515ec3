"""``berth status``: what exists, from the state; starts no plugin and changes nothing."""

from automation.cli.options import Show, Where

_SHOW = Show()
_WHERE = Where()


def status(*, where: Where = _WHERE, show: Show = _SHOW) -> int:
    """Show what exists, each thing with its condition, and what every deployment wants, has and serves with."""
    from automation.cli.running import session_for
    from automation.driver.reading import read_situation
    from automation.driver.tree import status_view
    from automation.render.status import status_lines

    sinks = show.sinks()
    with session_for(where, sinks) as session:
        view = status_view(session, read_situation(session, create=False, lenient=True))
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(status_lines(view, width=sinks.width))
    return 0
