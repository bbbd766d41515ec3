"""``berth backing``: keeps the control planes behind the simulated clusters of backed runs."""

from typing import Annotated

from cyclopts import Parameter


def backing(
    *,
    kubernetes: str = "1.34",
    with_parent: Annotated[bool, Parameter(negative="", show=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", env_var="BERTH_QUIET")] = False,
) -> int:
    """Keep real control planes on this machine for `--backed` runs of this project, until interrupted.

    It begins with none: each starts when a run creates a simulated EKS cluster, and ends with that. When this command
    ends, all of them end, and the backed state means nothing any more; the next one begins a new world.

    Parameters
    ----------
    kubernetes
        Minor version of Kubernetes; `berth doctor --kubernetes` says which there are.
    quiet
        Say nothing but errors.
    with_parent
        End when the standard input is closed.
    """
    from automation.cli.sinks import Sinks
    from automation.engine.toolchain.ensure import ensure
    from automation.engine.toolchain.install import ensure_tool
    from automation.engine.toolchain.kubernetes import kubernetes_tools, minor_of, rehearsal_tools
    from automation.engine.toolchain.layout import Layout
    from automation.rehearsal.backing.keeper import Keeper
    from automation.rehearsal.backing.played import played_in_full

    sinks = Sinks(quiet=quiet)
    layout = Layout.find(backed=True)
    minor = minor_of(kubernetes)
    ensure(layout, progress=sinks.say)
    programs = {tool.name: ensure_tool(tool, layout, progress=sinks.say).path for tool in rehearsal_tools(minor)}
    chosen = {tool.name: programs[tool.name] for tool in kubernetes_tools(minor)}
    with Keeper(chosen, layout, say=sinks.say, minor=minor.name) as keeper:
        ready = f"BACKED: ready for runs with --backed in {layout.root}; control planes start with their clusters"

        def say_ready() -> None:
            for text in (ready, *played_in_full()):
                sinks.say(text)

        keeper.keep(say_ready, with_parent=with_parent)
        sinks.say("ending all control planes")
    return 0
