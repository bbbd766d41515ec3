"""``berth unlock``: frees the lease that a dead run left on a stack; never one whose holder lives."""

from typing import Annotated

from cyclopts import Parameter

from automation.cli.options import Show, Where

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
    from automation.engine.lease import leased_error
    from automation.render.text import line

    sinks = show.sinks()
    freed: list[str] = []
    with session_for(where, sinks) as session:
        for stack in session.runner.stacks():
            if stack.environment != where.env:
                continue
            leases = session.runner.leases(stack)
            if leases == ():
                continue
            alive = leases is None or not all(lease.holder_is_dead for lease in leases)
            if alive and not force:
                raise leased_error(stack, leases or (), release=f"berth unlock -e {where.env} --force")
            session.runner.cancel(stack)
            freed.append(str(stack))
    if sinks.machine:
        sinks.document({"apiVersion": "berth.dev/output/v1", "kind": "Unlocked", "stacks": freed})
    else:
        sinks.data([line(f"freed {stack}") for stack in freed] or [line("No stack is leased.")])
    return 0
