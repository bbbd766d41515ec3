"""``berth env``: the variables with which plain ``pulumi`` sees what Berth manages."""

import shlex
from typing import Annotated

from cyclopts import Parameter

from automation.cli.options import Show, Where
from automation.render.output_version import API_VERSION

_SHOW = Show()


def env(
    *,
    simulated: Annotated[bool, Parameter(negative="", env_var="BERTH_SIMULATED")] = False,
    backed: Annotated[bool, Parameter(negative="", env_var="BERTH_BACKED")] = False,
    show: Show = _SHOW,
) -> int:
    """Print the variables that plain `pulumi` needs in this checkout; use it as `eval "$(berth env)"`.

    Parameters
    ----------
    simulated
        For the simulated clouds and their state.
    backed
        For simulated clouds whose clusters are real control planes on this machine, and their state.
    """
    import os

    from automation.engine.toolchain.ensure import ensure
    from automation.engine.toolchain.environment import environment_changes, plain_environment
    from automation.engine.toolchain.layout import Layout

    sinks = show.sinks()
    where = Where(simulated=simulated, backed=backed)
    layout = Layout.find(backed=where.backed)
    toolchain = ensure(layout, progress=sinks.say)
    if where.simulated:
        from automation.driver.simulation import prepare_simulation

        prepare_simulation(layout)
    variables = plain_environment(layout, simulated=where.simulated, base=os.environ, toolchain=toolchain)
    changes = environment_changes(variables, base=os.environ)
    if sinks.machine:
        sinks.document({"apiVersion": API_VERSION, "kind": "Variables", "variables": changes})
        return 0
    import sys

    for name, value in changes.items():
        sys.stdout.write(f"unset {name}\n" if value is None else f"export {name}={shlex.quote(value)}\n")
    return 0
