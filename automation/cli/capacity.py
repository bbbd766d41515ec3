"""``berth capacity``: how many more replicas of each deployment fit, and what the next one would need."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from automation.cli.options import Seen, Show, Where

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks
    from automation.scheduling.snapshot import Snapshot

_SHOW = Show()
_WHERE = Where()


def capacity(
    *,
    snapshot: Annotated[str, Parameter(allow_leading_hyphen=True)] = "",
    observation: Seen = None,
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """Count how many more replicas of each deployment fit now, and say what the next one would need.

    Each deployment is asked by itself, beside everything that is placed: what one could still get, another could not
    get as well. Asks the engine for no preview: the platform is taken as it was applied.

    Parameters
    ----------
    snapshot
        Look at a snapshot document instead of the environment; `-` reads the standard input.
    observation
        File that `berth observe -o json` wrote, as `berth plan` takes it.
    """
    from automation.cli.schedule import snapshot_in
    from automation.render.capacity import capacity_lines, capacity_view
    from automation.scheduling.headroom import headroom

    sinks = show.sinks()
    seen = snapshot_in(snapshot) if snapshot else _present(where, sinks, observation)
    # A snapshot is a file, whatever run it was made in.
    view = capacity_view(
        headroom(seen), simulated=where.simulated and not snapshot, backed=where.backed and not snapshot
    )
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(capacity_lines(view, width=sinks.width))
    return 0


def _present(where: Where, sinks: "Sinks", observation: Seen) -> "Snapshot":
    from automation.cli.running import session_for
    from automation.driver.planner import decide
    from automation.driver.reading import read_situation
    from automation.scheduling.changes import NO_CHANGES

    with session_for(where, sinks, observation=observation) as session:
        situation = read_situation(session, create=False, missing_ok=True)
        return decide(session, situation, NO_CHANGES)[0]
