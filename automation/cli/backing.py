"""``berth backing``: keeps the control planes behind the simulated clusters of backed runs."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from automation.engine.toolchain.kubernetes import Minor


def backing(
    *,
    kubernetes: str | None = None,
    with_parent: Annotated[bool, Parameter(negative="", show=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", env_var="BERTH_QUIET")] = False,
) -> int:
    """Keep real control planes on this machine for `--backed` runs of this project, until interrupted.

    It begins with none: each starts when a run creates a simulated EKS cluster, and ends with that. When this command
    ends, all of them end, and the backed state means nothing any more; the next one begins a new world.

    Parameters
    ----------
    kubernetes
        Get the programs of this minor version of Kubernetes first: 1.34, 1.35 or 1.36. A cluster gets a control plane
        of the version that its manifest says, whose programs must be there; they may come while this runs. Without
        the option it begins with what is there, or gets those of a cluster that says no version.
    quiet
        Say nothing but errors.
    with_parent
        End when the standard input is closed.
    """
    from automation.cli.sinks import Sinks
    from automation.engine.toolchain.ensure import ensure
    from automation.engine.toolchain.install import ensure_tool, locate_all
    from automation.engine.toolchain.kubernetes import MINORS, kubernetes_tools, minor_of, rehearsal_tools
    from automation.engine.toolchain.layout import Layout
    from automation.rehearsal.backing.keeper import Keeper
    from automation.rehearsal.backing.played import played_in_full
    from components.api.cluster_source import EksSource

    sinks = Sinks(quiet=quiet)
    layout = Layout.find(backed=True)

    def look(minor: "Minor") -> "Mapping[str, Path] | None":
        return locate_all(kubernetes_tools(minor), layout)

    there = [each.name for each in MINORS.values() if look(each)] if kubernetes is None else [kubernetes]
    minor = minor_of(there[-1] if there else EksSource.model_fields["kubernetes_version"].default)
    ensure(layout, progress=sinks.say)
    programs = {tool.name: ensure_tool(tool, layout, progress=sinks.say).path for tool in rehearsal_tools(minor)}
    chosen = {tool.name: programs[tool.name] for tool in kubernetes_tools(minor)}
    with Keeper(chosen, layout, say=sinks.say, minor=minor.name, look=look) as keeper:
        minors = ", ".join(keeper.minors)
        ready = f"BACKED: ready for runs with --backed in {layout.root}; control planes start with their clusters"
        ready = f"{ready} (Kubernetes {minors})"

        def say_ready() -> None:
            for text in (ready, *played_in_full()):
                sinks.say(text)

        keeper.keep(say_ready, with_parent=with_parent)
        sinks.say("ending all control planes")
    return 0
