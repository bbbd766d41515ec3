"""``berth unlock``: frees the lease that a dead run left on a stack; never one whose holder lives."""

from typing import Annotated

from cyclopts import Parameter

from automation.cli.options import Show, Where
from automation.render.output_version import API_VERSION

_SHOW = Show()
_WHERE = Where()


def unlock(
    *,
    force: Annotated[bool, Parameter(negative="")] = False,
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """Free the leases of an environment's stacks whose holders are dead.

    Parameters
    ----------
    force
        Free them even if their holder may still run (on another machine, say).
    """
    from automation.cli.running import session_for
    from automation.driver.leases import unlock as free_leases
    from automation.render.mark import mark_lines
    from automation.render.text import line

    sinks = show.sinks()
    with session_for(where, sinks, manifests=False) as session:
        release = f"berth unlock -e {where.env}{session.workspace.option} --force"
        freed = free_leases(session, force=force, release=release)
    if sinks.machine:
        stacks = sorted({str(each.stack) for each in freed})
        holders = [str(each.lease) for each in freed if each.lease]
        head = {"apiVersion": API_VERSION, "kind": "Unlocked", "simulated": where.simulated, "backed": where.backed}
        sinks.document({**head, "stacks": stacks, "holders": holders})
    else:
        said = [f"freed {each.stack}" + (f", which {each.lease} held" if each.lease else "") for each in freed]
        sinks.data([*mark_lines(backed=where.backed), *map(line, said or ["No stack is leased."])])
    return 0
