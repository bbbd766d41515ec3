"""``berth orphans``: what may exist in a cloud without being in the state, until a person has dealt with it."""

from typing import Annotated

from cyclopts import Parameter

from automation.cli.options import Show, Where
from automation.render.output_version import API_VERSION

_SHOW = Show()
_WHERE = Where()


def orphans(
    *,
    dealt_with: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """List what may exist without being in the state and how to search for it; cross out what was dealt with.

    Parameters
    ----------
    dealt_with
        Name of an orphan that was deleted by hand, or is not there; may be given several times.
    """
    from automation.cli.running import session_for
    from automation.driver.reading import read_situation
    from automation.driver.recovery import cross_out
    from automation.driver.recovery import orphans as noted
    from automation.driver.searches import searches
    from automation.render.mark import mark_lines
    from automation.render.text import Span, line

    sinks = show.sinks()
    with session_for(where, sinks) as session:
        situation = read_situation(session, create=False, lenient=True)
        found = noted(session, situation)
        looks = searches(situation.fleet, situation.checkpoints.values(), simulated=where.simulated)
        left = [each for one in cross_out(session, found, dealt_with).values() for each in one]
    if sinks.machine:
        entries = [{"urn": each.urn, "type": each.type, "name": each.name} for each in left]
        commands = [{"region": each.region, "what": each.what, "command": each.command} for each in looks]
        head = {"apiVersion": API_VERSION, "kind": "Orphans", "simulated": where.simulated, "backed": where.backed}
        sinks.document({**head, "orphans": entries, "searches": commands})
    else:
        sinks.data([*mark_lines(backed=where.backed), *(map(line, map(str, left)) if left else [line("No orphans.")])])
        for each in looks:
            sinks.data([line(Span(f"To find {each.what} in {each.region}:", "strong")), line(f"  {each.command}")])
    return 0
