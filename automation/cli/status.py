"""``berth status``: what exists, from the state; starts no plugin and changes nothing."""

from automation.cli.options import Show, Where

_SHOW = Show()
_WHERE = Where()


def status(*, where: Where = _WHERE, show: Show = _SHOW) -> int:
    """Show what exists, each thing with its condition, and what every deployment wants, has and serves with.

    Manifests with mistakes do not keep it from that; it lists the mistakes and exits 2.
    """
    from automation.cli.running import session_for
    from automation.driver.reading import read_situation
    from automation.driver.tree import status_view
    from automation.render.status import status_lines
    from components.errors import ConfigError

    sinks = show.sinks()
    with session_for(where, sinks, manifests=False) as session:
        situation = read_situation(session, create=False, lenient=True, broken_ok=True)
        view = status_view(session, situation)
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(status_lines(view, width=sinks.width))
    if situation.broken:
        raise ConfigError(
            situation.broken,
            consequence="What exists is shown; what is wanted of it cannot be told.",
        )
    return 0
